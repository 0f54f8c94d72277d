package training_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/tensors"
	"universal-transformer/internal/batch"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
	"universal-transformer/training"
	"universal-transformer/training/schedule"
	"universal-transformer/universal"
)

// evenly has examples of one length only.
func evenly(i int64) task.Example {
	e := copying(9)(i)
	e.Source = []vocab.ID{2 + vocab.ID(i%4), 2 + vocab.ID(i/2%4), 5}
	e.Target = append(slices.Clone(e.Source), vocab.End)
	return e
}

// plainTrainer has neither dropout nor drawn positions, so that only the rows matter, and an Adam that is smooth where gradients are
// small, so that rounding stays rounding.
func plainTrainer(t *testing.T, c schedule.Config, rows int) *training.Trainer {
	t.Helper()
	m := universal.EncoderDecoder{Config: tiny()}
	m.Dropout, m.Positions = universal.Dropout{}, nil
	c.Epsilon = 1e-2
	return trainerOf(t, c, m, evenly, batch.Plan{Rows: rows, MaxSource: 3, MaxTarget: 4, Window: 8})
}

// An update with weight decay takes rate * decay * weight from every weight of a matrix, or of everything if asked to, beside what
// Adam takes (Loshchilov and Hutter, 2019, algorithm 2).
// Caught when planted: decay that the rate does not scale, of the weights after the update, of gains and biases unasked.
func TestWeightDecay(t *testing.T) {
	const rate = 0.01
	after := func(rate, decay float64, vectors bool) map[string][]float32 {
		c := config(1)
		c.Schedule, c.WeightDecay, c.DecayVectors, c.Accumulate = schedule.Constant{LearningRate: rate}, decay, vectors, 0
		x := plainTrainer(t, c, 8)
		run(t, x)
		return weights(x)
	}
	before, without := after(1e-30, 0, false), after(rate, 0, false)
	for decay, vectors := range map[float64]bool{0.5: false, 1: false, 0.25: true} {
		with, moved, spared := after(rate, decay, vectors), false, 0
		for name, w := range before {
			takes := rate * decay
			if !vectors && isVector(name) {
				takes = 0
				spared++
			}
			for i := range w {
				moved = moved || w[i] != without[name][i]
				want := float64(without[name][i]) - takes*float64(w[i])
				if d := math.Abs(float64(with[name][i]) - want); d > 1e-6 {
					t.Errorf("vectors %v: %s[%d]: %v, want %v", vectors, name, i, with[name][i], want)
					break
				}
			}
		}
		if !moved || !vectors && spared == 0 {
			t.Errorf("vectors %v: nothing was learned, or there were no vectors (%d)", vectors, spared)
		}
	}
}

// isVector tells by its name whether a parameter has one axis.
func isVector(name string) bool {
	for _, ending := range []string{"gain", "bias", "halting.weight"} {
		if strings.HasSuffix(name, ending) {
			return true
		}
	}
	return false
}

// Four batches of two rows are one batch of eight, if all have as many tokens: weights and metrics agree to rounding. Clipping
// is by the norm of the mean.
// Caught when planted: a sum in place of the mean, sums that are not cleared.
func TestAccumulationEqualsOneBatch(t *testing.T) {
	c := config(4)
	c.ClipNorm, c.LogEvery, c.Ponder.Steps = 0.2, 1, 0
	c.Accumulate = 4
	parts := plainTrainer(t, c, 2)
	run(t, parts)
	c.Accumulate = 0
	whole := plainTrainer(t, c, 8)
	run(t, whole)
	want := weights(whole)
	for name, got := range weights(parts) {
		for i := range got {
			if d := math.Abs(float64(got[i] - want[name][i])); d > 2e-6 {
				t.Errorf("%s[%d]: %v, but %v from one batch", name, i, got[i], want[name][i])
				break
			}
		}
	}
	for i, row := range metrics(t, parts) {
		for _, key := range []string{"loss", "cross_entropy", "gradient_norm", "tokens"} {
			got, _ := row.Number(key)
			from, _ := metrics(t, whole)[i].Number(key)
			if math.Abs(got-from) > 1e-5*math.Abs(from) {
				t.Errorf("step %d, %s: %v, but %v from one batch", row.Step(), key, got, from)
			}
		}
	}
}

