// Package neuralgpu is the Neural GPU (Kaiser and Sutskever, 2016), as a special case of the Universal Transformer that section 4 of
// the paper describes: self-attention is the identity, the transition is a gated convolution, there are as many steps as source
// tokens, and the answer is read out at the end, all tokens at once.
//
// The state has M+1 slots, one per source token and one more, of D channels each. Initially it is the embedded source. A step updates
// each slot from itself and its two neighbours, with * for convolutions of width 3:
//
//	u  = s(W_u * S + b_u)                       share of the state that stays
//	r  = s(W_r * S + b_r)                       share of the state that the candidate reads
//	c  = tanh(W_c * (r S) + b_c)
//	S' = u shift(S) + (1 - u) c
//
// s is the sigmoid with cut-off of Kaiser and Sutskever, max(0, min(1, 1.2 sigmoid(x) - 0.1)), which can be 0 and 1. shift moves a
// third of the channels one slot to the right and a third one slot to the left: the diagonal gates of Freivalds and Liepins (2017),
// which move a state without changing it. Weights are the same in every step and slot. After M steps
//
//	p(y_i) = softmax(O S_i)
//
// so an answer has at most M+1 tokens, including End; after the last slot, End is predicted. The model does not read the true tokens
// before y_i, so there is no teacher forcing; decoding token by token reads out one slot after the other.
//
// A sequence runs as many steps as it has tokens, and slots of padding stay zero. A row therefore does not depend on the other rows
// of its batch.
//
// Letters: B batch, M source positions, N target positions, D width, V vocabulary, R rows that are decoded together.
package neuralgpu

import (
	"fmt"
	"math/rand/v2"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/layers"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/halting"
	"universal-transformer/internal/vocab"
	"universal-transformer/universal"
)

// Model maps a source to a target, predicting all tokens at once.
type Model struct {
	SourceVocabulary int `json:"-"` // V of the source
	TargetVocabulary int `json:"-"` // V of the target

	Width   int     `json:"width"`   // D, the number of channels of a position
	Dropout float64 `json:"dropout"` // dropout rate of candidates; 0: none

	Seed      uint64       `json:"-"` // of the initial weights
	Precision dtypes.DType `json:"-"` // 0 means Float32; Float64 is for tests
}

const (
	maxChannels  = 1 << 17 // far above any practical width
	maxPositions = 1024    // maximum length of a source: the graph contains every step, and larger ones take too long to make
)

// Validate returns an error that names the first invalid field by its JSON name, its value, and valid values.
func (m Model) Validate() error {
	switch {
	case m.SourceVocabulary < 2:
		return fmt.Errorf("source_vocabulary is %d: at least 2 are needed", m.SourceVocabulary)
	case m.TargetVocabulary < 2:
		return fmt.Errorf("target_vocabulary is %d: at least 2 are needed", m.TargetVocabulary)
	case m.Width < 3 || m.Width > maxChannels:
		return fmt.Errorf("width is %d: it must be from 3 to %d", m.Width, maxChannels)
	case !(m.Dropout >= 0 && float32(m.Dropout) < 1):
		return fmt.Errorf("dropout is %v: it must be at least 0 and, in float32, below 1", m.Dropout)
	}
	return nil
}

// Forward returns the logits of every target token given the source alone. Only the number of tokens of in.Target matters.
func (m Model) Forward(scope *model.Scope, in universal.Inputs, _ universal.Options) universal.Result {
	state, mask := m.run(scope, in.Source)
	positions := in.Source.Shape().Dimensions[1]
	weights := ConvertDType(mask, state.DType())
	pass := &universal.Pass{Mask: mask, Outcome: halting.Outcome{
		State: SliceAxis(state, 1, AxisRange(0, positions)), Updates: StopGradient(Mul(weights, ReduceAndKeep(weights, ReduceSum, -1))),
	}}
	logits := m.embedding().Readout(scope, state)
	return universal.Result{Logits: firstPlaces(logits, in.Target.Shape().Dimensions[1]), Encoder: pass}
}

// firstPlaces returns the first n positions of the logits of slots [B, M+1, V]. Positions without a slot predict End.
func firstPlaces(logits *Node, n int) *Node {
	slots := logits.Shape().Dimensions[1]
	if n <= slots {
		return SliceAxis(logits, 1, AxisRange(0, n))
	}
	rest := BroadcastToDims(InsertAxes(certainEnd(logits), 0), logits.Shape().Dimensions[0], n-slots, logits.Shape().Dimensions[2])
	return Concatenate([]*Node{logits, rest}, 1)
}

