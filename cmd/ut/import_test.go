package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Variables of tensor2tensor become a run that answers, is described, exported and trained further, and what they do not tell is asked for.
// internal/t2t compares the numbers.
// Caught when planted: an option that is not passed on; a run that is written although the vocabulary differs.
func TestImport(t *testing.T) {
	variables, err := filepath.Abs("../../internal/t2t/testdata/ut.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "run")
	imported := func(args ...string) []string {
		return append([]string{"import", variables, "algorithmic/copy", "--set", "task.copy.base=11", "--out", out}, args...)
	}
	for want, args := range map[string][]string{
		"give --target-space":           imported("--heads", "4"),
		"--heads is 0":                  imported("--target-space", "3"),
		"which does not divide width":   imported("--heads", "3", "--target-space", "3"),
		"but the vocabulary has 12":     imported("--heads", "4", "--target-space", "3", "--set", "task.copy.base=10"),
		"--epsilon is 1":                imported("--heads", "4", "--target-space", "3", "--epsilon", "1"),
		"but layer_embedding has sign":  imported("--heads", "4", "--target-space", "3", "--steps", "4"),
		"--steps is 0: it must be at":   imported("--heads", "4", "--target-space", "3", "--steps", "0"),
		"--target-space is -1: it must": imported("--heads", "4", "--target-space", "-1"),
		"RECIPE is missing":             {"import", variables, "--heads", "4", "--out", out},
		"VARIABLES is missing":          {"import"},
		"the header claims":             {"import", write(t, "text.npz", "these are no variables, but a text"), "demo", "--heads", "4", "--out", out},
		"save or copy the variables":    {"import", write(t, "cut", "\xe8\x03\x00\x00\x00\x00\x00\x00{"), "demo", "--heads", "4", "--out", out},
		"there are no variables in it":  {"import", write(t, "empty.npz", "PK\x05\x06"+strings.Repeat("\x00", 18)), "demo", "--heads", "4", "--out", out},
	} {
		r := ut(t, args...)
		if _, err := os.Stat(out); err == nil || r.code == 0 || !strings.Contains(r.stderr, want) {
			t.Fatalf("exit code %d, %v: %s, want %q", r.code, err, r.stderr, want)
		}
	}
	r := ut(t, imported("--heads", "4", "--target-space", "3")...)
	if r.code != 0 || !strings.Contains(r.stdout, "at most 6 steps, width 16, 4 heads") || !strings.Contains(r.stderr, "basic is assumed") {
		t.Fatalf("exit code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	if r := utReading(t, "123\na0\n", "decode", out); r.code != 0 || strings.Count(r.stdout, "\n") != 2 {
		t.Errorf("decoded: %+v", r)
	}
	if got := succeeds(t, "info", out); !strings.Contains(got, ": weights") {
		t.Error(got)
	}
	succeeds(t, "export", out)
	checkFailure(t, ut(t, imported("--heads", "4", "--target-space", "3")...), 1, "already holds a run")
	if r := ut(t, "train", "--resume", out); r.code == 0 || !strings.Contains(r.stderr, "weights only: start a new run from them with training.pretrained: ") || !strings.Contains(r.stderr, " train RECIPE --pretrained "+out) {
		t.Errorf("resumed: %+v", r)
	}
}
