package training

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/gomlx/gomlx/core/tensors"
	"universal-transformer/internal/batch"
	"universal-transformer/internal/capacity"
	"universal-transformer/internal/objective"
	"universal-transformer/internal/quantity"
	"universal-transformer/internal/score"
	"universal-transformer/internal/tensorboard"
	"universal-transformer/universal"
)

// A validation is what a validation has measured.
type validation struct {
	tally    objective.Tally
	depths   objective.Depths
	figures  []score.Metric
	pictures []tensorboard.Image
}

// validate evaluates the validation set with teacher forcing, records the best checkpoint, and decides whether to stop. If ctx ends before
// all is evaluated, the validation remains due, and the state is that of before.
func (t *Trainer) validate(ctx context.Context) error {
	start := time.Now()
	before, err := json.Marshal(t.state)
	if err != nil {
		return err
	}
	var v validation
	stopped := false
	err = t.withMeans(func() (err error) {
		if v, err = t.evaluateAll(ctx); err != nil && ctx.Err() != nil {
			stopped, err = true, nil
		}
		return err
	})
	switch {
	case err != nil:
		return fmt.Errorf("validation at update %d: %w", t.step, err)
	case stopped:
		return t.replaceState(before) // as batches have changed the plan
	}
	t.state.ValidationDue = false
	return t.accept(v, start)
}

// evaluateAll makes the measurements of a validation, until ctx ends.
func (t *Trainer) evaluateAll(ctx context.Context) (v validation, err error) {
	if v.tally, v.depths, err = t.measure(ctx, t.Validation); err != nil {
		return v, err
	}
	if v.figures, err = t.decoded(ctx); err != nil {
		return v, err
	}
	v.pictures = t.pictures()
	return v, nil
}

// accept records and reports a validation that began at a time.
func (t *Trainer) accept(v validation, start time.Time) error {
	tally, figures := v.tally, v.figures
	if !tally.Finite() { // the update just before has made the weights useless, though its own loss was finite
		return t.diverged(fmt.Sprintf("the loss of the validation is %v", tally.MeanLoss()), t.saved == t.step)
	}
	best := t.record(tally, figures)
	t.state.Seconds += time.Since(start).Seconds()
	row := metrics("validation", t.step, tally)
	shown := addFigures(row, figures)
	if universal.Adaptive(t.Model) {
		shown = fmt.Sprintf(", ponder %.2f%s", tally.Ponder(), shown)
	}
	accuracy := fmt.Sprintf("token accuracy %.4f, sequence accuracy %.4f (teacher-forced, %s)", tally.TokenAccuracy(), tally.SequenceAccuracy(), quantity.Regular(int(tally.Sequences), "sequences"))
	if ofClasses(tally) {
		accuracy = fmt.Sprintf("accuracy %.4f (%.0f examples)", tally.TokenAccuracy(), tally.Sequences)
	}
	t.notify(fmt.Sprintf("validation at update %d: cross entropy %.4g nats, %s%s", t.step, tally.CrossEntropy(), accuracy, shown))
	t.warnOfPonder(tally, v.depths)
	if err := t.Log.AppendMetrics(row); err != nil {
		return err
	}
	t.writeValidationEvents(row, v.pictures)
	switch { // last, so that the checkpoint holds everything that this validation changed
	case best:
		return t.saveWith(t.Log.SaveBest)
	case t.saved == t.step: // before this validation, because training was interrupted
		return t.saveWith(t.Log.SaveCheckpoint)
	}
	return nil
}

// ofClasses reports whether every answer is one token, as those of classifiers are.
func ofClasses(t objective.Tally) bool { return t.Tokens == t.Sequences }

