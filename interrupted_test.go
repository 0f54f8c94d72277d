package ut_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	ut "universal-transformer"
)

// pairsRun is a small run of pairs that validates after 5 updates.
func pairsRun(t *testing.T) ut.Run {
	t.Helper()
	var rows strings.Builder
	for i := range 200 {
		fmt.Fprintf(&rows, "%d\t%d\n", i, i%10)
	}
	path := filepath.Join(t.TempDir(), "pairs.tsv")
	if err := os.WriteFile(path, []byte(rows.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := ut.ParseRun(fmt.Appendf(nil, `{"name": "digits", "task": {"table": {"path": %q}}, "training": {"steps": 8, "evaluate_every": 5}}`, path))
	if err == nil {
		r, err = r.Set("model.width=16", "model.heads=2", "model.transition.filter=32", "model.halting.fixed.steps=2")
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Training that is interrupted before its first validation has no best checkpoint, and says NaN rather than a cross entropy of 0. A context that
// ended before is an error, and leaves no run. Caught when planted: 0 for no validation; a run of 0 updates.
func TestInterruptedEarly(t *testing.T) {
	r, dir := pairsRun(t), filepath.Join(t.TempDir(), "run")
	ctx, cancel := context.WithCancel(t.Context())
	s, err := ut.Train(ctx, r, dir, ut.TrainOptions{Progress: func(p ut.Progress) {
		if p.Step == 3 {
			cancel()
		}
	}})
	if err != nil || s.Stopped != "interrupted" || s.Step != 3 || s.BestStep != 0 || !math.IsNaN(s.CrossEntropy) {
		t.Errorf("interrupted: %+v, %v", s, err)
	}
	if _, err := ut.Resume(ctx, dir, ut.TrainOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("resumed with a context that has ended: %v", err)
	}
	if s, err = ut.Resume(t.Context(), dir, ut.TrainOptions{}); err != nil || s.Stopped != "done" || s.BestStep == 0 || !(s.CrossEntropy > 0) {
		t.Errorf("resumed: %+v, %v", s, err)
	}
	other := filepath.Join(t.TempDir(), "run")
	for range 20 {
		if _, err := ut.Train(ctx, r, other, ut.TrainOptions{}); !errors.Is(err, context.Canceled) {
			t.Fatalf("a context that has ended: %v", err)
		}
	}
	if _, err := os.Stat(other); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a run is there: %v", err)
	}
}
