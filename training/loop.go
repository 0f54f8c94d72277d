package training

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"github.com/gomlx/compute/dtypes"
	"universal-transformer/engine"
	"universal-transformer/internal/batch"
	"universal-transformer/internal/feed"
	"universal-transformer/internal/objective"
	"universal-transformer/internal/seed"
	"universal-transformer/runlog"
	"universal-transformer/universal"
)

// Run trains until the last update, until Stop applies, or until ctx is cancelled, whichever comes first; in each case a checkpoint is
// written at the end. It continues from the checkpoint From, or begins a new run if that is nil. It removes metrics and checkpoints of
// later steps from the run directory.
//
// If ctx is cancelled, the update in progress is completed and saved. A validation that is due after it, or in progress, is left to the Run
// that continues, also after the last update: it ends between batches, or between the tokens of decoded answers.
//
// In a group of several ranks all call Run, and all stop after the same update if the context of one is cancelled. Rank 0 makes the
// validations, so one in progress ends only with the context of rank 0; if another one is cancelled meanwhile, all stop after the next
// update. An error is a [parallel.RankError], the same on all, unless a rank has left.
func (t *Trainer) Run(ctx context.Context) (Summary, error) {
	if err := t.prepare(); err != nil {
		return Summary{}, err
	}
	defer t.graphs.Close()
	t.started = time.Now()
	for t.state.Stopped == "" && (t.step < t.Config.Steps || t.state.ValidationDue) {
		if t.stopping(ctx) {
			return t.summary("interrupted"), t.onRankZero(t.save)
		}
		if !t.state.ValidationDue {
			if err := t.advance(ctx); err != nil {
				return Summary{}, err
			}
			if t.stopping(ctx) && t.state.ValidationDue {
				continue // to save it first
			}
		}
		if err := t.validateAndSave(ctx); err != nil {
			return Summary{}, err
		}
	}
	return t.summary(cmp.Or(t.state.Stopped, "done")), nil
}

// stopping reports whether to end before the next update or validation. All ranks agree.
func (t *Trainer) stopping(ctx context.Context) bool {
	return t.interrupted || t.alone() && ctx.Err() != nil
}

// validateAndSave validates and writes a checkpoint after the updates for which that is due. A validation that did not end remains due on
// all ranks, which are then interrupted.
func (t *Trainer) validateAndSave(ctx context.Context) error {
	if t.state.ValidationDue {
		if err := t.onRankZero(func() error { return t.validate(ctx) }); err != nil {
			return err
		}
		if err := t.shareState(); err != nil {
			return err
		}
		if t.interrupted = t.interrupted || t.state.ValidationDue; t.state.ValidationDue {
			return nil
		}
	}
	if t.due(t.Config.CheckpointEvery) || t.state.Stopped != "" {
		return t.onRankZero(t.save)
	}
	return nil
}

// due reports whether the latest update is a multiple of every, or the last one.
func (t *Trainer) due(every int64) bool { return t.step%every == 0 || t.step == t.Config.Steps }

// advance makes one update and adds it to the metrics.
func (t *Trainer) advance(ctx context.Context) error {
	start := time.Now()
	t.step++
	rate, err := t.Config.Rate(t.step)
	if err != nil {
		return err
	}
	own, norm, err := t.updateOnce(float32(rate))
	if err != nil {
		return fmt.Errorf("update %d: %w", t.step, err)
	}
	own.interrupted, own.norm = ctx.Err() != nil, norm
	if t.CPU != nil {
		own.cpu = t.CPU()
	}
	tally, norm, err := t.collect(own)
	if err != nil {
		return err
	}
	if err := t.checkFinite(tally, norm); err != nil {
		return err
	}
	t.state.Data, t.state.ValidationDue = t.Stream.Position(), t.due(t.Config.EvaluateEvery)
	seconds := time.Since(start).Seconds()
	t.state.Seconds += seconds
	t.state.Window = t.state.Window.Plus(tally)
	t.window = speed{t.window.updates + 1, t.window.tokens + tally.Tokens, t.window.seconds + seconds}
	t.report(tally, rate, seconds)
	if !t.due(t.Config.LogEvery) {
		return nil
	}
	row := metrics("training", t.step, t.state.Window)
	row["learning_rate"], row["gradient_norm"] = rate, norm
	t.state.Window = objective.Tally{}
	return t.onRankZero(func() error {
		if err := t.Log.AppendMetrics(row); err != nil {
			return err
		}
		t.writeUpdateEvents(row)
		return nil
	})
}

