package training

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/tensors"
	"universal-transformer/batch"
	"universal-transformer/internal/capacity"
	"universal-transformer/internal/feed"
	"universal-transformer/internal/seed"
	"universal-transformer/objective"
)

// Run trains until the last update, until Stop says so, or until ctx is cancelled, whichever comes first; in each case a
// checkpoint is written last. It goes on from the newest intact checkpoint of the run directory, or starts afresh; where there were
// checkpoints, and none is left that can be used, it is an error, and nothing changes.
func (t *Trainer) Run(ctx context.Context) (Summary, error) {
	if err := t.prepare(); err != nil {
		return Summary{}, err
	}
	defer t.graphs.Close()
	t.started = time.Now()
	stopped := t.state.Stopped
	for stopped == "" && t.step < t.Config.Steps {
		if ctx.Err() != nil {
			return t.summary("interrupted"), t.save()
		}
		if err := t.advance(); err != nil {
			return Summary{}, err
		}
		if t.due(t.Config.EvaluateEvery) {
			if err := t.validate(); err != nil {
				return Summary{}, err
			}
			t.notify(t.graphs.Stats().Line(time.Since(t.started)))
			stopped = t.state.Stopped
		}
		if t.due(t.Config.CheckpointEvery) || stopped != "" {
			if err := t.save(); err != nil {
				return Summary{}, err
			}
		}
	}
	if stopped == "" {
		stopped = "done"
	}
	return t.summary(stopped), nil
}

// due tells whether the update just made is one of every so many, or the last.
func (t *Trainer) due(every int64) bool { return t.step%every == 0 || t.step == t.Config.Steps }

// advance makes one update and adds it to the metrics.
func (t *Trainer) advance() error {
	start := time.Now()
	t.step++
	rate := t.Config.Schedule.Rate(t.step, t.Config.Steps, t.Config.Width)
	tally, norm, err := t.updateOnce(float32(rate))
	if err != nil {
		return fmt.Errorf("step %d: %w", t.step, affordable(err))
	}
	if err := t.sane(tally, norm); err != nil {
		return err
	}
	t.state.Data = t.Stream.Position()
	seconds := time.Since(start).Seconds()
	t.state.Seconds += seconds
	t.state.Window = t.state.Window.Plus(tally)
	if t.OnProgress != nil {
		compiled := t.graphs.Stats()
		t.OnProgress(Progress{
			Step: t.step, Steps: t.Config.Steps, Tally: tally, Rate: rate, TokensPerSecond: tally.Tokens / seconds,
			Graphs: compiled.Alive, Compiled: compiled.Compiled, Compiling: compiled.Compiling.Seconds() / time.Since(t.started).Seconds(),
		})
	}
	if !t.due(t.Config.LogEvery) {
		return nil
	}
	row := metrics("training", t.step, t.state.Window)
	row["learning_rate"], row["gradient_norm"] = rate, norm
	t.state.Window = objective.Tally{}
	return t.Log.AppendMetrics(row)
}

// affordable says what to lower where err is a backend's that there is not enough memory.
func affordable(err error) error {
	var short interface {
		error
		Memory() (need, have int)
	}
	if !errors.As(err, &short) {
		return err
	}
	return fmt.Errorf("%w; lower training.batch.tokens or training.batch.rows, model.width or the length of sequences", short)
}

// updateOnce draws the batches of one update and applies them.
func (t *Trainer) updateOnce(rate float32) (tally objective.Tally, norm float64, err error) {
	n := max(t.Config.Accumulate, 1)
	for i := range n {
		b, err := t.Stream.Next()
		if err != nil {
			return tally, 0, err
		}
		positions := t.drawPositions(b, "positions", (t.step-1)*int64(n)+int64(i))
		exec := t.update
		if i < n-1 {
			exec = t.accumulate
		}
		arguments := append(t.arguments(b, positions), rate)
		if t.Config.Average > 0 {
			arguments = append(arguments, t.Config.keep(t.step))
		}
		out, err := exec.Call(capacity.ShapeOf(b), arguments...)
		if err != nil {
			return tally, 0, err
		}
		tally = tally.Plus(objective.Unpack(tensors.MustCopyFlatData[float32](out[0])))
		norm = float64(tensors.ToScalar[float32](out[1]))
		finalize(out)
	}
	return tally, norm, nil
}

// arguments lists what forward reads. Batches of one run all have a source, or none has.
func (t *Trainer) arguments(b batch.Batch, positions []int32) []any {
	t.hasSource = b.SourceLength > 0
	return append(feed.Tensors(b, positions), float32(t.Config.Ponder.At(t.step)))
}

// drawPositions draws the positions [rows, R] of a batch from the stream of a purpose and an index, nil if they are not drawn. Rows draw
// from one stream, in order.
func (t *Trainer) drawPositions(b batch.Batch, purpose string, index int64) []int32 {
	if !t.Positions.Random() {
		return nil
	}
	rng := seed.Rand(t.Config.Seed, purpose, index)
	length := max(b.SourcePositions(), b.TargetLength)
	list := make([]int32, 0, b.Rows*length)
	for i := range b.Rows {
		row := t.Positions.Draw(rng, b.SourceRow(i), b.TokensPerPosition, b.TargetRow(i))
		for len(row) < length {
			row = append(row, 1) // of padding
		}
		list = append(list, row...)
	}
	return list
}

// sane is an error if a loss or gradient is not a number, or so large that training has come apart.
func (t *Trainer) sane(tally objective.Tally, norm float64) error {
	what := ""
	switch {
	case !tally.Finite():
		what = fmt.Sprintf("the loss is %v", tally.MeanLoss())
	case math.IsNaN(norm) || math.IsInf(norm, 0):
		what = fmt.Sprintf("the gradient's norm is %v", norm)
	case tally.CrossEntropy() > exploded:
		what = fmt.Sprintf("the cross entropy has exploded to %.3g nats a token", tally.CrossEntropy())
	default:
		return nil
	}
	kept := "no checkpoint had been written: start again"
	if c, _, err := t.Log.Latest(); err == nil {
		kept = fmt.Sprintf("the checkpoint of step %d is kept: go on from it", c.Step)
	}
	field, value := t.Config.Schedule.Halved()
	return fmt.Errorf("training stopped at step %d: %s; %s with a lower learning rate: ut train --resume %s --set training.schedule.%s=%.3g",
		t.step, what, kept, t.Log.Dir(), field, value)
}

// exploded is a cross entropy, in nats a token, that no vocabulary explains: guessing among a million costs 14.
const exploded = 1000

// save writes a checkpoint of the present step.
func (t *Trainer) save() error {
	c, err := t.checkpoint()
	if err != nil {
		return err
	}
	return t.Log.SaveCheckpoint(t.step, c, t.Config.Keep)
}

// metrics is a line of metrics.jsonl. It holds nothing that depends on the machine's speed: two runs of the same seed
// write the same lines.
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
	r := Summary{Step: t.step, Stopped: stopped, Seconds: t.state.Seconds, Validation: t.state.Validation, BestStep: t.state.BestStep, BestNats: t.state.BestNats}
	for v := range t.Store.IterVariables() {
		if Trained(v.Path()) && v.DType() == dtypes.Float32 {
			r.Parameters += v.Shape().Size()
		}
	}
	return r
}

func finalize(out []*tensors.Tensor) {
	for _, tensor := range out {
		_ = tensor.FinalizeAll()
	}
}
