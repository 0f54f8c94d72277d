package decoding

import (
	"context"
	"fmt"
	"math/rand/v2"

	"universal-transformer/internal/seed"
)

// A Method is the way in which answers are searched for. The zero value is greedy decoding.
type Method struct {
	Beam     Beam     // beam search, unless it is zero
	Sampling Sampling // sampling, unless it is zero

	Seed  uint64 // of sampling, ignored otherwise
	First int64  // number of the first source of sampling, ignored otherwise: source i uses the stream of Seed and First + i, whatever batch it is in
}

// Validate returns an error that names the first invalid field and its value.
func (m Method) Validate() error {
	beam, sampling := m.Beam != Beam{}, m.Sampling != Sampling{}
	switch {
	case beam && sampling:
		return fmt.Errorf("both beam search and sampling are requested: choose one")
	case beam:
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
	case m.Beam != Beam{}:
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
	return greedy(ctx, r)
}