// firstMoment is the norm of Adam's first moments after one step, which are 1 - beta1 of the clipped gradient.
func firstMoment(tr *training.Trainer) float64 {
	sum := 0.0
	for v := range tr.Store.IterVariables() {
		if strings.HasSuffix(v.Path(), "_1st_moment") {
			for _, m := range tensors.MustCopyFlatData[float32](v.MustValue()) {
				sum += float64(m) * float64(m)
			}
		}
	}
	return math.Sqrt(sum)
}

// Gradients above the limit are scaled down to it, those below it and all without a limit are left alone; the metrics have the norm before.
// Caught when planted: a limit that scales small gradients up; no clipping.
func TestClipping(t *testing.T) {
	var norm float64
	for _, limit := range []float64{0, 0.3, 1e6} {
		c := config(1)
		c.ClipNorm, c.Accumulate = limit, 0
		tr := plainTrainer(t, c, 8)
		run(t, tr)
		logged, _ := metrics(t, tr)[0].Number("gradient_norm")
		if limit == 0 {
			norm = logged
		}
		want := 0.1 * norm
		if limit > 0 {
			want = 0.1 * min(norm, limit)
		}
		if got := firstMoment(tr); math.Abs(got-want) > 1e-5*want || logged != norm || norm < 0.5 {
			t.Errorf("limit %v: first moments of norm %v, want %v; norm %v in the metrics, %v without limit", limit, got, want, logged, norm)
		}
	}
}

// The weights move by the scheduled rate: after one step of Adam, an entry with a gradient well above epsilon has moved by the rate itself.
// Caught when planted: the rate of the step before.
func TestLearningRateIsTheSchedules(t *testing.T) {
	for _, rate := range []float64{1e-3, 4e-3} {
		largest := 0.0
		c := config(2)
		c.ClipNorm, c.Accumulate = 0, 0
		c.Schedule = onlyFirst(rate)
		tr := plainTrainer(t, c, 8)
		tr.Config.Epsilon = 1e-12
		run(t, tr)
		still := c
		still.Schedule = onlyFirst(0)
		start := plainTrainer(t, still, 8)
		run(t, start)
		for name, after := range weights(tr) {
			for i, before := range weights(start)[name] {
				largest = max(largest, math.Abs(float64(after[i]-before)))
			}
		}
		if math.Abs(largest-rate) > 1e-3*rate {
			t.Errorf("rate %v moves weights by %v", rate, largest)
		}
	}
}

// onlyFirst is a schedule that is 0 from the second step on.
type onlyFirst float64

func (o onlyFirst) Rate(step, _ int64, _ int) float64 { return map[int64]float64{1: float64(o)}[step] }

func (onlyFirst) Validate() error { return nil }

func (o onlyFirst) Halved() (string, float64) { return "rate", float64(o) / 2 }

// Without dropout both passes of R-Drop agree, at random positions too, and learn what one pass learns; with it they do not agree, which costs.
// Validation, whose rows are all different, makes one pass. Caught when planted: validation with the divergence; one pass; positions of each
// pass; positions of another row.
func TestRDrop(t *testing.T) {
	c := config(4)
	c.ClipNorm, c.LogEvery, c.EvaluateEvery, c.LabelSmoothing, c.Ponder.Weight = 0, 1, 4, 0, 0
	once, twice := plainTrainer(t, c, 4), plainTrainer(t, c, 4)
	twice.Config.RDrop = 7
	twice.Positions = universal.Draws{Positions: universal.RandomOffset{Max: 100}}
	once.Positions = twice.Positions
	run(t, once)
	run(t, twice)
	want := weights(once)
	for name, got := range weights(twice) {
		for i := range got {
			if d := math.Abs(float64(got[i] - want[name][i])); d > 2e-6 {
				t.Errorf("%s[%d]: %v, but %v from one pass", name, i, got[i], want[name][i])
				break
			}
		}
	}
	c.RDrop = 7
	dropping := trainer(t, c)
	run(t, dropping)
	for _, row := range metrics(t, dropping) {
		loss, _ := row.Number("loss")
		entropy, _ := row.Number("cross_entropy")
		sequences, _ := row.Number("sequences")
		switch validation := row["split"] == "validation"; {
		case validation && math.Abs(loss-entropy) > 0.02: // one is a mean of batches, the other of tokens
			t.Errorf("validation: loss %v, cross entropy %v", loss, entropy)
		case !validation && !(loss > entropy+1e-3):
			t.Errorf("step %d: loss %v, cross entropy %v", row.Step(), loss, entropy)
		case !validation && sequences != 2*2*4:
			t.Errorf("step %d: %v sequences, want two batches of four, twice", row.Step(), sequences)
		}
	}
}
