package decoding

import (
	"context"
	"fmt"
	"math/rand/v2"

	"universal-transformer/internal/seed"
)

// A Method is the way in which answers are searched for. The zero value is greedy decoding.
type Method struct {
	Beam     Beam     // beam search if its Width is not 0
	Sampling Sampling // sampling if its Temperature is not 0

	Seed  uint64 // of sampling
	First int64  // number of the first source: source i uses the stream of Seed and First + i, whatever batch it is in
}

// Validate returns an error that names the first invalid field and its value.
func (m Method) Validate() error {
	sampling := m.Sampling != Sampling{}
	switch {
	case m.Beam.Width != 0 && sampling:
		return fmt.Errorf("both beam search and sampling are requested: choose one")
	case m.Beam.Width != 0:
		return m.Beam.Validate()
	case sampling:
		return m.Sampling.Validate()
	}
	return nil
}

// Search returns the best answer to each source.
func (m Method) Search(ctx context.Context, r Request) ([]Hypothesis, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	switch {
	case m.Beam.Width != 0:
		found, err := m.Beam.Search(ctx, r)
		best := make([]Hypothesis, len(found))
		for i := range found {
			best[i] = found[i][0]
			best[i].Others = found[i][1:]
		}
		return best, err
	case m.Sampling != Sampling{}:
		streams := make([]*rand.Rand, len(r.Limits))
		for i := range streams {
			number := m.First + int64(i)
			if r.Number != nil {
				number = r.Number(i)
			}
			streams[i] = seed.Rand(m.Seed, "decoding/sample", number)
		}
		return m.Sampling.Search(ctx, r, streams)
	}
	return Greedy(ctx, r)
}
