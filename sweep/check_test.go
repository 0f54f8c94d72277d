package sweep

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A run that was started is checked before others are trained: its files, its configuration and the digests of its data. While it is being
// written, its checkpoints are not read. Caught when planted: runs without a result not checked; their data not compared; only the first
// problem returned.
func TestStartedCellsAreChecked(t *testing.T) {
	root := t.TempDir()
	data := filepath.Join(root, "pairs.tsv")
	pairs(t, data, 0)
	pairs(t, filepath.Join(root, "test.tsv"), 0)
	f, cells := pairsCells(t, root, 2)
	run, _ := runner(1)
	for _, c := range cells { // trained, and not yet measured
		if err := errors.Join(run.Run(t.Context(), []Cell{c}), os.Remove(c.File())); err != nil {
			t.Fatal(err)
		}
	}
	check := func(wants ...string) {
		t.Helper()
		err := f.Check(t.Context(), cells, nil)
		var found Problems
		if len(wants) == 0 && err == nil {
			return
		}
		if !errors.As(err, &found) || len(found) != len(wants) {
			t.Fatalf("%v, want %q", err, wants)
		}
		for i, want := range wants {
			if !strings.Contains(found[i].Error(), want) {
				t.Errorf("%v, want %q", found[i], want)
			}
		}
	}
	check()
	pairs(t, data, 2)
	const changed = " was started with other data than those that are read now (test, training, validation): restore the files, or remove it"
	check(cells[0].Dir()+changed, cells[1].Dir()+changed)
	pairs(t, data, 0)

	cells[0].Run.Training.Steps = 5
	config := filepath.Join(cells[1].Dir(), "config.json")
	good, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config, good[:len(good)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	check(cells[0].Dir()+" holds a run of another configuration", config)

	_, cells = pairsCells(t, root, 2)
	if err := os.WriteFile(config, good, 0o600); err != nil {
		t.Fatal(err)
	}
	steps, err := filepath.Glob(filepath.Join(cells[1].Dir(), "checkpoints", "*"))
	if err != nil || len(steps) == 0 {
		t.Fatalf("%q, %v", steps, err)
	}
	for _, step := range steps {
		if err := os.Truncate(step, 100); err != nil {
			t.Fatal(err)
		}
	}
	check("no checkpoint can be used")
}

// A cell whose directory holds something else is a problem, too. Caught when planted: a directory without a run that is not looked at.
func TestForeignDirectoryIsAProblem(t *testing.T) {
	c := smallCells(t, t.TempDir())[0]
	if err := errors.Join(os.MkdirAll(c.Dir(), 0o755), os.WriteFile(filepath.Join(c.Dir(), "notes.txt"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := c.Problem(); err == nil || !strings.Contains(err.Error(), c.Dir()+" is not empty (it has notes.txt)") {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := (File{}).Check(ctx, smallCells(t, t.TempDir()), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Check with a context that has ended: %v", err)
	}
}
