package training_test

import (
	"math"
	"testing"

	"universal-transformer/task"
	"universal-transformer/universal"
)

// losses trains on the same batch again and again with learning rate 0 and returns the loss of every update, so that only dropout
// changes it.
func losses(t *testing.T, steps int64, accumulate int, dropout universal.Dropout) (list []float64) {
	t.Helper()
	c := config(steps)
	c.Schedule, c.Accumulate, c.Average, c.LogEvery, c.EvaluateEvery, c.Ponder.Steps = unchecked(0), accumulate, 0, 1, 100, 0
	m := universal.EncoderDecoder{Config: tiny()}
	m.Dropout, m.Positions = dropout, nil
	same := func(int64) task.Example { return copying(9)(0) }
	tr := trainerOf(t, c, m, same, copyingPlan)
	run(t, tr)
	for _, row := range metrics(t, tr) {
		if row["split"] != "validation" {
			loss, _ := row.Number("loss")
			list = append(list, loss)
		}
	}
	return list
}

// Every batch has dropout masks of its own: those of its index in the run, whether its gradient is one of several that an update
// averages or not.
// Caught when planted: the same masks in every update; masks that depend on the update only.
func TestDropoutMasksOfEveryBatch(t *testing.T) {
	for i, loss := range losses(t, 4, 0, universal.Dropout{}) {
		if first := losses(t, 1, 0, universal.Dropout{})[0]; loss != first {
			t.Errorf("without dropout, update %d has loss %v, the first %v", i+1, loss, first)
		}
	}
	single, pairs := losses(t, 4, 0, tiny().Dropout), losses(t, 2, 2, tiny().Dropout)
	for i, loss := range single {
		for j, other := range single[:i] {
			if loss == other {
				t.Errorf("updates %d and %d have the same loss %v, so the same masks", j+1, i+1, loss)
			}
		}
	}
	for i, loss := range pairs {
		if want := (single[2*i] + single[2*i+1]) / 2; math.Abs(loss-want) > 1e-6*want {
			t.Errorf("two batches an update: update %d has loss %v, want %v", i+1, loss, want)
		}
	}
}