// record updates the state with a validation, decides whether to stop, and reports whether the validation is the best so far.
func (t *Trainer) record(tally objective.Tally, figures []score.Metric) (best bool) {
	best = t.better(tally, figures)
	if t.state.MaxCorrect.Step == 0 || tally.CorrectSequences > t.state.MaxCorrect.Value {
		t.state.MaxCorrect = extreme{t.step, tally.CorrectSequences}
	}
	if t.state.LowestSmoothed.Step == 0 || tally.SmoothedEntropy() < t.state.LowestSmoothed.Value {
		t.state.LowestSmoothed = extreme{t.step, tally.SmoothedEntropy()}
	}
	t.state.Validation = tally
	t.state.Waited++
	t.state.Perfect++
	if tally.CorrectSequences < tally.Sequences {
		t.state.Perfect = 0
	}
	if best {
		t.state.BestMeasure = first(figures)
		t.state.BestStep, t.state.BestNats, t.state.Waited = t.step, tally.CrossEntropy(), 0
		t.state.BestSmoothed, t.state.BestCorrect = tally.SmoothedEntropy(), tally.CorrectSequences
	}
	switch stop := t.Config.Stop; {
	case stop.Accuracy > 0 && tally.SequenceAccuracy() >= stop.Accuracy:
		t.state.Stopped = "accuracy"
	case stop.Perfect > 0 && t.state.Perfect >= stop.Perfect:
		t.state.Stopped = "perfect"
	case stop.Patience > 0 && t.state.Waited >= stop.Patience:
		t.state.Stopped = "patience"
	}
	return best
}

// decoded evaluates decoded answers, if configured, until ctx ends. A metric that is not finite, as without answers, counts as 0.
func (t *Trainer) decoded(ctx context.Context) ([]score.Metric, error) {
	if t.Decoded == nil {
		return nil, nil
	}
	figures, err := t.Decoded(ctx, t.Store)
	for i := range figures {
		if v := figures[i].Value; math.IsNaN(v) || math.IsInf(v, 0) { // which JSON cannot represent
			figures[i].Value = 0
		}
	}
	return figures, err
}

// addFigures adds the metrics of decoded answers to a line of metrics, and returns them as text.
func addFigures(row map[string]any, figures []score.Metric) (shown string) {
	start := "; decoded answers: "
	for _, f := range figures {
		row["decoded_"+strings.ReplaceAll(strings.ToLower(f.Name), " ", "_")] = f.Value
		shown += fmt.Sprintf("%s%s %.4g", start, f.Name, f.Value)
		start = ", "
	}
	return shown
}

// first returns the value of the first metric, 0 if there is none.
func first(figures []score.Metric) float64 {
	if len(figures) == 0 {
		return 0
	}
	return figures[0].Value
}

// better reports whether a validation is the best so far: by decoded answers and by correct sequences, if so configured, and then by cross
// entropy. If training smooths its targets, validation does too: cross entropy against the unsmoothed targets is lowest early on and
// rises as the model fits the smoothed ones.
func (t *Trainer) better(tally objective.Tally, figures []score.Metric) bool {
	if t.state.BestStep == 0 {
		return true
	}
	if now := first(figures); t.Config.BestByMeasure && now != t.state.BestMeasure {
		return now > t.state.BestMeasure
	}
	if t.Config.BestByAccuracy && tally.CorrectSequences != t.state.BestCorrect {
		return tally.CorrectSequences > t.state.BestCorrect
	}
	return tally.SmoothedEntropy() < t.state.BestSmoothed
}

// measure runs batches in inference mode, until ctx ends. Positions are sampled as in training, but the same in every validation, so that
// a model that must handle positions beyond the longest sequence is selected on all of them.
func (t *Trainer) measure(ctx context.Context, batches []batch.Batch) (tally objective.Tally, depths objective.Depths, err error) {
	for i, b := range batches {
		if err := ctx.Err(); err != nil {
			return tally, depths, err
		}
		positions, err := t.drawPositions(b, 1, "validation positions", int64(i))
		if err != nil {
			return tally, depths, err
		}
		out, err := t.evaluate.Call(capacity.ShapeOf(b), t.arguments(b, positions)...)
		if err != nil {
			return tally, depths, err
		}
		tally = tally.Plus(objective.Unpack(tensors.MustCopyFlatData[float32](out[0])))
		if len(out) > 1 {
			depths = depths.Plus(objective.UnpackDepths(tensors.MustCopyFlatData[float32](out[1])))
		}
		finalize(out)
	}
	return tally, depths, nil
}
