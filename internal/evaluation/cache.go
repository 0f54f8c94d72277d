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
	Theta  float64 `json:"theta"`  // 0: all earlier tokens count equally; at most 1e6
	Lambda float64 `json:"lambda"` // share of the cache, at least 0 and below 1
}

// maxTheta is far above any useful theta, and so small that its product with a product of two states is finite.
const maxTheta = 1e6

// Validate returns an error that names the first field out of range.
func (c Cache) Validate() error {
	switch {
	case !(c.Theta >= 0 && c.Theta <= maxTheta):
		return fmt.Errorf("theta is %v: it must be from 0 to %v", c.Theta, maxTheta)
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
	tokens   []vocab.ID
	first    []int       // for each token, the index of its first occurrence
	logProbs []float64   // of the tokens by the model
	best     []vocab.ID  // the model's most probable token at each position
	bestProb []float64   // its probability
	similar  [][]float32 // row t: h_t . h_i for all i < t
	model    [][]float32 // row t: p_model at t of the tokens x_i, i <= t
}

// setFirst fills in first.
func (h *history) setFirst() {
	at := map[vocab.ID]int{}
	for i, id := range h.tokens {
		if _, ok := at[id]; !ok {
			at[id] = i
		}
		h.first = append(h.first, at[id])
	}
}

// shares returns p_cache with a theta. Row t: at t, of the tokens x_i, i <= t.
func (h history) shares(theta float64) [][]float32 {
	rows, sums := make([][]float32, len(h.tokens)), make([]float64, len(h.tokens))
	for t := range rows {
		largest := math.Inf(-1)
		for _, s := range h.similar[t] {
			largest = max(largest, theta*float64(s))
		}
		clear(sums)
		all := 0.0
		for i, s := range h.similar[t] {
			share := math.Exp(theta*float64(s) - largest)
			sums[h.first[i]] += share
			all += share
		}
		rows[t] = make([]float32, t+1)
		for i := range rows[t] {
			if h.first[i] < t { // otherwise the token does not occur before
				rows[t][i] = float32(sums[h.first[i]] / all)
			}
		}
	}
	return rows
}

// mixed returns the scores of the mixture of the model with p_cache.
func (h history) mixed(shares [][]float32, lambda float64) task.Scored {
	s := task.Scored{LogProbs: make([]float64, len(h.tokens)), Best: make([]vocab.ID, len(h.tokens))}
	for t := range h.tokens {
		s.LogProbs[t], s.Best[t] = h.logProbs[t], h.best[t]
		if t == 0 || lambda == 0 {
			continue
		}
		s.LogProbs[t] = math.Log((1-lambda)*math.Exp(h.logProbs[t]) + lambda*float64(shares[t][t]))
		largest := (1 - lambda) * h.bestProb[t]
		for i, earlier := range h.tokens[:t] { // tokens that do not occur before have no share of the cache, and best is the first of them
			if p := (1-lambda)*float64(h.model[t][i]) + lambda*float64(shares[t][i]); p > largest {
				s.Best[t], largest = earlier, p
			}
		}
	}
	return s
}

// scores returns the scores of examples with the cache.
func (c Cache) scores(histories []history) []task.Scored {
	scored := make([]task.Scored, len(histories))
	for i, h := range histories {
		scored[i] = h.mixed(h.shares(c.Theta), c.Lambda)
	}
	return scored
}
