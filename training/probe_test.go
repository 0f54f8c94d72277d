package training_test

import (
	"runtime/debug"
	"testing"

	"universal-transformer/engine/enginetest"
	"universal-transformer/halting"
	"universal-transformer/internal/batch"
	"universal-transformer/internal/vocab"
	"universal-transformer/training"
	"universal-transformer/training/schedule"
	"universal-transformer/universal"
)

// rectangle is a batch full of token 2.
func rectangle(rows, source, target int) batch.Batch {
	fill := func(n int) []vocab.ID {
		ids := make([]vocab.ID, n)
		for i := range ids {
			ids[i] = 2
		}
		return ids
	}
	return batch.Batch{Rows: rows, SourceLength: source, TargetLength: target, Source: fill(rows * source), Target: fill(rows * target), Examples: rows}
}

func costOf(t *testing.T, c schedule.Config, m universal.Model, b batch.Batch) training.Cost {
	t.Helper()
	p, err := training.NewProbe(c, enginetest.Backend(t), m)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	cost, err := p.Cost(b)
	if err != nil {
		t.Fatal(err)
	}
	return cost
}

// Parameters and operations of a Universal Transformer of fixed depth, from the paper's equations: four square matrices an attention,
// two matrices a transition; a product of [P, A] and [A, B] takes 2 P A B, and its two gradients as much each.
func TestCostIsTheClosedForm(t *testing.T) {
	const rows, m, n, d, f, steps, from, to = 3, 11, 7, 12, 20, 4, 9, 14
	config := universal.Config{
		SourceVocabulary: from, TargetVocabulary: to, Width: d, Heads: 3, Transition: universal.FeedForward{Filter: f}, Halting: halting.Fixed{Steps: steps},
		Dropout: universal.Dropout{Attention: 0.1, Residual: 0.1},
	}
	const (
		attention, transition, norm = 4 * d * d, d*f + f + f*d + d, 2 * d
		encoder                     = attention + transition + 2*norm
		decoder                     = 2*attention + transition + 3*norm
		readout                     = d * to
	)
	const (
		forward = steps*m*(4*d*d+2*m*d+2*d*f) + // the encoder
			2*m*d*d + // keys and values of its output
			steps*n*(4*d*d+2*n*d+2*d*d+2*m*d+2*d*f) + // the decoder
			n*d*to
		operations = 2 * 3 * rows * forward
	)
	c := config2()
	cost := costOf(t, c, universal.EncoderDecoder{Config: config}, rectangle(rows, m, n))
	if want := (from+to)*d + encoder + decoder + readout; cost.Parameters != want {
		t.Errorf("%d parameters, want %d", cost.Parameters, want)
	}
	if cost.Operations != operations {
		t.Errorf("%v operations, want %d", cost.Operations, operations)
	}

	config.Dropout = universal.Dropout{} // attention is one operation then, and its gradient another
	language := costOf(t, c, universal.Decoder{Config: config}, rectangle(rows, 0, n))
	if want := to*d + attention + transition + 2*norm + readout; language.Parameters != want {
		t.Errorf("language model: %d parameters, want %d", language.Parameters, want)
	}
	if want := 2. * 3 * rows * (steps*n*(4*d*d+2*n*d+2*d*f) + n*d*to); language.Operations != want {
		t.Errorf("language model: %v operations, want %v", language.Operations, want)
	}

	config.UntiedLayers = true // each layer has weights of its own, also for the keys and values of the encoder's output
	untied := costOf(t, c, universal.EncoderDecoder{Config: config}, rectangle(rows, m, n))
	if want := (from+to)*d + steps*(encoder+decoder) + readout; untied.Parameters != want {
		t.Errorf("untied: %d parameters, want %d", untied.Parameters, want)
	}
	if want := float64(operations + 2*3*rows*(steps-1)*2*m*d*d); untied.Operations != want {
		t.Errorf("untied: %v operations, want %v", untied.Operations, want)
	}
}

// Adam keeps two moments, the update a sum of gradients, and averaging a mean of every parameter; besides there are some scalars. What an
// update needs for a while grows with the rows.
func TestCostOfMemory(t *testing.T) {
	m := universal.EncoderDecoder{Config: tiny()}
	c := config2()
	few := costOf(t, c, m, rectangle(2, 5, 6))
	many := costOf(t, c, m, rectangle(40, 5, 6))
	if few.Model != 4*few.Parameters {
		t.Errorf("%d bytes of %d parameters", few.Model, few.Parameters)
	}
	if more := few.Optimizer - 3*few.Model; more < 0 || more > 200 {
		t.Errorf("%d bytes of the optimizer, two moments and a sum are %d", few.Optimizer, 3*few.Model)
	}
	if many.Model != few.Model || many.Optimizer != few.Optimizer || many.Work < 10*few.Work || many.Work > 20*few.Work {
		t.Errorf("40 rows take %+v, 2 rows %+v", many, few)
	}
	c.Accumulate, c.Average = 3, 0.9
	if both := costOf(t, c, m, rectangle(2, 5, 6)); both.Optimizer != few.Optimizer+few.Model {
		t.Errorf("with means %d bytes of the optimizer, without %d", both.Optimizer, few.Optimizer)
	}
}

// config2 is config without means.
func config2() schedule.Config {
	c := config(10)
	c.Accumulate, c.Average = 1, 0
	return c
}

// A probe's updates are made: they need nothing but a batch, and come one after the other.
func TestProbeUpdates(t *testing.T) {
	p, err := training.NewProbe(config(10), enginetest.Backend(t), universal.EncoderDecoder{Config: tiny()})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for range 3 {
		if err := p.Update(rectangle(2, 5, 6)); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Update(batch.Batch{Rows: 1, TargetLength: 3, Target: []vocab.ID{2, 2, 2}}); err == nil {
		t.Error("a batch without a source passed")
	}
}

// The temporary values of an update include what dropout keeps. A batch that does not fit in memory has its cost all the same.
// Caught when planted: the cost of a model without dropout; an error for a batch that is too large.
func TestCostOfDropoutAndOfTooMuch(t *testing.T) {
	plain := universal.EncoderDecoder{Config: tiny()}
	plain.Dropout = universal.Dropout{}
	c := config2()
	dropping := costOf(t, c, universal.EncoderDecoder{Config: tiny()}, rectangle(40, 5, 6))
	if without := costOf(t, c, plain, rectangle(40, 5, 6)); !(dropping.Work > without.Work) {
		t.Errorf("an update takes %d bytes with dropout, %d without", dropping.Work, without.Work)
	}
	before := debug.SetMemoryLimit(2 << 30)
	defer debug.SetMemoryLimit(before)
	rows := 40 * (3<<30/dropping.Work + 1)
	large := costOf(t, c, universal.EncoderDecoder{Config: tiny()}, rectangle(rows, 5, 6))
	if perRow := float64(large.Work) / float64(rows) / (float64(dropping.Work) / 40); large.Work < 2<<30 || !(perRow > 0.8 && perRow < 1.2) || large.Parameters != dropping.Parameters {
		t.Errorf("%d rows take %+v, 40 rows %+v", rows, large, dropping)
	}
}
