package training_test

import (
	"testing"

	"universal-transformer/baseline/lstm"
	"universal-transformer/internal/batch"
	"universal-transformer/internal/seed"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
	"universal-transformer/universal"
)

// Recurrent networks learn: an encoder-decoder to copy, with attention and without, a classifier which of two tokens came first, however
// far back, and a language model to count.
// Caught when planted: a gradient of the layers without sign; a decoder that starts from zeros.
func TestRecurrentNetworksLearn(t *testing.T) {
	config := lstm.Config{SourceVocabulary: 6, TargetVocabulary: 6, Width: 24, Layers: 1, ScaleEmbedding: true, Seed: 11}
	first := func(i int64) task.Example {
		rng := seed.Rand(3, "first", i)
		source := tokens(rng, 2+rng.IntN(4))
		return task.Example{Source: source, Target: []vocab.ID{1 + source[0]%2}}
	}
	counting := func(i int64) task.Example {
		start := vocab.ID(seed.Rand(3, "counting", i).IntN(4))
		return task.Example{Target: []vocab.ID{2 + start, 2 + (start+1)%4, 2 + (start+2)%4, 2 + (start+3)%4, vocab.End}}
	}
	for name, c := range map[string]struct {
		model   universal.Model
		of      func(int64) task.Example
		source  int
		target  int
		learned func(tokens, sequences float64) bool
	}{
		"encoder-decoder with attention": {lstm.EncoderDecoder{Config: config, Attention: true}, copying(3), 5, 6, func(_, s float64) bool { return s >= 0.9 }},
		"encoder-decoder":                {lstm.EncoderDecoder{Config: config}, copying(3), 5, 6, func(_, s float64) bool { return s >= 0.6 }},
		"classifier":                     {lstm.Encoder{Config: config, Pool: universal.Last}, first, 5, 1, func(_, s float64) bool { return s >= 0.99 }},
		"language model":                 {lstm.Decoder{Config: config}, counting, 0, 5, func(tokens, _ float64) bool { return tokens >= 0.8 }},
	} {
		t.Run(name, func(t *testing.T) {
			report := run(t, trainerOf(t, fast(400), c.model, c.of, batch.Plan{Rows: 16, MaxSource: c.source, MaxTarget: c.target, Window: 160}))
			if !c.learned(report.Validation.TokenAccuracy(), report.Validation.SequenceAccuracy()) {
				t.Errorf("after %d updates: token accuracy %.2f, sequence accuracy %.2f", report.Step, report.Validation.TokenAccuracy(), report.Validation.SequenceAccuracy())
			}
		})
	}
}

// A recurrent network with dropout that is interrupted, or dies, and goes on comes to the same bits.
// Caught when planted: a resume that loses the random state.
func TestResumeOfRecurrentNetworkIsExact(t *testing.T) {
	m := lstm.EncoderDecoder{Attention: true, Config: lstm.Config{
		SourceVocabulary: 6, TargetVocabulary: 6, Width: 8, Layers: 2, ScaleEmbedding: true, Dropout: 0.2, Seed: 11,
	}}
	want := finish(t, trainerOf(t, config(11), m, copying(11), copyingPlan))
	tr := trainerOf(t, config(11), m, copying(11), copyingPlan)
	interrupt(t, tr, 6)
	tr = resumed(t, tr)
	die(t, tr, 9)
	if err := want.equal(finish(t, resumed(t, tr))); err != nil {
		t.Error(err)
	}
}
