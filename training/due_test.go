package training_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/internal/atomicfile"
	"universal-transformer/internal/score"
	"universal-transformer/training"
	"universal-transformer/training/schedule"
)

// forgetful is a training that learns nothing, so that the first of its validations, after 5 updates, is the best, and the fourth ends it.
func forgetful() schedule.Config {
	c := config(30)
	c.Schedule, c.Average, c.Stop = unchecked(0), 0, schedule.Stop{Patience: 3}
	return c
}

// An interruption does not wait for a validation that is due: the checkpoint comes without it, and the run that continues makes it. That one
// comes to the same end, metrics and bits, be the validation the best or not.
// Caught when planted: a validation before the checkpoint; one that is left out, or made twice; a checkpoint after it that is not written.
func TestInterruptBeforeAValidation(t *testing.T) {
	want := finish(t, trainer(t, forgetful()))
	if want.report.Stopped != "patience" || want.report.Step != 20 || want.report.BestStep != 5 {
		t.Fatalf("%+v", want.report)
	}
	for _, steps := range [][]int64{{5}, {10}, {5, 10, 15, 20}} {
		tr := trainer(t, forgetful())
		for _, step := range steps {
			validated := 0
			tr.Decoded = func(context.Context, *model.Store) ([]score.Metric, error) {
				validated++
				return nil, nil
			}
			before := validations(t, tr)
			interrupt(t, tr, step)
			if after := validations(t, tr); after != int(step/5)-1 || validated != after-before {
				t.Errorf("interrupted after step %d: %d rows of validations, before %d, and %d validations", step, after, before, validated)
			}
			tr = resumed(t, tr)
		}
		if err := want.equal(finish(t, tr)); err != nil {
			t.Errorf("interrupted in steps %v: %v", steps, err)
		}
		if saved, err := training.SavedIn(newest(t, tr.Log)); err != nil || saved.Stopped != "patience" {
			t.Errorf("interrupted in steps %v: the last checkpoint says %+v, %v", steps, saved, err)
		}
	}
}

// validations counts the validations in the metrics of a run.
func validations(t *testing.T, tr *training.Trainer) (n int) {
	t.Helper()
	for _, row := range metrics(t, tr) {
		if row["split"] == "validation" {
			n++
		}
	}
	return n
}

// A process that is killed while it makes the validation that an interruption left, with its row of metrics written or not, leaves the run as
// the interruption did. Caught when planted: a row of metrics that stays; a state that says that nothing is due.
func TestKillInAValidationThatWasLeft(t *testing.T) {
	want := finish(t, trainer(t, forgetful()))
	for name, kill := range map[string]func(*training.Trainer) (restore func()){
		"before its row": func(tr *training.Trainer) func() {
			tr.Decoded = func(context.Context, *model.Store) ([]score.Metric, error) { panic("killed") }
			return func() {}
		},
		"after its row": func(*training.Trainer) func() {
			return watchCheckpoints(func(string) { panic("killed") })
		},
	} {
		tr := trainer(t, forgetful())
		interrupt(t, tr, 10)
		tr = resumed(t, tr)
		func() {
			defer kill(tr)()
			defer func() { _ = recover() }()
			_, err := tr.Run(t.Context())
			t.Errorf("%s: the run was not killed: %v", name, err)
		}()
		if n := validations(t, tr); n != map[string]int{"before its row": 1, "after its row": 2}[name] {
			t.Errorf("%s: %d rows of validations", name, n)
		}
		tr = resumed(t, tr)
		tr.Notify = func(line string) {
			if strings.HasPrefix(line, "metrics.jsonl") {
				t.Errorf("%s: %s", name, line)
			}
		}
		if err := want.equal(finish(t, tr)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// watchCheckpoints calls saving before the content of each checkpoint is on disk, with its name, until restore is called.
func watchCheckpoints(saving func(name string)) (restore func()) {
	before := atomicfile.Sync
	atomicfile.Sync = func(f *os.File) error {
		if name, ok := atomicfile.Unfinished(filepath.Base(f.Name())); ok && strings.HasPrefix(name, "step-") {
			saving(name)
		}
		return before(f)
	}
	return func() { atomicfile.Sync = before }
}

// An interruption after the last update leaves the last validation to the run that continues, which is not one that has nothing left to
// train; so does a process that is killed in that validation.
// Caught when planted: a last validation that is made; a run that counts as finished without it.
func TestInterruptAfterTheLastUpdate(t *testing.T) {
	want := finish(t, trainer(t, config(17)))
	tr := trainer(t, config(17))
	interrupt(t, tr, 16)
	tr = resumed(t, tr)
	validated := 0
	tr.Decoded = func(context.Context, *model.Store) ([]score.Metric, error) {
		validated++
		panic("killed")
	}
	interrupt(t, tr, 17)
	for killed := range 2 {
		if saved, err := training.SavedIn(newest(t, tr.Log)); err != nil || !saved.ValidationDue || newest(t, tr.Log).Step != 17 || validated != killed {
			t.Errorf("after the last update: %+v, %v, %d validations", saved, err, validated)
		}
		decoded := tr.Decoded
		tr = resumed(t, tr)
		tr.Decoded = decoded
		if killed == 0 {
			func() {
				defer func() { _ = recover() }()
				_, err := tr.Run(t.Context())
				t.Errorf("the run was not killed: %v", err)
			}()
		}
	}
	tr = resumed(t, tr)
	tr.Notify = func(line string) {
		if strings.Contains(line, "already finished") {
			t.Error(line)
		}
	}
	if err := want.equal(finish(t, tr)); err != nil {
		t.Error(err)
	}
	if saved, err := training.SavedIn(newest(t, tr.Log)); err != nil || saved.ValidationDue {
		t.Errorf("at the end: %+v, %v", saved, err)
	}
}
