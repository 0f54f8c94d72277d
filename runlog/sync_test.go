package runlog_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"universal-transformer/internal/atomicfile"
)

// watchSyncs gives the names of what is brought to the disk while do runs, in order.
func watchSyncs(t *testing.T, do func() error) (names []string) {
	t.Helper()
	before := atomicfile.Sync
	defer func() { atomicfile.Sync = before }()
	atomicfile.Sync = func(f *os.File) error {
		name := filepath.Base(f.Name())
		if _, temporary := atomicfile.Unfinished(name); temporary {
			name = "new file"
		}
		names = append(names, name)
		return before(f)
	}
	if err := do(); err != nil {
		t.Fatal(err)
	}
	return names
}

// A checkpoint is on the disk, with its name, and the metrics before it, when SaveCheckpoint returns; so are metrics that were cut
// back or closed.
// Caught when planted: any of the syncs left out.
func TestSyncs(t *testing.T) {
	r := create(t)
	appendRows(t, r, 1, 2)
	for _, test := range []struct {
		name string
		do   func() error
		want []string
	}{
		{"a checkpoint", func() error { return r.SaveCheckpoint(2, checkpoint(t, 2), 1) }, []string{"metrics.jsonl", "new file", "checkpoints"}},
		{"the best", func() error { return r.MarkBest(2) }, []string{"new file", filepath.Base(r.Dir())}},
		{"a cut", func() error { return r.Truncate(1) }, []string{"metrics.jsonl"}},
		{"the end", r.Close, []string{"metrics.jsonl"}},
	} {
		if got := watchSyncs(t, test.do); !slices.Equal(got, test.want) {
			t.Errorf("%s: synced %q, want %q", test.name, got, test.want)
		}
	}
	r = reopen(t, r)
	before := atomicfile.Sync
	atomicfile.Sync = func(f *os.File) error { return &fs.PathError{Op: "sync", Path: f.Name(), Err: errFull} }
	err := r.SaveCheckpoint(3, checkpoint(t, 3), 1)
	atomicfile.Sync = before
	if !errors.Is(err, errFull) {
		t.Errorf("a disk that fails: %v", err)
	}
}

var errFull = errors.New("full")
