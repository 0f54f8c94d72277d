package decoding

import (
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
	Temperature float64 // divides the logits; values below 1 favour probable tokens; positive and finite
	TopK        int     // 0 means all
	TopP        float64 // positive; 1 means all
}

// Validate returns an error that names the first invalid field and its value.
func (s Sampling) Validate() error {
	switch {
	case !(s.Temperature > 0 && !math.IsInf(s.Temperature, 1)):
		return fmt.Errorf("temperature is %v: it must be positive and finite; 1 is the model's own distribution", s.Temperature)
	case s.TopK < 0:
		return fmt.Errorf("top-k is %d: it must be the number of tokens to choose from, or 0 for all", s.TopK)
	case !(s.TopP > 0 && s.TopP <= 1):
		return fmt.Errorf("top-p is %v: it must be above 0 and at most 1, which means all tokens", s.TopP)
	}
	return nil
}

// Search draws an answer to each source, using one random number of streams[source] per token. The answer to a source depends on its
// stream and not on the other sources, up to rounding (see the package comment). LogProb is that of the unchanged model.
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
	order := ranking{logP: logP, p: make([]float64, len(logP)), ids: make([]vocab.ID, 0, len(logP)-1)}
	largest := slices.Max(logP[vocab.End:])
	for id := int(vocab.End); id < len(logP); id++ {
		order.ids = append(order.ids, vocab.ID(id))
		order.p[id] = math.Exp((logP[id] - largest) / s.Temperature)
	}
	if s.TopK > 0 && s.TopK < len(order.ids) {
		order.reach(float64(s.TopK), func(vocab.ID) float64 { return 1 })
	}
	probability := func(id vocab.ID) float64 { return order.p[id] }
	mass := order.reach(s.TopP*order.sum()*(1-rounding), probability)
	order.reach(math.Nextafter(u*mass, math.Inf(1)), probability)
	return order.ids[len(order.ids)-1]
}

// ranking is a set of tokens, which have a rank by falling log-probability; among equal ones, the smaller id is first.
type ranking struct {
	logP, p []float64 // of each id
	ids     []vocab.ID
}

func (r *ranking) before(a, b vocab.ID) bool {
	return r.logP[a] > r.logP[b] || r.logP[a] == r.logP[b] && a < b
}

func (r *ranking) sum() (sum float64) {
	for _, id := range r.ids {
		sum += r.p[id]
	}
	return sum
}

// reach keeps the smallest number of first tokens whose weights sum to at least a positive number, or all, and returns their sum. The last of
// them moves to the end of the list. It takes linear time on average, as quickselect does: sorting a vocabulary takes longer.
func (r *ranking) reach(least float64, weight func(vocab.ID) float64) (sum float64) {
	from, to := 0, len(r.ids) // the last token is among these, and the others before from are kept
	for to-from > 1 {
		middle := from + (to-from)/2
		r.ids[from], r.ids[middle] = r.ids[middle], r.ids[from]
		pivot, n, more := r.ids[from], from, 0.0 // ids[from+1:n+1] are before the pivot
		for i := from + 1; i < to; i++ {
			if id := r.ids[i]; r.before(id, pivot) {
				n, more = n+1, more+weight(id)
				r.ids[i], r.ids[n] = r.ids[n], r.ids[i]
			}
		}
		r.ids[from], r.ids[n] = r.ids[n], pivot // now they are ids[from:n]
		switch through := sum + more + weight(pivot); {
		case n > from && sum+more >= least:
			to = n
		case through >= least || n+1 == to:
			from, to, sum = n, n+1, sum+more
		default:
			from, sum = n+1, through
		}
	}
	r.ids = r.ids[:to]
	return sum + weight(r.ids[from])
}