// certainEnd returns the logits [1, V] of a position without a slot.
func certainEnd(like *Node) *Node {
	const sure = 20
	end := Const(like.Graph(), []int32{int32(vocab.End)})
	return MulScalar(OneHot(end, like.Shape().Dimensions[2], like.DType()), sure)
}

// run returns the state of every slot [B, M+1, D] after the last step, and the mask [B, M] of the source's tokens.
func (m Model) run(scope *model.Scope, source *Node) (state, mask *Node) {
	mask = universal.Mask(source)
	rows, positions := source.Shape().Dimensions[0], source.Shape().Dimensions[1]
	one := ConvertDType(Ones(source.Graph(), shapes.Make(dtypes.Int32, rows, 1)), dtypes.Bool)
	used := InsertAxes(Concatenate([]*Node{one, mask}, 1), -1) // [B, M+1, 1]: one slot per token, and one more
	state = m.embedding().Source(scope, source)
	state = GrowRight(state, 1, 1, 0)
	used = BroadcastToDims(used, state.Shape().Dimensions...)
	scope = scope.At("convolution")
	for t := range positions {
		next := Where(used, m.step(scope, state), ZerosLike(state))
		runs := BroadcastToDims(InsertAxes(SliceAxis(mask, 1, AxisElem(t)), -1), state.Shape().Dimensions...) // the source has more than t tokens
		state = Where(runs, next, state)
	}
	return state, mask
}

// step applies one step to all slots [B, S, D].
func (m Model) step(scope *model.Scope, s *Node) *Node {
	gates := cutOff(m.convolution(scope.At("gates"), s, 2*m.Width, stay))
	u, r := SliceAxis(gates, -1, AxisRange(0, m.Width)), SliceAxis(gates, -1, AxisRange(m.Width))
	c := Tanh(m.convolution(scope.At("candidate"), Mul(r, s), m.Width, nil))
	c = layers.DropoutStatic(scope, c, m.Dropout)
	return Add(Mul(u, shift(s)), Mul(OneMinus(u), c))
}

// stay is the initial bias of gates, which makes states stay rather than change.
func stay(*rand.Rand, int, []int) float64 { return 1 }

// convolution applies a convolution of width 3, with zeros beyond both ends, over the slots of x [B, S, C]. bias draws the initial
// biases; nil means zeros.
func (m Model) convolution(scope *model.Scope, x *Node, channels int, bias universal.Initial) *Node {
	if bias == nil {
		bias = func(*rand.Rand, int, []int) float64 { return 0 }
	}
	near := Concatenate([]*Node{shiftSlots(x, ShiftDirRight), x, shiftSlots(x, ShiftDirLeft)}, -1)
	y := m.weights().Dense(scope, "weight", near, channels)
	return Add(y, InsertAxes(m.weights().Parameter(scope, "bias", bias, channels).NodeValue(x), 0, 0))
}

// shiftSlots moves slots by one and inserts a zero slot.
func shiftSlots(x *Node, to ShiftDirection) *Node { return ShiftWithScalar(x, 1, to, 1, 0) }

// shift moves a third of the channels of s [B, S, D] one slot to the right and a third one slot to the left.
func shift(s *Node) *Node {
	third := s.Shape().Dimensions[2] / 3
	right, left, rest := SliceAxis(s, -1, AxisRange(0, third)), SliceAxis(s, -1, AxisRange(third, 2*third)), SliceAxis(s, -1, AxisRange(2*third))
	return Concatenate([]*Node{shiftSlots(right, ShiftDirRight), shiftSlots(left, ShiftDirLeft), rest}, -1)
}

// cutOff is max(0, min(1, 1.2 sigmoid(x) - 0.1)).
func cutOff(x *Node) *Node { return ClipScalar(AddScalar(MulScalar(Sigmoid(x), 1.2), -0.1), 0, 1) }

func (m Model) weights() universal.Weights {
	return universal.Weights{Seed: m.Seed, Precision: m.Precision}
}

func (m Model) embedding() universal.Embedding {
	return universal.Embedding{
		SourceVocabulary: m.SourceVocabulary, TargetVocabulary: m.TargetVocabulary, Width: m.Width, Scale: true, Weights: m.weights(),
	}
}

// Conventions describes what parameters and configuration leave open about the computation, for programs that read an export.
func Conventions() map[string]string {
	return map[string]string{
		"convolution":     "width 3; rows of the weight are the channels of the slot to the left, the slot itself, the slot to the right",
		"gates":           "kept share, then what the candidate reads, side by side; max(0, min(1, 1.2 sigmoid(x) - 0.1))",
		"shift":           "the first width/3 channels come from the slot to the left, the next width/3 from the slot to the right",
		"steps":           "as many as source tokens; slots: one more",
		"embedding_scale": "embeddings are multiplied by sqrt(width)",
	}
}
