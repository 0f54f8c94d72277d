// Command bench compares the speed of engines on the model's work. It runs `ut bench` on each backend, and optionally a peer script,
// in turns, and writes a table of medians and ratios. Machines are noisy, so only ratios within one run are meaningful.
//
//	bench [-ut bin/ut] [-rounds 3] [-peer SCRIPT -python python3] [-out FILE]
//
// A peer script takes the arguments of `ut bench` and prints the same line of JSON.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// A job is a row of the table.
type job struct {
	what, name string
	flags      []string
}

// grid returns the jobs: all benchmarks for the two shapes of published figures.
func grid() []job {
	small := []string{"--width", "128", "--filter", "512", "--heads", "8", "--steps", "6", "--batch", "32", "--length", "64"}
	large := []string{"--width", "512", "--filter", "2048", "--heads", "8", "--steps", "6", "--batch", "8", "--length", "128"}
	return []job{
		{"gemm", "1024 x 1024", nil},
		{"train", "width 128", small}, {"encode", "width 128", small}, {"act", "width 128", small},
		{"train", "width 512", large}, {"encode", "width 512", large},
	}
}

// A side is an engine and the command that measures it.
type side struct {
	name    string
	command []string
}

func main() {
	ut := flag.String("ut", "bin/ut", "the program")
	rounds := flag.Int("rounds", 3, "number of turns per engine")
	repeat := flag.Int("repeat", 5, "timed runs per turn; a turn reports their median")
	threads := flag.Int("threads", 2, "processors")
	peer := flag.String("peer", "", "script of a peer to compare with")
	python := flag.String("python", "python3", "interpreter of the peer script")
	timeout := flag.Duration("timeout", 5*time.Minute, "time limit of a turn")
	out := flag.String("out", "", "file for the table, besides standard output")
	flag.Parse()
	sides := []side{{"cpu", []string{*ut, "bench", "--backend", "cpu"}}, {"go", []string{*ut, "bench", "--backend", "go"}}}
	if *peer != "" {
		sides = append(sides, side{"peer", []string{*python, *peer}})
	}
	table := header(sides)
	fmt.Print(table)
	for _, j := range grid() {
		line := measure(j, sides, *rounds, *timeout, []string{"--repeat", fmt.Sprint(*repeat), "--warmup", "2", "--threads", fmt.Sprint(*threads)})
		fmt.Print(line)
		table += line
	}
	if *out != "" {
		if err := os.WriteFile(*out, []byte(table), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
	}
}

func header(sides []side) string {
	names, rule := "| work |", "|---|"
	for _, s := range sides {
		names += " " + s.name + " |"
		rule += "---|"
	}
	for _, s := range sides[1:] {
		names += " cpu against " + s.name + " |"
		rule += "---|"
	}
	return names + "\n" + rule + "\n"
}

// measure runs the engines in turns and returns the row of their medians, in milliseconds, and ratios.
func measure(j job, sides []side, rounds int, timeout time.Duration, flags []string) string {
	seconds := make([][]float64, len(sides))
	failures := make([]string, len(sides))
	for range rounds {
		for i, s := range sides {
			if failures[i] != "" {
				continue
			}
			args := slices.Concat(s.command[1:], []string{j.what}, j.flags, flags)
			v, err := once(s.command[0], args, timeout)
			if err != nil {
				failures[i] = err.Error()
				continue
			}
			seconds[i] = append(seconds[i], v)
		}
	}
	row := fmt.Sprintf("| %s, %s |", j.what, j.name)
	medians := make([]float64, len(sides))
	for i := range sides {
		medians[i] = median(seconds[i])
		if failures[i] != "" {
			row += " " + failures[i] + " |"
			continue
		}
		row += fmt.Sprintf(" %.1f ms |", 1000*medians[i])
	}
	for i := range sides[1:] {
		row += fmt.Sprintf(" %.2f |", medians[i+1]/medians[0])
	}
	return row + "\n"
}

// once runs a command that prints a line of JSON and returns its seconds.
func once(name string, args []string, timeout time.Duration) (float64, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	command := exec.CommandContext(ctx, name, args...)
	command.Stderr = os.Stderr
	output, err := command.Output()
	if ctx.Err() != nil {
		return 0, fmt.Errorf("over %s", timeout)
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", strings.Join(append([]string{name}, args...), " "), err)
	}
	var result struct {
		Seconds float64 `json:"seconds"`
	}
	if err := json.Unmarshal(output, &result); err != nil || result.Seconds <= 0 {
		return 0, fmt.Errorf("%s printed no seconds", name)
	}
	return result.Seconds, nil
}

// median returns the median of values, or 0 if there are none.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[len(values)/2]
}
