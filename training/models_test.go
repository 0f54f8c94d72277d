package training_test

import (
	"math"
	"slices"
	"testing"

	"universal-transformer/halting"
	"universal-transformer/internal/batch"
	"universal-transformer/internal/seed"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
	"universal-transformer/training/schedule"
	"universal-transformer/universal"
)

// learner is a model that learns toys in some hundred steps.
func learner() universal.Config {
	return universal.Config{
		SourceVocabulary: 6, TargetVocabulary: 6, Width: 16, Heads: 2, Seed: 11,
		Transition: universal.FeedForward{Filter: 32}, Halting: halting.Graves{ACT: halting.ACT{MaxSteps: 3, Epsilon: 0.01, Bias: 1}},
	}
}

// fast trains without smoothing, and validates often.
func fast(steps int64) schedule.Config {
	c := config(steps)
	c.Schedule = schedule.Cosine{Peak: 1e-2, Floor: 1e-3, Warmup: 20}
	c.LabelSmoothing, c.Accumulate, c.ClipNorm = 0, 0, 1
	c.LogEvery, c.EvaluateEvery, c.CheckpointEvery = 50, 20, 1000
	return c
}

// An encoder-decoder learns to copy; the run ends at the first validation with the accuracy that was asked for.
func TestEncoderDecoderLearns(t *testing.T) {
	c := fast(600)
	c.Stop.Accuracy = 0.95
	plan := copyingPlan
	plan.Rows = 16
	report := run(t, trainerOf(t, c, universal.EncoderDecoder{Config: learner()}, copying(3), plan))
	if report.Stopped != "accuracy" || report.Validation.SequenceAccuracy() < 0.95 || report.Step == c.Steps {
		t.Errorf("%+v", report)
	}
}

// An encoder learns to classify: is token 5 in the source? Targets are one token, the class, and batches have a source and a target of length 1.
func TestEncoderLearnsToClassify(t *testing.T) {
	examples := func(i int64) task.Example {
		rng := seed.Rand(3, "classes", i)
		source := tokens(rng, 2+rng.IntN(4))
		class := vocab.ID(1)
		if slices.Contains(source, 5) {
			class = 2
		}
		return task.Example{Source: source, Target: []vocab.ID{class}}
	}
	m := universal.Encoder{Config: learner()}
	m.TargetVocabulary = 3
	c := fast(300)
	c.Stop.Accuracy = 1
	report := run(t, trainerOf(t, c, m, examples, batch.Plan{Rows: 16, MaxSource: 5, MaxTarget: 1, Window: 160}))
	if report.Stopped != "accuracy" {
		t.Errorf("after %d steps %.2f of the held-out sources are classified rightly", report.Step, report.Validation.SequenceAccuracy())
	}
}

// A language model, whose batches have no source, learns that tokens count upwards in a circle: only the first of five is to be
// guessed, among four.
func TestDecoderLearnsALanguage(t *testing.T) {
	examples := func(i int64) task.Example {
		start := seed.Rand(3, "language", i).IntN(4)
		target := []vocab.ID{}
		for k := range 4 {
			target = append(target, 2+vocab.ID((start+k)%4))
		}
		return task.Example{Target: append(target, vocab.End)}
	}
	report := run(t, trainerOf(t, fast(200), universal.Decoder{Config: learner()}, examples, batch.Plan{Rows: 16, MaxTarget: 5, Window: 160}))
	entropy := math.Log(4) / 5
	if got := report.Validation.CrossEntropy(); got < entropy-0.05 || got > entropy+0.05 {
		t.Errorf("the language is learned to %.3f nats a token, it has %.3f", got, entropy)
	}
	if report.Validation.EncoderPositions != 0 || report.Validation.DecoderPositions == 0 {
		t.Errorf("positions that ponder: %+v", report.Validation)
	}
}
