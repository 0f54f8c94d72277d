package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"universal-transformer/experiment"
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

// Only a run of the demo, finished or not, is replaced, and only after everything that may be wrong with flags. What others added to it is an error.
// Caught when planted: the name alone compared; files of others in the folders of checkpoints and traces, exports and changes of the configuration
// removed; the run removed before the backend is opened.
func TestClearDemo(t *testing.T) {
	gone := copied(t)
	if err := os.Remove(filepath.Join(gone, "metrics.jsonl")); err != nil {
		t.Fatal(err)
	}
	demo := demoOf(t, gone)
	if err := clearDemo(gone, demo); err != nil {
		t.Errorf("a demo run is not replaced: %v", err)
	}
	if _, err := os.Stat(gone); !os.IsNotExist(err) {
		t.Errorf("the demo run is still there: %v", err)
	}
	otherSteps := copied(t)
	replace(t, filepath.Join(otherSteps, "config.json"), `"steps": 20`, `"steps": 40`)
	dirs := map[string]string{
		"another run": renamed(t), "other settings": otherSteps, "another file": withFile(t), "broken config": filepath.Dir(write(t, "config.json", "{")),
	}
	for _, file := range []string{"changes.json", "export/model.safetensors", "checkpoints/notes.txt", "traces/1234.html"} {
		dir := copied(t)
		path := filepath.Join(dir, filepath.FromSlash(file))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		dirs[file] = dir
	}
	for name, dir := range dirs {
		before := filesBelow(t, dir)
		if err := clearDemo(dir, demo); err == nil || !strings.Contains(err.Error(), "--out") {
			t.Errorf("%s: replaced, or %v", name, err)
		}
		if after := filesBelow(t, dir); !slices.Equal(before, after) {
			t.Errorf("%s: %q are left of %q", name, after, before)
		}
	}
	if err := clearDemo(filepath.Join(t.TempDir(), "nowhere"), demo); err != nil {
		t.Errorf("where nothing is, something is to be cleared: %v", err)
	}
	kept := copied(t)
	if r := ut(t, append([]string{"demo", "--out", kept, "--backend", "nope"}, tiny()...)...); r.code == 0 {
		t.Error("a backend that does not exist")
	}
	if got := filesBelow(t, kept); !slices.Equal(got, filesBelow(t, trained(t))) {
		t.Errorf("after a wrong backend, %q are left", got)
	}
}

// demoOf returns the configuration of a run.
func demoOf(t *testing.T, dir string) experiment.Run {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "config.json"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := experiment.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// filesBelow returns the files and folders below a folder.
func filesBelow(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		name, _ := filepath.Rel(dir, path)
		names = append(names, name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
