package universal_test

import (
	"testing"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine/enginetest"
	"universal-transformer/halting"
	"universal-transformer/universal"
)

// Convolutions of one position are a transition like another: they can be computed for selected positions alone, and decoding keeps no
// window for them. Caught when planted: padding masked where there are no neighbours; a window of no position.
func TestConvolutionsOfOnePosition(t *testing.T) {
	c := small()
	c.Halting = halting.Frozen{ACT: halting.ACT{MaxSteps: 4, Epsilon: 0.05}}
	c.Transition = universal.SeparableConvolution{Filter: 5, Widths: [2]int{1, 1}}
	x := newMachine(t, universal.EncoderDecoder{Config: c})
	source := rectangle([][]int32{{3, 6, 2, 5}, {4}, {2, 5, 5}}, 4)
	target := rectangle([][]int32{{2, 4}, {3, 3, 4, 2}, {4}}, 4)
	all := measure(t, x, stackCapacities{}, source, target)
	fit := stackCapacities{fitting(all.demand["encoder.demand"], 1, 3, 4), fitting(all.demand["decoder.demand"], 1, 3, 4)}
	few := measure(t, x, fit, source, target)
	if few.overflow || len(fit.encoder) < 2 || fit.encoder[1].Positions > 8 {
		t.Fatalf("overflow %v, capacities %v: the case shows nothing", few.overflow, fit)
	}
	for name, want := range all.values {
		if d := distance(few.values[name], want); !(d <= 1e-9) {
			t.Errorf("%s is off by %.2g", name, d)
		}
	}
	m := x.model.(universal.EncoderDecoder)
	if got := len(m.CacheShapes(2, 16, 4)); got != 8 {
		t.Errorf("%d tensors in the cache of 4 steps, want keys and values", got)
	}
	exec, err := model.NewExec(enginetest.Backend(t), x.store, func(scope *model.Scope, source, target *Node) []*Node {
		cache := &universal.Cache{Length: Scalar(source.Graph(), dtypes.Int32, 0), Source: m.CacheSource(scope, source)}
		for _, s := range m.CacheShapes(3, 16, 4) {
			cache.Tensors = append(cache.Tensors, Zeros(source.Graph(), s))
		}
		return []*Node{
			m.DecodeStep(scope, ShiftWithScalar(target, 1, ShiftDirRight, 1, 0), cache),
			Squeeze(SliceAxis(m.Forward(scope, universal.Inputs{Source: source, Target: target}, universal.Options{}).Logits, 1, AxisElem(-1)), 1),
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	out, err := exec.Call(source, [][]int32{{2, 4, 3, 1}, {3, 3, 4, 2}, {4, 2, 2, 1}})
	if err != nil {
		t.Fatal(err)
	}
	if d := distance(flat(out[0]), flat(out[1])); !(d <= 1e-12) {
		t.Errorf("decoding is off by %.2g", d)
	}
}