// report reports an update that took so many seconds.
func (t *Trainer) report(tally objective.Tally, rate, seconds float64) {
	if t.OnProgress == nil {
		return
	}
	compiled := t.graphs.Stats()
	t.OnProgress(Progress{
		Step: t.step, Steps: t.Config.Steps, Tally: tally, Adaptive: universal.Adaptive(t.Model), Rate: rate, TokensPerSecond: tally.Tokens / seconds,
		Graphs: compiled.Alive, Compiled: compiled.Compiled, Compiling: t.compileShare(), Calls: compiled.Calls,
		Ranks: t.group.Size(), OthersCPU: t.othersCPU,
	})
}

// withMemoryHint adds advice to a backend's error about insufficient memory.
func withMemoryHint(err error) error {
	short, ok := engine.AsMemoryError(err)
	if !ok {
		return err
	}
	return fmt.Errorf("%w; lower training.batch.tokens or training.batch.rows, model.width or the length of sequences", short)
}

// arguments lists the inputs of forward. Either all batches of a run have a source, or none.
func (t *Trainer) arguments(b batch.Batch, positions []int32) []any {
	t.hasSource = b.SourceLength > 0
	return append(feed.Tensors(b, positions), float32(t.Config.Ponder.At(t.step)))
}

// drawPositions draws the positions [rows, R] of a batch from the stream of a purpose and an index; nil if they are not random. Rows draw
// from one stream, in order, and adjacent passes over one example draw once.
func (t *Trainer) drawPositions(b batch.Batch, passes int, purpose string, index int64) ([]int32, error) {
	if !t.Positions.Random() {
		return nil, nil
	}
	rng := seed.Rand(t.Config.Seed, purpose, index)
	length := max(b.SourcePositions(), b.TargetLength)
	list := make([]int32, 0, b.Rows*length)
	for i := 0; i < b.Rows; i += passes {
		row, err := t.Positions.Draw(rng, b.SourceRow(i), b.TokensPerPosition, b.TargetRow(i))
		if err != nil {
			return nil, err
		}
		for len(row) < length {
			row = append(row, 1) // position of padding
		}
		for range passes {
			list = append(list, row...)
		}
	}
	return list, nil
}

// checkFinite returns an error, the same on all ranks, if the loss or the gradient is not finite, or so large that training has diverged.
// The loss is that of the weights before the update: after a checkpoint, those of the checkpoint.
func (t *Trainer) checkFinite(tally objective.Tally, norm float64) error {
	problem, broken := "", t.step == t.saved+1
	switch {
	case !tally.Finite():
		problem = fmt.Sprintf("the loss is %v", tally.MeanLoss())
	case math.IsNaN(norm) || math.IsInf(norm, 0):
		problem, broken = fmt.Sprintf("the gradient's norm is %v", norm), false
	case tally.CrossEntropy() > exploded:
		problem = fmt.Sprintf("the cross entropy has exploded to %.3g nats per token", tally.CrossEntropy())
	default:
		return nil
	}
	return t.onRankZero(func() error { return t.diverged(problem, broken) })
}

