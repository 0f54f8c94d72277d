package main

import (
	"slices"
	"strings"
)

// A job is a row of the table.
type job struct {
	name  string
	what  string // as in ut bench
	flags []string
	one   bool     // on one thread
	ours  []string // more flags of ut bench
}

// jobs returns the rows: the work of training and inference for both shapes of published figures, long sequences, decoding, and a large
// vocabulary.
func jobs() []job {
	// PyTorch's positions halt after 2.9 steps in the encoder and 2.1 in the decoder. With this bias ours take 2.4 and 2.6, slightly more work.
	halting := []string{"--halting-bias", "0.5"}
	small := strings.Fields("--width 128 --filter 512 --heads 8 --steps 6 --batch 32 --length 64")
	large := strings.Fields("--width 512 --filter 2048 --heads 8 --steps 6 --batch 8 --length 128")
	long := func(length string) []string {
		return append(strings.Fields("--width 128 --filter 512 --heads 8 --steps 6 --batch 1 --length"), length)
	}
	decode := func(width, filter, more string) []string {
		return strings.Fields("--width " + width + " --filter " + filter + " --heads 4 --steps 6 --length 30 --vocabulary 5000 " + more)
	}
	words := append(strings.Fields("--vocabulary 12000"), small...)
	return []job{
		{"product of 1024 x 1024", "gemm", nil, false, nil},
		{"train, width 128", "train", small, false, nil},
		{"train, width 512", "train", large, false, nil},
		{"train, adaptive", "act", small, false, halting},
		{"train, 2,048 tokens", "train", long("2048"), false, nil},
		{"train, 12,000 words", "train", words, false, nil},
		{"encode, width 128", "encode", small, false, nil},
		{"encode, width 512", "encode", large, false, nil},
		{"encode, 2,048 tokens", "encode", long("2048"), false, nil},
		{"encode, 8,192 tokens", "encode", long("8192"), false, nil},
		{"decode, width 192, 1 row", "decode", decode("192", "768", "--batch 1"), true, nil},
		{"decode, width 192, 1 row, beam 4", "decode", decode("192", "768", "--batch 1 --beam 4"), true, nil},
		{"decode, width 192, 32 rows", "decode", decode("192", "768", "--batch 32"), true, nil},
		{"decode, width 192, 32 rows, beam 4", "decode", decode("192", "768", "--batch 32 --beam 4"), true, nil},
		{"decode, width 512, 1 row", "decode", decode("512", "2048", "--batch 1"), true, nil},
		{"decode, width 512, 1 row, beam 4", "decode", decode("512", "2048", "--batch 1 --beam 4"), true, nil},
		{"decode, width 512, 32 rows", "decode", decode("512", "2048", "--batch 32"), true, nil},
		{"decode, width 512, 32 rows, beam 4", "decode", decode("512", "2048", "--batch 32 --beam 4"), true, nil},
	}
}

// chosen reports whether a list of names contains the job or a beginning of its name, without the commas in it. An empty list contains all.
func (j job) chosen(list string) bool {
	for name := range strings.SplitSeq(list, ",") {
		if strings.HasPrefix(strings.ReplaceAll(j.name, ",", ""), strings.TrimSpace(name)) {
			return true
		}
	}
	return false
}

// warmup returns the number of runs before the timed ones. At adaptive depth, the first three compute all positions, and the fourth
// compiles the graph that skips halted ones.
func (j job) warmup() int {
	if j.what == "act" {
		return 4
	}
	return 2
}

// beam reports whether the job decodes with a beam.
func (j job) beam() bool { return strings.Contains(strings.Join(j.flags, " "), "--beam") }

// A side is a column of times: an engine and how it measures a job.
type side struct {
	name    string
	against int // index of the side that it is compared with, or -1
	command func(j job) []string
}

// Indices of our sides.
const (
	float32Side = iota
	bfloat16Side
	int8Side
)

// sides returns our engine with products in float32, bfloat16 and, for decoding, int8, and the peers that have a script.
func sides(ut, python, torch, ctranslate2 string) []side {
	ours := func(backend string) func(j job) []string {
		return func(j job) []string {
			return slices.Concat([]string{ut, "bench", j.what, "--backend", backend}, j.flags, j.ours)
		}
	}
	decoding := func(j job) []string {
		if j.what != "decode" {
			return nil
		}
		return ours("cpu:products=int8")(j)
	}
	list := []side{{"float32", -1, ours("cpu")}, {"bf16", -1, ours("cpu:products=bf16")}, {"int8", -1, decoding}}
	pytorch := func(flag string) func(j job) []string {
		return func(j job) []string {
			training := j.what == "train" || j.what == "act"
			if j.beam() || flag != "" && !training || flag == "--compile" && j.what == "act" {
				return nil
			}
			command := append([]string{python, torch, j.what}, j.flags...)
			if flag != "" {
				command = append(command, flag)
			}
			return command
		}
	}
	if torch != "" {
		list = append(list, side{"PyTorch", float32Side, pytorch("")}, side{"PyTorch, compiled", float32Side, pytorch("--compile")},
			side{"PyTorch, autocast", bfloat16Side, pytorch("--autocast")})
	}
	translate := func(kind string) func(j job) []string {
		return func(j job) []string {
			if j.what != "decode" {
				return nil
			}
			command := []string{python, ctranslate2, "--type", kind}
			for _, flag := range j.flags {
				command = append(command, strings.Replace(flag, "--steps", "--layers", 1))
			}
			if !j.beam() {
				command = append(command, "--beam", "1")
			}
			return command
		}
	}
	if ctranslate2 != "" {
		list = append(list, side{"CTranslate2", float32Side, translate("float32")}, side{"CTranslate2, int8", int8Side, translate("int8")})
	}
	return list
}
