package decoding

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"universal-transformer/internal/vocab"
)

// Sampling draws each token from the model's distribution after these changes, in this order: the temperature is applied, only the TopK
// most probable tokens are kept, and of those the smallest set with at least TopP of the remaining probability.
type Sampling struct {
	Temperature float64 // divides the logits; values below 1 favour probable tokens; positive
	TopK        int     // 0 means all
	TopP        float64 // positive; 1 means all
}

// Validate returns an error that names the first invalid field and its value.
func (s Sampling) Validate() error {
	switch {
	case !(s.Temperature > 0 && !math.IsInf(s.Temperature, 1)):
		return fmt.Errorf("temperature is %v: it must be positive; 1 is the model's own distribution", s.Temperature)
	case s.TopK < 0:
		return fmt.Errorf("top-k is %d: it must be the number of tokens to choose from, or 0 for all", s.TopK)
	case !(s.TopP > 0 && s.TopP <= 1):
		return fmt.Errorf("top-p is %v: it must be above 0 and at most 1, which means all tokens", s.TopP)
	}
	return nil
}

// Search draws an answer to each source, using one random number of streams[source] per token. The answer to a source depends on its
// stream only, not on the other sources. LogProb is that of the unchanged model.
func (s Sampling) Search(ctx context.Context, r Request, streams []*rand.Rand) ([]Hypothesis, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	return r.single(ctx, func(source int, logP []float64) (vocab.ID, error) {
		if slices.ContainsFunc(logP, math.IsNaN) {
			return 0, errNaN
		}
		return s.draw(logP, streams[source].Float64()), nil
	})
}

// rounding is above the relative error of sums of probabilities whose logits are float32.
const rounding = 1e-6

// draw returns the token at which the cumulative probability, largest first, exceeds u, 0 <= u < 1. Never padding.
func (s Sampling) draw(logP []float64, u float64) vocab.ID {
	order := make([]vocab.ID, 0, len(logP)-1)
	for id := int(vocab.End); id < len(logP); id++ {
		order = append(order, vocab.ID(id))
	}
	slices.SortStableFunc(order, func(a, b vocab.ID) int { return cmp.Compare(logP[b], logP[a]) })
	if s.TopK > 0 {
		order = order[:min(s.TopK, len(order))]
	}
	p, sum := make([]float64, len(order)), 0.0
	for i, id := range order {
		p[i] = math.Exp((logP[id] - logP[order[0]]) / s.Temperature)
		sum += p[i]
	}
	size, mass := 0, 0.0 // of the smallest set, which is not more than all, as TopP is at most 1
	for mass < s.TopP*sum*(1-rounding) {
		mass += p[size]
		size++
	}
	u *= mass
	for i := range size {
		if u -= p[i]; u < 0 {
			return order[i]
		}
	}
	return order[0] // reached only by rounding
}
