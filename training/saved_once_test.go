package training_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"universal-transformer/internal/atomicfile"
)

// Every checkpoint is written once, also that of a validation that is the best and due as a checkpoint, and so is the last one.
// Caught when planted: the best checkpoint saved again as the one that is due.
func TestEveryCheckpointIsWrittenOnce(t *testing.T) {
	written := map[string]int{}
	before := atomicfile.Sync
	atomicfile.Sync = func(f *os.File) error {
		if name, ok := atomicfile.Unfinished(filepath.Base(f.Name())); ok && strings.HasPrefix(name, "step-") {
			written[name]++
		}
		return before(f)
	}
	defer func() { atomicfile.Sync = before }()
	c := config(10)
	c.EvaluateEvery, c.CheckpointEvery = 4, 2
	tr := trainer(t, c)
	if _, err := tr.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if best, _, err := tr.Log.Marked(); err != nil || best == 0 {
		t.Fatalf("no validation was the best: %v", err)
	}
	if len(written) != 5 || slices.Max(slices.Collect(maps.Values(written))) != 1 {
		t.Errorf("written %v", written)
	}
}
