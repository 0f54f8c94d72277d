package decoding_test

import (
	"math"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"universal-transformer/internal/vocab"
	"universal-transformer/universal"
)

// Among longer sources and prompts, which are padded further, read in other pieces or attended to in blocks, a source has the log-probabilities
// that it has alone, up to the rounding of the package comment. Caught when planted: padding that is attended to; a prompt that is read to
// the length of the longest.
func TestBatchesOfOtherLengths(t *testing.T) {
	config := models(dtypes.Float32)["halting.Fixed, universal.FeedForward, pre-norm false"]
	config.Width, config.Heads, config.Transition = 32, 2, universal.FeedForward{Filter: 96}
	for _, language := range []bool{false, true} {
		d := decoder(t, config, language)
		defer d.Close()
		for _, n := range [][2]int{{17, 20}, {300, 513}, {500, 600}} {
			sources := [][]vocab.ID{repeated(n[0], 1), repeated(n[1], 2)}
			alone, _ := start(t, d, sources[:1])
			want, err := alone.Next([]int{0}, nil)
			if err != nil {
				t.Fatal(err)
			}
			kept := append([]float64(nil), want[0]...)
			both, _ := start(t, d, sources)
			got, err := both.Next([]int{0, 1}, nil)
			if err != nil {
				t.Fatal(err)
			}
			for id, p := range got[0] {
				if d := math.Abs(p - kept[id]); !(d <= 4e-6) && !(math.IsInf(p, -1) && math.IsInf(kept[id], -1)) {
					t.Errorf("language model %v, lengths %v, token %d: %.8g alone, %.8g together", language, n, id, kept[id], p)
				}
			}
		}
	}
}
