package training_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/halting"
	"universal-transformer/internal/score"
	"universal-transformer/runlog"
	"universal-transformer/training/schedule"
	"universal-transformer/universal"
)

// A checkpoint holds the whole state after its step, every field of it, whether it was written because it is due or because it is the best.
// Caught when planted: a field that is changed after the best checkpoint is saved, as the number of ponder problems, or the reason to stop.
func TestCheckpointsHoldTheStateAfterTheirStep(t *testing.T) {
	c := config(14)
	c.EvaluateEvery, c.CheckpointEvery, c.LogEvery, c.Keep = 2, 5, 3, 20
	c.BestByMeasure, c.Stop = true, schedule.Stop{Patience: 9}
	m := universal.EncoderDecoder{Config: tiny()}
	m.Halting = halting.Frozen{ACT: halting.ACT{MaxSteps: 3, Epsilon: 0.01, Bias: 9}} // it halts at once, which is a ponder problem
	tr := trainerOf(t, c, m, copying(c.Seed), copyingPlan)
	measured, warnings := 0., 0
	tr.Decoded = func(context.Context, *model.Store) ([]score.Metric, error) {
		measured++
		return []score.Metric{{Name: "measure", Value: measured}}, nil
	}
	tr.Notify = func(line string) {
		if strings.HasPrefix(line, "warning: ") {
			warnings++
		}
	}
	best := 0
	err := tr.RunWith(context.Background(), func(step int64) {
		saved, err := tr.Log.Load(step)
		if errors.Is(err, runlog.ErrNoCheckpoint) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if step%c.CheckpointEvery != 0 {
			best++
		}
		if want, err := tr.State(); err != nil || saved.Meta["training"] != string(want) {
			t.Errorf("step %d: the checkpoint holds\n%s\nthe state is\n%s, %v", step, saved.Meta["training"], want, err)
		}
	})
	if err != nil || best < 3 || warnings != 1 {
		t.Errorf("%v, %d checkpoints of the best alone, %d warnings", err, best, warnings)
	}
}
