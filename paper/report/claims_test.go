package report

import (
	"slices"
	"testing"

	"universal-transformer/paper/measure"
)

// Attention is measured against uniform attention, in steps that at least a tenth of the questions run. Caught when planted: shares as they are;
// a last step of few questions.
func TestSharpening(t *testing.T) {
	share := func(stories int, share, uniform float64) measure.AttentionShare {
		return measure.AttentionShare{Stories: stories, Share: share, Uniform: uniform}
	}
	for _, c := range []struct {
		attention []measure.AttentionShare
		ratios    []float64
		want      bool
	}{
		{[]measure.AttentionShare{share(1000, .5, .25), share(1000, .75, .25)}, []float64{2, 3}, true},
		{[]measure.AttentionShare{share(1000, .5, .25), share(1000, .75, .25), share(1000, .69, .25)}, []float64{2, 3, .69 / .25}, true},
		{[]measure.AttentionShare{share(1000, .5, .25), share(1000, .75, .25), share(1000, .66, .25)}, []float64{2, 3, .66 / .25}, false},
		{[]measure.AttentionShare{share(1000, .5, .25), share(100, .5, .125), share(99, .125, .125)}, []float64{2, 4}, true},
		{[]measure.AttentionShare{share(1000, .5, .25), share(1000, .5, .25)}, []float64{2, 2}, false},
	} {
		if got := relative(c.attention); !slices.Equal(got, c.ratios) || sharpens(got) != c.want {
			t.Errorf("%v: %v, %v; want %v, %v", c.attention, got, sharpens(got), c.ratios, c.want)
		}
	}
}
