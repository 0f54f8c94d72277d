package ut_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	ut "universal-transformer"
)

// evaluatedNotes trains a run of 200 pairs, lets change edit the files of it, and returns the notes of an evaluation.
func evaluatedNotes(t *testing.T, change func(dir, data string) error, o ut.EvaluateOptions) []string {
	t.Helper()
	r, dir := pairsRun(t), filepath.Join(t.TempDir(), "run")
	if _, err := ut.Train(t.Context(), r, dir, ut.TrainOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := change(dir, r.Files()[0].Path); err != nil {
		t.Fatal(err)
	}
	m, err := ut.Load(dir, ut.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	e, err := m.Evaluate(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return e.Notes
}

// An evaluation notes data that have changed or were moved, and lines of a file that are training data or cannot be used, each remark once;
// data as they were in training have no notes.
// Caught when planted: notes without the remarks.
func TestEvaluationNotes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "other.tsv")
	var training strings.Builder
	for i := range 200 {
		fmt.Fprintf(&training, "%d\t%d\n", i, i%10)
	}
	tests := map[string]struct {
		change func(dir, data string) error
		file   string   // its content
		want   []string // parts of the notes, which those of the other tests do not have
	}{
		"as in training": {},
		"changed": {change: func(_, data string) error {
			return os.WriteFile(data, []byte(strings.ReplaceAll(training.String(), "\t3\n", "\t4\n")), 0o600)
		}, want: []string{"data have changed since the checkpoint of update "}},
		"moved": {change: func(dir, data string) error {
			return os.Rename(data, filepath.Join(dir, "..", filepath.Base(data)))
		}, want: []string{"pairs.tsv is not where it was: using "}},
		"of training": {file: training.String(), want: []string{"200 usable", "sources are also in the training part"}},
		"malformed":   {file: "1000\t0\nno tab\n2000\t0\n\n3000\t0\n", want: []string{"3 usable", "other.tsv:2"}},
	}
	var parts []string
	for _, test := range tests {
		parts = append(parts, test.want...)
	}
	for name, test := range tests {
		o := ut.EvaluateOptions{}
		if test.file != "" {
			if err := os.WriteFile(file, []byte(test.file), 0o600); err != nil {
				t.Fatal(err)
			}
			o.File = file
		}
		if test.change == nil {
			test.change = func(string, string) error { return nil }
		}
		notes := evaluatedNotes(t, test.change, o)
		for _, part := range parts {
			want := 0
			if slices.Contains(test.want, part) {
				want = 1
			}
			if n := strings.Count(strings.Join(notes, "\n"), part); n != want {
				t.Errorf("%s: %q is noted %d times, want %d, in %q", name, part, n, want, notes)
			}
		}
	}
}
