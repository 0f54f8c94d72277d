package main

import (
	"slices"
	"testing"
)

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
