package decoding

import (
	"errors"
	"math"
	"slices"
	"testing"

	"universal-transformer/internal/vocab"
)

// A log-probability that is not a number is an error of every search, at every place and in every row, also where it is padding's or comes
// after enough better ones. Caught when planted: no check of padding; one of the first row only; none of what is not better than the list.
func TestNaNAtEveryPlace(t *testing.T) {
	for name, m := range map[string]Method{"greedy": {}, "beam": {Beam: Beam{Width: 2}}, "sampling": {Sampling: Sampling{Temperature: 1, TopP: 1}}} {
		for _, first := range [][]float64{{-9, -5, -1, -2, -3, -4, -6}, slices.Repeat([]float64{math.Inf(-1)}, 7), {-9, -1, -2, -3, -4, -5, -6}} {
			for place := range first {
				rows := 0
				next := func(parents []int, tokens []vocab.ID) (logP [][]float64, err error) {
					rows += len(parents)
					for r := range parents {
						row := slices.Clone(first)
						if tokens != nil && r == len(parents)-1 {
							row[place] = math.NaN()
						}
						logP = append(logP, row)
					}
					return logP, nil
				}
				if _, err := m.Search(t.Context(), Request{Limits: []int{3}, Next: next}); !errors.Is(err, errNaN) && rows > 1 {
					t.Errorf("%s, NaN at %d of %v: %v", name, place, first, err)
				}
			}
		}
	}
}
