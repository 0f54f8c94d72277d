package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"universal-transformer/sweep"
)

// The estimate adds up the runs without a result and says how many have no known time. By hand: 1800 + 5400 s are 2 h, 1 h for two at a time.
// Caught when planted: known times divided by all runs; a part without a time not mentioned; nothing printed if no time is known.
func TestEstimate(t *testing.T) {
	known := pendingRuns{{"a", 1800}, {"b", 5400}}
	for _, c := range []struct {
		list pendingRuns
		jobs int
		want string
	}{
		{nil, 2, ""},
		{known, 1, "runs without a result: 2, about 2h0m of processor time"},
		{known, 8, "runs without a result: 2, about 2h0m of processor time, 1h0m with 2 in parallel"},
		{append(known, pendingRun{"c", 0}), 2, "runs without a result: 3, about 2h0m of processor time, 1h0m with 2 in parallel; the time of 1 of them is unknown"},
		{pendingRuns{{"c", 0}}, 1, "runs without a result: 1; their times are unknown"},
	} {
		if got := c.list.estimate(c.jobs); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// The expected time is the mean processor time of the recipe's results that record it; if none does, threads times seconds; without results, that
// of the catalogue. By hand: (100 + 60) / 2 = 80, and 2 * 40 = 80. Caught when planted: results of other recipes, or with other values; seconds in
// place of the processor time; results without a processor time in the mean.
func TestExpectedTime(t *testing.T) {
	with := func(recipe string, threads int, seconds, cpu float64) sweep.Result {
		return sweep.Result{Header: sweep.Header{Recipe: recipe, Threads: threads, Seconds: seconds, TrainedBy: sweep.Provenance{CPUSeconds: cpu}}}
	}
	results := []sweep.Result{with("memory/copy", 1, 500, 100), with("memory/copy", 1, 400, 60), with("memory/copy", 2, 400, 0), with("memory/double", 1, 7, 7), with("memory/reverse", 2, 40, 0)}
	short := with("memory/copy", 1, 3, 3)
	short.Set = []string{"training.steps=10"}
	results = append(results, short)
	for _, recipe := range []string{"memory/copy", "memory/reverse"} {
		if got := expected(recipe, results); got != 80 {
			t.Errorf("%s: %v", recipe, got)
		}
	}
	if got := expected("memory/copy", nil); got < 60 {
		t.Errorf("of the catalogue: %v", got)
	}
	if got := expected("none", nil); got != 0 {
		t.Errorf("of no recipe: %v", got)
	}
}

// --dry-run lists the runs without a result, with the estimate on the standard error, and writes nothing. Caught when planted: runs with a result
// listed; training after the list.
func TestTableDryRun(t *testing.T) {
	data, out := stories(t), t.TempDir()
	succeeds(t, gridded(data, out)...)
	runs := filepath.Join(out, "runs", "babi-1k-single-adaptive")
	r := ut(t, gridded(data, out, "--seeds", "2", "--dry-run")...)
	if r.code != 0 || !strings.HasPrefix(r.stdout, "babi-1k-single-adaptive/task01-seed2\tabout ") || strings.Count(r.stdout, "-seed2\tabout ") != 2 || strings.Contains(r.stdout, "seed1") ||
		!strings.HasPrefix(r.stderr, "runs without a result: 2, about ") {
		t.Errorf("%+v", r)
	}
	if trained, err := os.ReadDir(runs); err != nil || len(trained) != 2 {
		t.Errorf("%v, %v", trained, err)
	}
}
