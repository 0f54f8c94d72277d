package neuralgpu

import (
	"math"
	"math/rand/v2"
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
// runs as many steps as its source has tokens, is a Neural GPU. Both compute with the same weights, at every length from 1 to 12, on batches
// of random sources of different lengths: the state after the last step, and the logits of every slot.
// Caught when planted: one step less, a residual, coordinates, the slot after the last token left out, logits of other weights or of the next slot.
func TestUniversalTransformerReducesToNeuralGPU(t *testing.T) {
	const longest, rows = 12, 6
	m := Model{SourceVocabulary: 7, TargetVocabulary: 5, Width: 7, Seed: 5, Precision: dtypes.Float64}
	exec, err := model.NewExec(enginetest.Backend(t), model.NewStore(), func(scope *model.Scope, source *Node) []*Node {
		state, _ := m.run(scope, source)
		longer := GrowRight(source, 1, 1, 0)
		ut := universal.Encoder{Pool: universal.Each, Config: universal.Config{
			SourceVocabulary: 7, TargetVocabulary: 5, Width: 7, Heads: 1, Precision: dtypes.Float64, ScaleEmbedding: true,
			Halting: halting.Length{}, Coordinates: withoutCoordinates{}, Arrangement: transitionOnly{}, Transition: gatedConvolution{m, scope},
		}}
		if err := ut.Validate(); err != nil {
			panic(err)
		}
		neural := m.Forward(scope, universal.Inputs{Source: source, Target: longer}, universal.Options{})
		reduced := ut.Forward(scope, universal.Inputs{Source: longer}, universal.Options{})
		return []*Node{state, reduced.Encoder.State, m.embedding().Source(scope, longer), neural.Logits, reduced.Logits}
	})
	if err != nil {
		t.Fatal(err)
	}
	exec.SetMaxCache(-1)
	defer exec.Finalize()
	rng := rand.New(rand.NewPCG(4, 0))
	for length := 1; length <= longest; length++ {
		sources := make([][]int32, rows)
		for i := range sources {
			sources[i] = make([]int32, length)
			for j := range length - i*length/rows { // unequal lengths, the first one without padding
				sources[i][j] = 2 + rng.Int32N(5)
			}
		}
		out, err := exec.Call(sources)
		if err != nil {
			t.Fatal(err)
		}
		state, initial := tensors.MustCopyFlatData[float64](out[0]), tensors.MustCopyFlatData[float64](out[2])
		logits := tensors.MustCopyFlatData[float64](out[3])
		for _, pair := range []struct {
			name         string
			neural, from []float64
			size         int
		}{
			{"state", state, tensors.MustCopyFlatData[float64](out[1]), rows * (length + 1) * 7},
			{"logit", logits, tensors.MustCopyFlatData[float64](out[4]), rows * (length + 1) * 5},
		} {
			if len(pair.neural) != pair.size || len(pair.from) != pair.size {
				t.Fatalf("length %d: %d and %d values of the %s, want %d", length, len(pair.neural), len(pair.from), pair.name, pair.size)
			}
			for i, want := range pair.neural {
				if difference := math.Abs(pair.from[i] - want); !(difference <= 1e-12) {
					t.Fatalf("length %d, %s %d: %v in the Universal Transformer, %v in the Neural GPU", length, pair.name, i, pair.from[i], want)
				}
			}
		}
		changed, largest := 0.0, 0.0
		for i := range state {
			changed = max(changed, math.Abs(state[i]-initial[i]))
		}
		for _, l := range logits {
			largest = max(largest, math.Abs(l))
		}
		if changed < 0.5 || largest < 0.5 {
			t.Errorf("length %d: the steps change no value by more than %v and no logit exceeds %v: the comparison says little", length, changed, largest)
		}
	}
}
