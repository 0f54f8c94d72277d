package main

import (
	"slices"
	"testing"
)

// A row is chosen by its name without commas, or by its beginning.
// Caught when planted: commas kept in the name.
func TestChosen(t *testing.T) {
	for list, want := range map[string]int{"": len(jobs()), "train": 5, "encode 8192 tokens, train adaptive": 2, "decode width 512": 3, "gemm": 0} {
		n := 0
		for _, j := range jobs() {
			if j.chosen(list) {
				n++
			}
		}
		if n != want {
			t.Errorf("%q chooses %d rows, want %d", list, n, want)
		}
	}
}

// The adaptive row is timed after the run that compiles the graph of the plan, and decoding on one thread.
// Caught when planted: two runs before it, as elsewhere; two threads for all rows.
func TestArguments(t *testing.T) {
	m := meter{repeat: 3, threads: 2}
	for _, j := range jobs() {
		warmup, threads := "2", "2"
		if j.name == "train, adaptive" {
			warmup = "4"
		}
		if j.what == "decode" {
			threads = "1"
		}
		args, _ := m.arguments(j, []string{"ut", "bench", j.what})
		if want := []string{"bench", j.what, "--repeat", "3", "--warmup", warmup, "--threads", threads}; !slices.Equal(args, want) {
			t.Errorf("%s: %q, want %q", j.name, args, want)
		}
	}
}
