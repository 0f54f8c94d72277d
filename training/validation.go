package training

import (
	"fmt"
	"time"

	"github.com/gomlx/gomlx/core/tensors"
	"universal-transformer/batch"
	"universal-transformer/internal/capacity"
	"universal-transformer/objective"
)

// validate measures the validation set with teacher forcing, remembers the best checkpoint, and decides whether to stop.
func (t *Trainer) validate() error {
	start := time.Now()
	var tally objective.Tally
	err := t.withMeans(func() (err error) {
		tally, err = t.measure(t.Validation)
		return err
	})
	if err != nil {
		return fmt.Errorf("validation at step %d: %w", t.step, err)
	}
	t.state.Validation = tally
	t.state.Waited++
	best := t.better(tally)
	if best {
		t.state.BestStep, t.state.BestNats, t.state.Waited = t.step, tally.CrossEntropy(), 0
		t.state.BestCorrect = tally.CorrectSequences
	}
	switch stop := t.Config.Stop; {
	case stop.Accuracy > 0 && tally.SequenceAccuracy() >= stop.Accuracy:
		t.state.Stopped = "accuracy"
	case stop.Patience > 0 && t.state.Waited >= stop.Patience:
		t.state.Stopped = "patience"
	}
	t.state.Seconds += time.Since(start).Seconds()
	if err := t.Log.AppendMetrics(metrics("validation", t.step, tally)); err != nil {
		return err
	}
	if best {
		if err := t.save(); err != nil {
			return err
		}
		if err := t.Log.MarkBest(t.step); err != nil {
			return err
		}
	}
	t.notify(fmt.Sprintf("validation at step %d: cross entropy %.4f nats, token accuracy %.4f, sequence accuracy %.4f (teacher-forced, %.0f sequences), ponder %.2f",
		t.step, tally.CrossEntropy(), tally.TokenAccuracy(), tally.SequenceAccuracy(), tally.Sequences, tally.Ponder()))
	t.warnOfPonder(tally)
	return nil
}

// better tells whether a validation is the best so far: by correct sequences if the configuration says so, and then, or else, by
// cross entropy.
func (t *Trainer) better(tally objective.Tally) bool {
	if t.state.BestStep == 0 {
		return true
	}
	if t.Config.BestByAccuracy && tally.CorrectSequences != t.state.BestCorrect {
		return tally.CorrectSequences > t.state.BestCorrect
	}
	return tally.CrossEntropy() < t.state.BestNats
}

// measure runs batches without learning. Positions are drawn, as in training, but the same in every validation: a model that is to work
// at positions beyond the longest sequence is chosen at all of them.
func (t *Trainer) measure(batches []batch.Batch) (tally objective.Tally, err error) {
	for i, b := range batches {
		positions := t.drawPositions(b, "validation positions", int64(i))
		out, err := t.evaluate.Call(capacity.ShapeOf(b), t.arguments(b, positions)...)
		if err != nil {
			return tally, err
		}
		tally = tally.Plus(objective.Unpack(tensors.MustCopyFlatData[float32](out[0])))
		finalize(out)
	}
	return tally, nil
}
