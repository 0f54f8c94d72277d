package neuralgpu

import (
	"math"
	"testing"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine/enginetest"
	"universal-transformer/halting"
	"universal-transformer/universal"
)

// withoutCoordinates adds nothing to the state.
type withoutCoordinates struct{}

func (withoutCoordinates) At(int, int, int) float64 { return 0 }
func (withoutCoordinates) Validate() error          { return nil }

// transitionOnly is a step in which self-attention with its residual is the identity, and the transition has neither residual nor norm.
type transitionOnly struct{}

func (transitionOnly) Revise(s *universal.Step) *Node { return s.Transition(s.Input) }
func (transitionOnly) Validate() error                { return nil }

// gatedConvolution is the transition of the Neural GPU, on the slots of the source and one more.
type gatedConvolution struct {
	Model
	root *model.Scope // of the Neural GPU's weights
}

func (g gatedConvolution) Apply(_ *model.Scope, x *Node, c universal.TransitionContext) *Node {
	used := ConvertDType(c.Mask, x.DType())
	used = GrowLeft(SliceAxis(used, 1, AxisRange(0, used.Shape().Dimensions[1]-1)), 1, 1, 1) // also the slot after the last token
	return Mul(g.step(g.root.At("convolution"), x), InsertAxes(used, -1))
}
func (gatedConvolution) CacheWindows(int) []universal.Window {
	return []universal.Window{{Positions: 1, Channels: 1}}
}
func (gatedConvolution) Validate() error { return nil }

// Section 4 of the paper: a Universal Transformer whose self-attention is the identity, whose transition is the gated convolution, and that
// runs as many steps as its source has tokens, is a Neural GPU. Both compute with the same weights, on sources of different lengths.
// Caught when planted: one step less, a residual, coordinates, the slot after the last token left out.
func TestUniversalTransformerReducesToNeuralGPU(t *testing.T) {
	m := Model{SourceVocabulary: 7, TargetVocabulary: 5, Width: 7, Seed: 5, Precision: dtypes.Float64}
	store := model.NewStore()
	exec, err := model.NewExec(enginetest.Backend(t), store, func(scope *model.Scope, source *Node) []*Node {
		state, _ := m.run(scope, source)
		longer := GrowRight(source, 1, 1, 0)
		ut := universal.Encoder{Config: universal.Config{
			SourceVocabulary: 7, TargetVocabulary: 5, Width: 7, Heads: 1, Precision: dtypes.Float64, ScaleEmbedding: true,
			Halting: halting.Length{}, Coordinates: withoutCoordinates{}, Arrangement: transitionOnly{}, Transition: gatedConvolution{m, scope},
		}}
		if err := ut.Validate(); err != nil {
			panic(err)
		}
		return []*Node{state, ut.Forward(scope, universal.Inputs{Source: longer}, universal.Options{}).Encoder.State, m.embedding().Source(scope, longer)}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	out, err := exec.Call([][]int32{{3, 6, 2, 5, 4, 4, 2, 3}, {4, 2, 6, 3, 0, 0, 0, 0}, {5, 0, 0, 0, 0, 0, 0, 0}})
	if err != nil {
		t.Fatal(err)
	}
	neural, universal, initial := tensors.MustCopyFlatData[float64](out[0]), tensors.MustCopyFlatData[float64](out[1]), tensors.MustCopyFlatData[float64](out[2])
	changed := 0.0
	for i, want := range neural {
		if difference := math.Abs(universal[i] - want); !(difference <= 1e-12) {
			t.Fatalf("value %d: %v in the Universal Transformer, %v in the Neural GPU", i, universal[i], want)
		}
		changed = max(changed, math.Abs(want-initial[i]))
	}
	if changed < 0.5 {
		t.Errorf("the steps change no value by more than %v: the comparison says little", changed)
	}
	if len(neural) != 3*9*7 {
		t.Errorf("%d values, want those of 3 rows of 9 slots of 7 channels", len(neural))
	}
}
