package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A language model on a person's own text, from two commands: trained, measured, continued, traced; and on lines.
func TestOwnText(t *testing.T) {
	path := write(t, "t.txt", strings.Repeat("so much depends upon a red wheel barrow glazed with rain water beside the white chickens\n", 60))
	tiny := func(out string, more ...string) []string {
		args := []string{"train", "text", "--out", out}
		for _, set := range append([]string{
			"task.path=" + path, "model.width=16", "model.heads=2", "model.transition.filter=16", "model.halting.steps=2", "task.length=32",
			"training.steps=60", "training.evaluate_every=30", "training.batch.boundaries=[31]",
		}, more...) {
			args = append(args, "--set", set)
		}
		return args
	}
	run := filepath.Join(t.TempDir(), "run")
	r := ut(t, tiny(run)...)
	if r.code != 0 || !strings.Contains(r.stderr, "examples to train with") || !strings.Contains(r.stderr, "validation at step 30") {
		t.Fatalf("exit code %d: %s", r.code, r.stderr)
	}
	got := succeeds(t, "eval", run)
	for _, want := range []string{"perplexity per token", "perplexity per word", "bits per token", "token accuracy", "teacher forcing"} {
		if !strings.Contains(got, want) {
			t.Errorf("eval does not say %q: %s", want, got)
		}
	}
	if of := succeeds(t, "eval", run, "--data", write(t, "other.txt", "so much depends upon rain")); !strings.Contains(of, "other.txt, 1 examples") {
		t.Errorf("eval --data says %s", of)
	}
	for name, args := range map[string][]string{"greedy": nil, "sampled": {"--sample", "--seed", "3"}, "beam": {"--beam", "2"}} {
		r := utReading(t, "so much\n\n", append([]string{"decode", run, "--max-length", "12"}, args...)...)
		if r.code != 0 || strings.Count(r.stdout, "\n") < 2 || len(r.stdout) < 12 {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if page := strings.TrimSpace(succeeds(t, "trace", run, "--input", "red")); filepath.Ext(page) != ".html" {
		t.Errorf("trace says %q", page)
	}
	lines := filepath.Join(t.TempDir(), "lines")
	if r := ut(t, tiny(lines, "task.lines=true", "task.tokenizer=whitespace", "task.held_out=0.3")...); r.code != 0 {
		t.Fatal(r.stderr)
	}
	if got := succeeds(t, "data", "sample", lines, "--count", "2", "--split", "test"); strings.Count(got, "so much depends upon") != 2 {
		t.Errorf("data sample says %s", got)
	}
	for want, args := range map[string][]string{
		"does not fit task.text":                {"train", "base", "--set", "task.text.path=" + path},
		"--errors: " + path + " is measured":    {"eval", run, "--errors", filepath.Join(t.TempDir(), "x")},
		"there is nothing to search":            {"eval", run, "--beam", "2"},
		"it was trained on " + path + "; use u": {"answer", run},
	} {
		r := utReading(t, "a. b?\n", args...)
		if checkFailure(t, r, r.code, want); r.code == 0 {
			t.Errorf("%v succeeds", args)
		}
	}
}

// Several runs are one table; another file of the task's format is measured; wrong answers are written beside the right ones.
func TestEvalOfOtherThings(t *testing.T) {
	run := trained(t)
	table := succeeds(t, "eval", run, run, "--count", "4")
	lines := strings.Split(strings.TrimSpace(table), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[0], "run ") || !strings.Contains(lines[0], "sequence accuracy") || lines[1] != lines[2] || !strings.HasPrefix(lines[1], run) {
		t.Errorf("the table is\n%s", table)
	}
	if list := succeeds(t, "eval", run, run, "--count", "4", "--json"); !strings.HasPrefix(list, "[\n") {
		t.Errorf("the JSON is %s", list)
	}
	pairs, wrong := write(t, "pairs.tsv", "12\t21\nno pair\n34\t43\n5\t9\n"), filepath.Join(t.TempDir(), "wrong.tsv")
	r := ut(t, "eval", run, "--data", pairs, "--errors", wrong)
	if r.code != 0 || !strings.Contains(r.stdout, "of "+pairs+", 3 examples") || !strings.Contains(r.stderr, "4 lines, 3 usable, 1 malformed") {
		t.Fatalf("%+v", r)
	}
	content, err := os.ReadFile(wrong)
	if err != nil || !strings.Contains(string(content), "5\t9\t") {
		t.Errorf("errors are %q, %v", content, err)
	}
	for line := range strings.Lines(string(content)) {
		if columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t"); len(columns) != 3 || columns[1] == columns[2] {
			t.Errorf("%q is not wrong", line)
		}
	}
	for want, args := range map[string][]string{
		"--length and --data are both given":    {"eval", run, "--length", "3", "--data", pairs},
		"--errors is for one run":               {"eval", run, run, "--errors", wrong},
		"always computed where answers are dec": {"eval", run, "--compute-halted"},
		"unknown token":                         {"eval", run, "--data", write(t, "x.tsv", "1x\tx1\n")},
		"--split is \"all\"":                    {"data", "sample", run, "--split", "all"},
		"--count is 0":                          {"data", "sample", run, "--count", "0"},
		"did you mean \"reverse\"":              {"data", "sample", "revers"},
	} {
		r := ut(t, args...)
		if checkFailure(t, r, r.code, want); r.code == 0 {
			t.Errorf("%v succeeds", args)
		}
	}
}

// What sample prints is what eval --data reads, and what training meets first.
func TestDataSample(t *testing.T) {
	run := trained(t)
	for _, split := range []string{"training", "validation", "test"} {
		got := succeeds(t, "data", "sample", run, "--split", split, "--count", "6")
		for line := range strings.Lines(got) {
			source, target, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			if !ok || len(source) != len(target) || len(source) < 1 || source[0] != target[len(target)-1] {
				t.Errorf("%s: %q", split, line)
			}
		}
		if strings.Count(got, "\n") != 6 || got != succeeds(t, "data", "sample", run, "--split", split, "--count", "6") || got == succeeds(t, "data", "sample", run, "--split", split, "--count", "6", "--seed", "9") {
			t.Errorf("%s: %q", split, got)
		}
		if r := succeeds(t, "eval", run, "--data", write(t, "sample.tsv", got)); !strings.Contains(r, "6 examples") {
			t.Errorf("%s: %s", split, r)
		}
	}
	if got := succeeds(t, "data", "sample", "addition", "--split", "test", "--length", "9", "--count", "3"); strings.Count(got, "+") != 3 || len(strings.Split(strings.Split(got, "\n")[0], "\t")[0]) != 9 {
		t.Errorf("%q", got)
	}
}
