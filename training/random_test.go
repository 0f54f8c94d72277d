package training_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"universal-transformer/internal/seed"
	"universal-transformer/universal"
)

// firsts records the first random number of each stream that positions are drawn from: one stream for the rows of a batch.
type firsts struct {
	universal.RandomOffset
	streams *[]uint64
	last    *rand.Rand
}

func (f *firsts) Draw(rng *rand.Rand, length int) []int32 {
	if rng != f.last {
		f.last = rng
		*f.streams = append(*f.streams, rng.Uint64())
	}
	return f.RandomOffset.Draw(rng, length)
}

// The random streams of batches are numbered through the run, from 0, and those of validation by the batch: published losses depend on
// it. Two batches an update, three updates, and validations after the second and the third.
// Caught when planted: numbers that start at another update; streams of validation that depend on the update.
func TestStreamsOfBatches(t *testing.T) {
	c := config(3)
	c.EvaluateEvery, c.CheckpointEvery = 2, 3
	tr := trainer(t, c)
	var got, want []uint64
	tr.Positions = universal.Draws{Positions: &firsts{RandomOffset: universal.RandomOffset{Max: 12}, streams: &got}}
	run(t, tr)
	add := func(purpose string, index int) {
		want = append(want, seed.Rand(c.Seed, purpose, int64(index)).Uint64())
	}
	validation := func() {
		for i := range tr.Validation {
			add("validation positions", i)
		}
	}
	for i := range 4 {
		add("positions", i)
	}
	validation()
	add("positions", 4)
	add("positions", 5)
	validation()
	if !slices.Equal(got, want) {
		t.Errorf("%d streams are\n%x, want\n%x", len(got), got, want)
	}
}