// diverged describes a problem. broken says that it is due to the weights of the newest checkpoint.
func (t *Trainer) diverged(problem string, broken bool) error {
	field, value := t.Config.Schedule.Halved()
	e := &DivergedError{Step: t.step, Problem: problem, Dir: t.Log.Dir(), Saved: t.saved, Field: field, Value: value, Initial: t.step == 1}
	if broken && !e.Initial {
		e.Broken, e.Saved = t.Log.CheckpointPath(t.saved), -1
		steps, err := t.Log.Steps()
		if err != nil {
			return err
		}
		for _, step := range steps {
			if step < t.saved {
				e.Saved = step
			}
		}
	}
	return e
}

// A DivergedError means that training has diverged: the loss or the gradient is not finite, or far too large.
type DivergedError struct {
	Step    int64   // the update
	Problem string  // "the loss is NaN"
	Dir     string  // of the run
	Saved   int64   // step of the newest checkpoint from which training can continue; -1: there is none
	Broken  string  // path of a newer checkpoint, whose loss is the problem; "": there is none
	Field   string  // the schedule's field to lower
	Value   float64 // a lower value of Field
	Initial bool    // no update was made before, so that a lower learning rate does not help
}

func (e *DivergedError) Error() string {
	if e.Initial {
		return fmt.Sprintf("training stopped at update %d: %s with the initial weights, before any update, so the learning rate is not the cause: "+
			"check the data, the model and its halting policy", e.Step, e.Problem)
	}
	next := fmt.Sprintf("the checkpoint of update %d is kept: continue from it", e.Saved)
	if e.Saved < 0 {
		next = "there is no checkpoint: resume the run, which begins it again,"
	}
	if e.Broken != "" {
		if e.Saved < 0 {
			next = "there is no other checkpoint: start again in another directory"
		}
		next = fmt.Sprintf("that is the loss of %s, which must be removed; %s", e.Broken, next)
	}
	return fmt.Sprintf("training stopped at update %d: %s; %s with a lower learning rate, training.schedule.%s=%.3g", e.Step, e.Problem, next, e.Field, e.Value)
}

// exploded is a cross entropy, in nats per token, far above that of any untrained model: log(V) for a vocabulary of V tokens.
const exploded = 1000

// save writes a checkpoint of the current step, unless its validation was the best and has saved it.
func (t *Trainer) save() error {
	if t.saved == t.step {
		return nil
	}
	return t.saveWith(t.Log.SaveCheckpoint)
}

// saveWith writes a checkpoint of the current step in one of two ways.
func (t *Trainer) saveWith(write func(step int64, c *runlog.Checkpoint, keep int) error) error {
	c, err := t.checkpoint()
	if err != nil {
		return err
	}
	if err := write(t.step, c, t.Config.Keep); err != nil {
		return err
	}
	t.saved = t.step
	return nil
}

// metrics returns a line of metrics.jsonl. It does not depend on the machine's speed: two runs of the same seed write the same lines.
func metrics(split string, step int64, t objective.Tally) map[string]any {
	return map[string]any{
		"step": step, "split": split, "loss": t.MeanLoss(), "cross_entropy": t.CrossEntropy(),
		"token_accuracy": t.TokenAccuracy(), "sequence_accuracy": t.SequenceAccuracy(),
		"tokens": t.Tokens, "sequences": t.Sequences,
		"encoder_ponder": t.EncoderPonder(), "decoder_ponder": t.DecoderPonder(),
	}
}

func (t *Trainer) notify(line string) {
	if t.Notify != nil {
		t.Notify(line)
	}
}

func (t *Trainer) summary(stopped string) Summary {
	r := Summary{
		Step: t.step, Stopped: stopped, Seconds: t.state.Seconds, Validation: t.state.Validation, BestStep: t.state.BestStep, BestNats: t.state.BestNats,
		Selection: t.selection(),
	}
	for v := range t.Store.IterVariables() {
		if Trained(v.Path()) && v.DType() == dtypes.Float32 {
			r.Parameters += v.Shape().Size()
		}
	}
	return r
}
