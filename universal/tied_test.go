package universal_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"universal-transformer/halting"
	"universal-transformer/universal"
)

// "When running for a fixed number of steps, the Universal Transformer is equivalent to a multi-layer Transformer with tied parameters across
// its layers" (section 2 of the paper). In plain loops: three layers that read the same weights, before each of which the coordinates of its
// positions and of its number are added, where the Transformer adds those of positions once.
// Caught when planted: coordinates of the step before; positions in the first step only; a residual without coordinates.
func TestTiedStepsAreATransformerWithOneLayersWeights(t *testing.T) {
	source, target := []int32{3, 6, 2, 5}, []int32{2, 4, 1}
	for _, preNorm := range []bool{false, true} {
		c := small()
		c.PreNorm = preNorm
		x := newMachine(t, universal.EncoderDecoder{Config: c})
		got := x.run([][]int32{source}, [][]int32{target})
		p := plainTransformer{machine: x, heads: c.Heads, layers: 3, preNorm: preNorm, tied: true}
		for name, want := range p.outputs(source, target, c.Width) {
			if d := distance(got[name], slices.Concat(want...)); !(d <= 1e-12) {
				t.Errorf("pre-norm %v: %s is off by %.2g", preNorm, name, d)
			}
		}
	}
}

var layer = regexp.MustCompile(`\.layer_\d+\.`)

// The same of the program's Transformer: with the weights of a Universal Transformer in each of its layers, it computes the same. Untied
// layers have no coordinates of their number, and add positions once, so both models are compared
//
//   - without any coordinates, in three steps
//   - in one step with positions, where the learned vector of the step is zero
//
// on a batch of unequal lengths, for every model and both transitions. Other weights of the last layer alone change the result.
// Caught when planted: no positions in untied layers; all layers with the weights of the first; no output norm of untied layers.
func TestUntiedLayersWithTheSameWeightsAreTied(t *testing.T) {
	for _, transition := range []universal.Transition{universal.FeedForward{Filter: 5}, universal.SeparableConvolution{Filter: 5}} {
		for _, preNorm := range []bool{false, true} {
			for _, steps := range []int{1, 3} {
				c := small()
				c.Transition, c.PreNorm, c.Halting = transition, preNorm, halting.Fixed{Steps: steps}
				untied := c
				untied.UntiedLayers = true
				if steps == 1 {
					c.LearnedSteps = true
				} else {
					c.Coordinates, untied.Coordinates = withoutCoordinates{}, withoutCoordinates{}
				}
				name := fmt.Sprintf("%T, pre-norm %v, %d steps", transition, preNorm, steps)
				sameWhenTied(t, name, universal.EncoderDecoder{Config: c}, universal.EncoderDecoder{Config: untied}, steps)
				sameWhenTied(t, name, universal.Encoder{Config: c}, universal.Encoder{Config: untied}, steps)
				sameWhenTied(t, name, universal.Decoder{Config: c}, universal.Decoder{Config: untied}, steps)
			}
		}
	}
}

// sameWhenTied compares a model with one of untied layers that get its weights.
func sameWhenTied(t *testing.T, name string, tied, untied universal.Model, steps int) {
	t.Helper()
	source, target := [][]int32{{3, 6, 2, 5}, {4, 2, 0, 0}, {5, 3, 6, 0}}, [][]int32{{2, 4, 1}, {3, 3, 4}, {4, 1, 0}}
	x, layers := newMachine(t, tied), newMachine(t, untied)
	for v := range x.store.IterVariables() {
		if v.Name() == "step" {
			set(x, universal.Name(v.Path()), make([]float64, v.Shape().Size()))
		}
	}
	last := map[string][]float64{} // weights of its own
	for v := range layers.store.IterVariables() {
		name := universal.Name(v.Path())
		if strings.Contains(name, fmt.Sprintf(".layer_%d.", steps)) {
			last[name] = values(layers, name)
		}
		set(layers, name, values(x, layer.ReplaceAllString(name, ".")))
	}
	got, want := layers.run(source, target), x.run(source, target)
	for part := range want {
		if d := distance(got[part], want[part]); !(d <= 1e-12) {
			t.Errorf("%T, %s: %s is off by %.2g", tied, name, part, d)
		}
	}
	for name, own := range last {
		set(layers, name, own)
	}
	if d := distance(layers.run(source, target)["logits"], want["logits"]); !(d >= 0.01) {
		t.Errorf("%T, %s: other weights of the last layer change the logits by %.2g: the comparison says little", tied, name, d)
	}
}
