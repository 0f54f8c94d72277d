package runlog_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"universal-transformer/internal/atomicfile"
	"universal-transformer/internal/tensorboard"
	"universal-transformer/runlog"
)

// failingOn makes writing the files fail whose temporary names have a prefix, as on a full disk, until the returned function is called.
func failingOn(prefix string) (restore func()) {
	before := atomicfile.Sync
	atomicfile.Sync = func(f *os.File) error {
		if strings.HasPrefix(filepath.Base(f.Name()), prefix) {
			return &fs.PathError{Op: "sync", Path: f.Name(), Err: errFull}
		}
		return before(f)
	}
	return func() { atomicfile.Sync = before }
}

// A run that is discarded leaves nothing that Create would refuse, and takes nothing of anybody else's with it.
// Caught when planted: a folder that was there before, or another's file, removed; a file of the run that remains; another's run removed.
func TestDiscard(t *testing.T) {
	for _, c := range []struct {
		name                string
		before              bool   // the folder is there before
		mine                string // a file of the user's in it
		wantDir, wantVacant bool
	}{{"a new folder", false, "", false, true}, {"an empty one", true, "", true, true}, {"with a file of mine", false, "notes.txt", true, false},
		{"with a file of mine in a folder of the run", false, "checkpoints/mine", true, false}} {
		dir := filepath.Join(t.TempDir(), "run")
		if c.before {
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		r, err := runlog.Create(dir, example)
		if err != nil {
			t.Fatal(err)
		}
		appendRows(t, r, 1)
		if err := errors.Join(r.AppendEvent(tensorboard.Event{Step: 1}), r.SaveBest(1, checkpoint(t, 1), 0), r.WriteFile("tokenizer.json", nil)); err != nil {
			t.Fatal(err)
		}
		if c.mine != "" {
			if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(c.mine)), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Discard(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		_, err = os.Stat(dir)
		if vacant := runlog.CheckVacant(dir); (err == nil) != c.wantDir || (vacant == nil) != c.wantVacant {
			t.Errorf("%s: then %v, vacant: %v", c.name, err, vacant)
		}
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(c.mine))); c.mine != "" && err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	r := create(t)
	if err := os.Remove(filepath.Join(r.Dir(), "lock")); err != nil {
		t.Fatal(err)
	}
	if err := r.Discard(); err != nil {
		t.Error(err)
	}
	if _, err := runlog.Open(r.Dir()); err != nil {
		t.Errorf("a run that another process may have is gone: %v", err)
	}
	reader, err := runlog.Open(r.Dir())
	if err != nil {
		t.Fatal(err)
	}
	if err := reader.Discard(); err == nil {
		t.Error("a reader discards")
	}
}

// A Create that finds the disk full leaves nothing in the way of the next.
// Caught when planted: a configuration that remains.
func TestCreateOnAFullDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	restore := failingOn(filepath.Base(dir)) // the folder, once config.json has its name
	_, err := runlog.Create(dir, example)
	restore()
	if !errors.Is(err, errFull) {
		t.Errorf("a full disk: %v", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder is left: %v", err)
	}
}

// A checkpoint that is not saved is an error that says what there is, and the best one is marked before others are removed.
// Caught when planted: an earlier checkpoint, or a later one, that is not there; the best of before kept beside the new one.
func TestBestCheckpoint(t *testing.T) {
	r := create(t)
	fails := func(want string, write func(int64, *runlog.Checkpoint, int) error, step int64) {
		t.Helper()
		restore := failingOn(".step-")
		defer restore()
		if err := write(step, checkpoint(t, step), 1); !errors.Is(err, errFull) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	fails("checkpoint of update 1 was not saved, there is no earlier one: ", r.SaveCheckpoint, 1)
	for step := range int64(3) {
		if err := r.SaveBest(step+1, checkpoint(t, step+1), 1); err != nil {
			t.Fatal(err)
		}
		there(t, r, step+1)
	}
	fails("checkpoint of update 4 was not saved, the newest is that of update 3: ", r.SaveBest, 4)
	if best, marked, err := r.Marked(); best != 3 || !marked || err != nil {
		t.Errorf("marked is %d, %v, %v", best, marked, err)
	}
	there(t, r, 3)
}
