package sweep

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Of 2,000 sweeps whose cells are all alike, at most .05 have a p below .05 by the binomial test: more than 129 (.05 * 2000 + 3 standard deviations)
// have a probability of .002. Caught when planted: a correction for the number of cells, with which 159 of the sweeps with 8 cells have one.
func TestEqualCells(t *testing.T) {
	const sweeps, most = 2000, 129
	for _, c := range []struct{ cells, seeds int }{{2, 5}, {8, 5}, {16, 10}} {
		rng := rand.New(rand.NewPCG(7, uint64(c.cells)))
		found := 0
		for range sweeps {
			list := make([]Summary, c.cells)
			for i := range list {
				values := make([]float64, c.seeds)
				for k := range values {
					values[k] = 1 + 0.1*rng.NormFloat64()
				}
				list[i].Validation = spread("", values)
			}
			markBest(list)
			for _, s := range list {
				if s.P != nil && *s.P < 0.05 {
					found++
					break
				}
			}
		}
		if found > most {
			t.Errorf("%d of %d sweeps with %d cells alike and %d seeds have a p below .05, want at most %d", found, sweeps, c.cells, c.seeds, most)
		}
	}
}

// Three cells of two seeds each, by hand: all pairs have p before correction, and the smallest of the three counts threefold although only two are
// pairs with the best cell. The cells have deviation d = sqrt(.0002) and means 0, .1 and .2 above 1; pairs have t = .1/d and .2/d and 2 degrees of
// freedom, where p = 1 - t/sqrt(2+t*t). Caught when planted: a correction for pairs with the best cell only.
func TestCorrectionForAllPairs(t *testing.T) {
	list := make([]Summary, 3)
	for i, mean := range []float64{1.2, 1, 1.1} {
		list[i].Validation = spread("", []float64{mean - 0.01, mean + 0.01})
	}
	markBest(list)
	p := func(difference float64) float64 {
		t := difference / math.Sqrt(0.0002)
		return 1 - t/math.Sqrt(2+t*t)
	}
	if list[1].P != nil || !list[1].Best || math.Abs(*list[0].P-3*p(0.2)) > 1e-9 || math.Abs(*list[2].P-2*p(0.1)) > 1e-9 {
		t.Errorf("p %v and %v, want %v and %v", *list[0].P, *list[2].P, 3*p(0.2), 2*p(0.1))
	}
}
