package decoding_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"universal-transformer/decoding"
	"universal-transformer/internal/vocab"
)

// Where graphs are to be few, rows that are not needed any more stay, and prompts are read in other pieces; where tensors are not plain
// memory, rows are never copied in place: answers are the same.
// Caught when planted: a row copied into the place of another that goes on; a row not copied.
func TestFewGraphs(t *testing.T) {
	config := models(dtypes.Float64)["halting.Frozen, universal.FeedForward, pre-norm true"]
	for name, language := range map[string]bool{"sources": false, "prompts": true} {
		t.Run(name, func(t *testing.T) {
			sources := [][]vocab.ID{repeated(11, 2), repeated(20, 3), repeated(13, 1), repeated(12, 4), repeated(17, 2)}
			if !language {
				sources[1] = repeated(3, 2)
			}
			answers := func(set func(*decoding.Decoder)) (found [][]decoding.Hypothesis, rows []int) {
				d := decoder(t, config, language)
				set(d)
				c, _ := start(t, d, sources)
				next := func(parents []int, tokens []vocab.ID) ([][]float64, error) {
					logP, err := c.Next(parents, tokens)
					rows = append(rows, c.Rows())
					return logP, err
				}
				limits := []int{2, 9, 4, 1, 6} // so that rows become fewer
				beams, err := decoding.Beam{Width: 2, Alpha: 0.6}.Search(context.Background(), decoding.Request{Limits: limits, Next: next, Rest: c.Rest()})
				if err != nil {
					t.Fatal(err)
				}
				return beams, rows
			}
			want, wide := answers(func(*decoding.Decoder) {})
			got, few := answers((*decoding.Decoder).FewGraphs)
			elsewhere, _ := answers((*decoding.Decoder).NotShared)
			for how, got := range map[string][][]decoding.Hypothesis{"few graphs": got, "memory that is not shared": elsewhere} {
				if len(got) != len(want) {
					t.Fatalf("%d answers with %s, want %d", len(got), how, len(want))
				}
				for i := range want {
					for j := range want[i] {
						if !slices.Equal(got[i][j].Tokens, want[i][j].Tokens) || math.Abs(got[i][j].LogProb-want[i][j].LogProb) > 1e-9 {
							t.Errorf("source %d: %v with %s, %v without", i, got[i][j], how, want[i][j])
						}
					}
				}
			}
			if last := len(wide) - 1; wide[last] >= slices.Max(wide) {
				t.Errorf("rows do not become fewer: %v", wide)
			}
			if !slices.IsSorted(few) {
				t.Errorf("rows become fewer, which takes another graph: %v", few)
			}
		})
	}
}

// Pieces of prompts are powers of two, or of eight.
func TestChunks(t *testing.T) {
	config := models(dtypes.Float32)["halting.Frozen, universal.FeedForward, pre-norm true"]
	many, few := decoder(t, config, true), decoder(t, config, true)
	few.FewGraphs()
	for tokens, want := range map[int][2][]int{
		0: {}, 1: {{1}, {1}}, 3: {{2, 1}, {1, 1, 1}}, 7: {{4, 2, 1}, {1, 1, 1, 1, 1, 1, 1}}, 8: {{8}, {8}}, 10: {{8, 2}, {8, 1, 1}},
		63: {{32, 16, 8, 4, 2, 1}, slices.Concat(slices.Repeat([]int{8}, 7), slices.Repeat([]int{1}, 7))}, 64: {{64}, {64}}, 200: {{64, 64, 64, 8}, {64, 64, 64, 8}},
	} {
		if got := [2][]int{many.Chunks(tokens), few.Chunks(tokens)}; !slices.Equal(got[0], want[0]) || !slices.Equal(got[1], want[1]) {
			t.Errorf("%d tokens are read in pieces of %v, want %v", tokens, got, want)
		}
	}
}
