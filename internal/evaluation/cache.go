package evaluation

import (
	"fmt"
	"math"

	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// A Cache is a continuous cache (Grave, Joulin and Usunier, "Improving Neural Language Models with a Continuous Cache", 2016, equations 2 to
// 4). It mixes the next-token distribution of a language model with one over the earlier tokens of the same example. State h_i is the one
// that token x_i was predicted from:
//
//	p(w) = (1 - Lambda) p_model(w) + Lambda p_cache(w)
//	p_cache(w) = sum over i < t with x_i = w of exp(Theta h_t . h_i) / sum over i < t of exp(Theta h_t . h_i)
//
// The first token of an example has no cache.
type Cache struct {
	Theta  float64 `json:"theta"`  // 0: all earlier tokens count equally
	Lambda float64 `json:"lambda"` // share of the cache, at least 0 and below 1
}

// Validate returns an error that names the first field out of range.
func (c Cache) Validate() error {
	switch {
	case !(c.Theta >= 0) || math.IsInf(c.Theta, 1):
		return fmt.Errorf("theta is %v: it must be at least 0", c.Theta)
	case !(c.Lambda >= 0 && c.Lambda < 1):
		return fmt.Errorf("lambda is %v: it must be a share, at least 0 and below 1", c.Lambda)
	}
	return nil
}

// String returns "continuous cache, theta 0.1, lambda 0.3".
func (c Cache) String() string {
	return fmt.Sprintf("continuous cache, theta %v, lambda %v", c.Theta, c.Lambda)
}

// A history is what a cache needs to know of an example with N tokens.
type history struct {
	tokens      []vocab.ID
	logProbs    []float64   // of the tokens by the model
	best        []vocab.ID  // the model's most probable token at each position
	bestLogProb []float64   // its log-probability
	similar     [][]float32 // row t: h_t . h_i for all i < t
	logits      [][]float32 // row t: the model's logits at t of the tokens i <= t
}

// mixed returns the scores of the mixture.
func (c Cache) mixed(h history) task.Scored {
	s := task.Scored{LogProbs: make([]float64, len(h.tokens)), Best: make([]vocab.ID, len(h.tokens))}
	for t := range h.tokens {
		s.LogProbs[t], s.Best[t] = h.logProbs[t], h.best[t]
		if t > 0 && c.Lambda > 0 {
			s.LogProbs[t], s.Best[t] = c.mix(h, t)
		}
	}
	return s
}

// mix returns the log-probability of token t, and the most probable token.
func (c Cache) mix(h history, t int) (logProb float64, best vocab.ID) {
	cached := c.shares(h, t)
	mixture := func(id vocab.ID, logModel float64) float64 {
		return (1-c.Lambda)*math.Exp(logModel) + c.Lambda*cached[id]
	}
	best = h.best[t]
	largest := mixture(best, h.bestLogProb[t])
	for i, id := range h.tokens[:t] { // any other token has a smaller probability than best by the model, and none by the cache
		if p := mixture(id, h.logProbs[t]+float64(h.logits[t][i])-float64(h.logits[t][t])); p > largest {
			best, largest = id, p
		}
	}
	return math.Log(mixture(h.tokens[t], h.logProbs[t])), best
}

// shares returns p_cache at position t of all tokens before it.
func (c Cache) shares(h history, t int) map[vocab.ID]float64 {
	largest := math.Inf(-1)
	for _, s := range h.similar[t] {
		largest = max(largest, c.Theta*float64(s))
	}
	shares, sum := make(map[vocab.ID]float64, t), 0.0
	for i, s := range h.similar[t] {
		share := math.Exp(c.Theta*float64(s) - largest)
		shares[h.tokens[i]] += share
		sum += share
	}
	for id := range shares {
		shares[id] /= sum
	}
	return shares
}
