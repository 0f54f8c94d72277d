package training_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/core/tensors"
	"universal-transformer/engine/enginetest"
	"universal-transformer/halting"
	"universal-transformer/internal/batch"
	"universal-transformer/internal/objective"
	"universal-transformer/internal/seed"
	"universal-transformer/internal/vocab"
	"universal-transformer/runlog"
	"universal-transformer/task"
	"universal-transformer/training"
	"universal-transformer/training/schedule"
	"universal-transformer/universal"
)

// config is a short training that uses everything: smoothing, warm-up of the ponder cost, clipping, accumulation, means of the weights.
func config(steps int64) schedule.Config {
	return schedule.Config{
		Steps: steps, Schedule: schedule.Constant{LearningRate: 3e-3}, Beta1: 0.9, Beta2: 0.997, Epsilon: 1e-9,
		Objective: objective.Objective{LabelSmoothing: 0.1}, Ponder: objective.PonderSchedule{Weight: 0.01, Steps: 10},
		Average: 0.9, ClipNorm: 0.5, Accumulate: 2, LogEvery: 3, EvaluateEvery: 5, CheckpointEvery: 4, Keep: 2, Seed: 11,
	}
}

// tiny is a small adaptive encoder-decoder over 4 tokens, with dropout everywhere.
func tiny() universal.Config {
	return universal.Config{
		SourceVocabulary: 6, TargetVocabulary: 6, Width: 8, Heads: 2, Seed: 11,
		Transition: universal.FeedForward{Filter: 16}, Halting: halting.Frozen{ACT: halting.ACT{MaxSteps: 3, Epsilon: 0.01, Bias: 1}},
		Dropout:   universal.Dropout{Embedding: 0.1, Attention: 0.1, Transition: 0.1, Residual: 0.1},
		Positions: universal.RandomOffset{Max: 12},
	}
}

// copying is the task of copying 1 to 5 of the tokens 2..5.
func copying(seedValue uint64) func(i int64) task.Example {
	return func(i int64) task.Example {
		rng := seed.Rand(seedValue, "copying", i)
		source := tokens(rng, 1+rng.IntN(5))
		return task.Example{Source: source, Target: append(slices.Clone(source), vocab.End)}
	}
}

func tokens(rng *rand.Rand, length int) (ids []vocab.ID) {
	for range length {
		ids = append(ids, 2+vocab.ID(rng.IntN(4)))
	}
	return ids
}

var copyingPlan = batch.Plan{Rows: 4, MaxSource: 5, MaxTarget: 6, Window: 40}

// trainer is a new training of an encoder-decoder, to copy, in a new run directory.
func trainer(t *testing.T, c schedule.Config) *training.Trainer {
	t.Helper()
	model := universal.EncoderDecoder{Config: tiny()}
	model.Seed = c.Seed
	return trainerOf(t, c, model, copying(c.Seed), copyingPlan)
}

func trainerOf(t *testing.T, c schedule.Config, m universal.Model, source func(int64) task.Example, plan batch.Plan) *training.Trainer {
	t.Helper()
	log, err := runlog.Create(t.TempDir()+"/run", map[string]any{"test": t.Name()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	tr := &training.Trainer{Config: c, Backend: enginetest.Backend(t), Model: m, Log: log}
	if e, ok := m.(universal.EncoderDecoder); ok {
		tr.Positions = universal.Draws{Counting: e.Counting, Positions: e.Positions}
	}
	feedWith(t, tr, source, plan)
	return tr
}

// feedWith gives a trainer its data from the beginning.
func feedWith(t *testing.T, tr *training.Trainer, source func(int64) task.Example, plan batch.Plan) {
	t.Helper()
	var err error
	if tr.Stream, err = batch.NewStream(source, plan, tr.Config.Seed); err != nil {
		t.Fatal(err)
	}
	var heldOut []task.Example
	for i := range int64(24) {
		heldOut = append(heldOut, source(1_000_000+i))
	}
	tr.Validation = batch.Chunk(heldOut, plan)
}

// resumed is a trainer that goes on in the directory of one that is dead.
func resumed(t *testing.T, dead *training.Trainer) *training.Trainer {
	t.Helper()
	_ = dead.Log.Close()
	log, err := runlog.Resume(dead.Log.Dir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	tr := &training.Trainer{Config: dead.Config, Backend: dead.Backend, Model: dead.Model, Positions: dead.Positions, Log: log, From: newest(t, log)}
	feedWith(t, tr, copying(tr.Config.Seed), copyingPlan)
	return tr
}

// newest is the newest checkpoint of a run, nil if there is none.
func newest(t *testing.T, log *runlog.Run) *runlog.Checkpoint {
	t.Helper()
	c, _, err := log.Latest()
	if err != nil && !errors.Is(err, runlog.ErrNoCheckpoint) {
		t.Fatal(err)
	}
	return c
}

func run(t *testing.T, tr *training.Trainer) training.Summary {
	t.Helper()
	report, err := tr.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// metrics reads what the run has written.
func metrics(t *testing.T, tr *training.Trainer) []runlog.Row {
	t.Helper()
	rows, err := tr.Log.Metrics()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// weights are the trained variables of a finished run, by name.
func weights(tr *training.Trainer) map[string][]float32 {
	values := map[string][]float32{}
	for v := range tr.Store.IterVariables() {
		if training.Trained(v.Path()) {
			values[universal.Name(v.Path())] = tensors.MustCopyFlatData[float32](v.MustValue())
		}
	}
	return values
}

// tensorsOf is the content of the newest checkpoint, the optimiser's and the random state included, by name.
func tensorsOf(t *testing.T, tr *training.Trainer) (step int64, content map[string]string) {
	t.Helper()
	c, _, err := tr.Log.Latest()
	if err != nil {
		t.Fatal(err)
	}
	content = map[string]string{}
	for _, tensor := range c.Tensors {
		content[tensor.Name] = string(tensor.Data)
	}
	return c.Step, content
}
