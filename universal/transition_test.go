package universal_test

import (
	"math/rand/v2"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine/enginetest"
	"universal-transformer/universal"
)

// What stands at one position reaches the positions that widths say, and no others: for each convolution w/2 before it and (w-1)/2
// behind it, or, where nobody looks forward, w-1 behind it.
// Caught when planted: an even kernel that looks the other way; a causal convolution that looks forward.
func TestReachOfConvolutions(t *testing.T) {
	const length, width, at = 23, 3, 11
	for _, c := range []struct {
		widths        [2]int
		causal        bool
		before, after int
	}{
		{before: 3, after: 3}, {causal: true, after: 6},
		{widths: [2]int{3, 5}, before: 3, after: 3},
		{widths: [2]int{3, 1}, before: 1, after: 1}, {widths: [2]int{3, 1}, causal: true, after: 2},
		{widths: [2]int{1, 1}}, {widths: [2]int{1, 1}, causal: true},
		{widths: [2]int{1, 4}, before: 2, after: 1}, {widths: [2]int{1, 4}, causal: true, after: 3},
	} {
		exec, err := model.NewExec(enginetest.Backend(t), model.NewStore(), func(scope *model.Scope, x *Node) *Node {
			in := universal.TransitionContext{Mask: OnesLike(Squeeze(Slice(x, AxisRange(), AxisRange(), AxisElem(0)), -1)), Causal: c.causal, Weights: universal.Weights{Seed: 4}}
			return universal.SeparableConvolution{Filter: 64, Widths: c.widths}.Apply(scope, x, in)
		})
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(1, 2))
		x := make([]float32, length*width)
		for i := range x {
			x[i] = float32(rng.NormFloat64())
		}
		y := func() []float32 {
			out, err := exec.Exec(tensors.FromFlatDataAndDimensions(x, 1, length, width))
			if err != nil {
				t.Fatal(err)
			}
			return tensors.MustCopyFlatData[float32](out[0])
		}
		was := y()
		for i := range width {
			x[at*width+i] += 3
		}
		for i, v := range y() {
			p := i / width
			if reached := p >= at-c.before && p <= at+c.after; reached != (v != was[i]) {
				t.Errorf("widths %v, causal %v: position %d reaches position %d: %v, want %v", c.widths, c.causal, at, p, v != was[i], reached)
			}
		}
	}
}
