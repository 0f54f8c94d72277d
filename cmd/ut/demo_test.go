package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDemo(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs", "demo")
	args := append([]string{"demo", "--out", dir}, tiny("model.width=12")...)
	got := succeeds(t, args...)
	for _, want := range []string{
		"greedy decoding", "lengths 1..4, trained", "length 5, beyond", "length 6, beyond", "length 8, beyond", "95 % intervals",
		"table 4 of the paper (reverse) in a different setting", "Universal Transformer", "0.46", "LSTM", "0.11", "Transformer", "0.06",
		filepath.Join(dir, "traces", demoInput+".html"), " in total", "decode " + dir, "eval " + dir,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("does not say %q:\n%s", want, got)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "traces", demoInput+".html")); err != nil {
		t.Error(err)
	}
	succeeds(t, args...) // in the place of the first
}

// Only a demo run, finished or not, is replaced.
func TestClearDemo(t *testing.T) {
	gone := copied(t)
	if err := os.Remove(filepath.Join(gone, "metrics.jsonl")); err != nil {
		t.Fatal(err)
	}
	if err := clearDemo(gone); err != nil {
		t.Errorf("a demo run is not replaced: %v", err)
	}
	if _, err := os.Stat(gone); !os.IsNotExist(err) {
		t.Errorf("the demo run is still there: %v", err)
	}
	for name, dir := range map[string]string{
		"another run":   renamed(t),
		"another file":  withFile(t),
		"broken config": filepath.Dir(write(t, "config.json", "{")),
	} {
		before, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := clearDemo(dir); err == nil {
			t.Errorf("%s: replaced", name)
		}
		if after, err := os.ReadDir(dir); err != nil || len(after) != len(before) {
			t.Errorf("%s: %d files are left of %d, %v", name, len(after), len(before), err)
		}
	}
	if err := clearDemo(filepath.Join(t.TempDir(), "nowhere")); err != nil {
		t.Errorf("where nothing is, something is to be cleared: %v", err)
	}
}
