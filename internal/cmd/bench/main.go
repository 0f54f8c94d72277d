// Command bench compares the speed of engines on the model's work. It runs `ut bench` and the scripts of peers in turns, and writes a table
// of medians and ratios. Machines are noisy, so only ratios within one run are meaningful.
//
//	bench [-ut bin/ut] [-torch SCRIPT] [-ctranslate2 SCRIPT] [-python python3] [-only train,decode] [-out FILE]
//
// A script is called as
//
//	PYTHON TORCH WHAT --width 128 ... --repeat 5 --warmup 2 --threads 2 [--compile | --autocast]
//	PYTHON CTRANSLATE2 --type float32|int8 --width 192 ... --repeat 5 --warmup 2 --threads 1
//
// WHAT is train, act, encode, decode or gemm, and the flags are those of `ut bench`: --width, --filter, --heads, --steps, --batch,
// --length, --vocabulary; gemm has none of them. --compile asks for compiled graphs, --autocast for bfloat16. The script for CTranslate2 only
// decodes; it gets --layers instead of --steps, and --beam. OMP_NUM_THREADS is the number of threads, too. A script prints one line of
// JSON on standard output, {"seconds": ...}: the median time of the --repeat runs after --warmup others; at adaptive depth also
// "decoder_mean_updates". If it cannot, it writes the reason on standard error and returns another status than 0.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

func main() {
	ut := flag.String("ut", "bin/ut", "the program")
	torch := flag.String("torch", "", "script for PyTorch")
	ctranslate2 := flag.String("ctranslate2", "", "script for CTranslate2")
	python := flag.String("python", "python3", "interpreter of the scripts")
	only := flag.String("only", "", "names of rows without their commas, or their beginnings, separated by commas")
	rounds := flag.Int("rounds", 3, "number of turns per engine")
	repeat := flag.Int("repeat", 5, "timed runs per turn; a turn reports their median")
	threads := flag.Int("threads", 2, "processors, except where a row says one")
	timeout := flag.Duration("timeout", 5*time.Minute, "time limit of a turn")
	out := flag.String("out", "", "file for the table, besides standard output")
	flag.Parse()
	for name, script := range map[string]string{"torch": *torch, "ctranslate2": *ctranslate2} {
		if _, err := os.Stat(script); script != "" && err != nil {
			fmt.Fprintf(os.Stderr, "bench: -%s: %v\n", name, err)
			os.Exit(2)
		}
	}

	sides := sides(*ut, *python, *torch, *ctranslate2)
	m := meter{rounds: *rounds, measure: runner{repeat: *repeat, threads: *threads, timeout: *timeout}.once}
	table := fmt.Sprintf("%s, %d threads\n\n", processor(), *threads)
	fmt.Print(table)
	table += m.table(*only, sides)
	if *out != "" {
		if err := os.WriteFile(*out, []byte(table), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
	}
}

// table measures the chosen jobs. It prints the table while it grows, and returns it.
func (m meter) table(only string, sides []side) (table string) {
	add := func(text string) {
		fmt.Print(text)
		table += text
	}
	add(header(sides))
	var notes []note
	for _, j := range jobs() {
		if j.chosen(only) {
			row, failures := m.row(j, sides)
			notes = addFailures(notes, sides, j.name, failures)
			add(row)
		}
	}
	add(below(notes))
	return table
}

// below returns the text below the table, which says why some cells are "-".
func below(notes []note) string {
	text := ""
	for _, n := range notes {
		text += n.String()
	}
	if text != "" {
		text = "\nNo time:\n\n" + text
	}
	return text
}

// processor returns the name that lscpu prints, if it is there.
func processor() string {
	output, _ := exec.Command("lscpu").Output()
	for line := range strings.Lines(string(output)) {
		if name, ok := strings.CutPrefix(line, "Model name:"); ok {
			return strings.TrimSpace(name)
		}
	}
	return "processor not known"
}
