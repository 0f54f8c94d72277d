package universal_test

import (
	"math"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"universal-transformer/universal"
)

// A model with factored embeddings equals one whose tables [V, D] are the products of its tables [V, E] and its projection [E, D], all
// other weights being equal. Caught when planted: a readout by the table alone of the width E = D; the projection applied twice.
func TestFactoredEmbeddings(t *testing.T) {
	for name, change := range map[string]func(*universal.Config){
		"separate":          func(c *universal.Config) {},
		"separate and tied": func(c *universal.Config) { c.TiedReadout = true },
		"shared, tied, wide": func(c *universal.Config) {
			c.SharedEmbedding, c.TiedReadout, c.TargetVocabulary, c.EmbeddingWidth = true, true, 7, 6
		},
		"scaled": func(c *universal.Config) { c.ScaleEmbedding = true },
	} {
		c := small()
		c.EmbeddingWidth = 4
		change(&c)
		factored := newMachine(t, universal.EncoderDecoder{Config: c})
		e, d := c.EmbeddingWidth, c.Width
		c.EmbeddingWidth = 0
		plain := newMachine(t, universal.EncoderDecoder{Config: c})
		projection := values(factored, "embedding.projection")
		for _, side := range []string{"source", "target"} {
			if c.SharedEmbedding && side == "target" {
				continue
			}
			table := values(factored, "embedding."+side)
			product := make([]float64, len(table)/e*d)
			for i := range product {
				for k := range e {
					product[i] += table[i/d*e+k] * projection[k*d+i%d]
				}
			}
			path := universal.Path("embedding." + side)
			if err := plain.store.GetVariable(path).SetValue(tensorOf(product, dtypes.Float64, []int{len(table) / e, d})); err != nil {
				t.Fatal(err)
			}
		}
		source, target := [][]int32{{2, 3, 4, 0}, {4, 1, 2, 3}}, [][]int32{{4, 2, 1}, {3, 4, 0}}
		got, want := factored.run(source, target), plain.run(source, target)
		if off := distance(got["logits"], want["logits"]); off > 1e-12 {
			t.Errorf("%s: logits differ by %v", name, off)
		}
	}
}

// Factored embeddings start with the deviation 1/sqrt(D) of those that are not. Caught when planted: a projection of deviation 1/sqrt(E).
func TestFactoredEmbeddingsStartAsLarge(t *testing.T) {
	c := small()
	c.SourceVocabulary, c.Width, c.Heads, c.EmbeddingWidth = 300, 60, 1, 20
	x := newMachineAsInitialised(t, universal.EncoderDecoder{Config: c})
	table, projection := values(x, "embedding.source"), values(x, "embedding.projection")
	square := 0.0
	for v := range c.SourceVocabulary {
		for j := range c.Width {
			entry := 0.0
			for k := range c.EmbeddingWidth {
				entry += table[v*c.EmbeddingWidth+k] * projection[k*c.Width+j]
			}
			square += entry * entry
		}
	}
	// The mean square over tables and projections is 1/D; its own deviation is about sqrt(2/(V E) + 2/(E D)) = 0.045 of that.
	if ratio := square / float64(c.SourceVocabulary); math.Abs(ratio-1) > 0.25 {
		t.Errorf("the mean square of an embedding is %v, want about 1", ratio)
	}
}
