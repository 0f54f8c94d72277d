package decoding

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"universal-transformer/internal/vocab"
)

// The best candidates are those that a stable sort of all puts first, ties and infinities included.
// Caught when planted: equal candidates in reverse.
func TestBest(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for limit := range 9 {
		var all, kept []candidate
		for i := range 300 {
			c := candidate{i % 4, vocab.ID(i), -float64(rng.IntN(40))}
			all = append(all, c)
			if limit > 0 {
				kept = insertBest(kept, limit, c)
			}
		}
		slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.logProb, a.logProb) })
		if !slices.Equal(kept, all[:limit]) {
			t.Errorf("the best %d are %v, want %v", limit, kept, all[:limit])
		}
	}
}
