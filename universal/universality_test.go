package universal_test

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
	"universal-transformer/internal/longtest"
	"universal-transformer/universal"
)

// Tokens and classes of the parity machine: bits, and even or odd.
const (
	zero, one = 2, 3
	even, odd = 2, 3
)

// parityMachine is a Universal Transformer with weights set by hand that tells whether a string of bits has an even or odd number of
// ones. The four channels of a position hold its bit b, 1 - b, the parity s, and 1 - s. In every step
//
//	s_i = s_{i-1} xor b_i
//
// so that s_i is right after step i, and with as many steps as bits the last position has the parity of the whole string. The first
// convolution reads s and b of different positions, its rectified units are max(0, s_{i-1} - b_i), max(0, b_i - s_{i-1}) and 1 - s_i,
// and the second one changes s_i to the sum of the first two. Of four channels that are 0, 0, 1, 1 in some order, the mean is 1/2 and
// the variance 1/4, so that a layer norm with a gain of sqrt(1/4 + epsilon) and a bias of 1/2 keeps them.
func parityMachine(steps halting.Policy) universal.Encoder {
	return universal.Encoder{Pool: universal.Last, Config: universal.Config{
		SourceVocabulary: 4, TargetVocabulary: 4, Width: 4, Heads: 1, Halting: steps, Coordinates: withoutCoordinates{},
		Transition: universal.SeparableConvolution{Filter: 3},
	}}
}

// parityWeights are the weights by name; what is not listed is zero.
func parityWeights() map[string][]float32 {
	gain := float32(math.Sqrt(0.25 + universal.NormEpsilon))
	keep := []float32{gain, gain, gain, gain}
	half := []float32{0.5, 0.5, 0.5, 0.5}
	return map[string][]float32{
		"embedding.source":                    {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 1, 0, 0, 1}, // zero and one, with an even parity
		"encoder.transition.first.depthwise":  {0, 0, 1, 0, 1, 1, 0, 1, 0, 0, 0, 0},             // s of the position before, the rest of the own one
		"encoder.transition.first.pointwise":  {-1, 1, 0, 0, 0, 0, 1, -1, 0, 0, 0, 1},           // s - b, b - s, 1 - s
		"encoder.transition.second.depthwise": {0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0},    // the own position
		"encoder.transition.second.pointwise": {0, 0, 1, -1, 0, 0, 1, -1, 0, 0, 1, -1},          // added to s, subtracted from 1 - s
		"encoder.transition.second.bias":      {0, 0, -1, 1},
		"encoder.self_attention_norm.gain":    keep, "encoder.self_attention_norm.bias": half,
		"encoder.transition_norm.gain": keep, "encoder.transition_norm.bias": half,
		"readout.weight": {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0},
	}
}

type withoutCoordinates struct{}

func (withoutCoordinates) At(int, int, int) float64 { return 0 }
func (withoutCoordinates) Validate() error          { return nil }

// classify returns the classes that a model with the weights of the parity machine gives to rows of bits.
func classify(t *testing.T, m universal.Encoder, rows [][]int32) []int32 {
	t.Helper()
	if err := m.Validate(); err != nil {
		t.Fatal(err)
	}
	store := model.NewStore()
	exec, err := model.NewExec(enginetest.Backend(t), store, func(scope *model.Scope, source *Node) *Node {
		return ArgMax(Squeeze(m.Forward(scope, universal.Inputs{Source: source}, universal.Options{}).Logits, 1), -1, dtypes.Int32)
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	if _, err := exec.Call([][]int32{{2, 3}}); err != nil { // makes the variables
		t.Fatal(err)
	}
	weights := parityWeights()
	for v := range store.IterVariables() {
		values := make([]float32, v.Shape().Size())
		copy(values, weights[universal.Name(v.Path())])
		delete(weights, universal.Name(v.Path()))
		if err := v.SetValue(tensors.FromFlatDataAndDimensions(values, v.Shape().Dimensions...)); err != nil {
			t.Fatal(err)
		}
	}
	if len(weights) > 0 {
		t.Fatalf("the model has no %v", weights)
	}
	out, err := exec.Call(rows)
	if err != nil {
		t.Fatal(err)
	}
	return tensors.MustCopyFlatData[int32](out[0])
}

// bits returns random rows of the given lengths, padded, and their parities.
func bits(lengths []int) (rows [][]int32, parity []int32) {
	rng := rand.New(rand.NewPCG(6, 0))
	longest := 0
	for _, n := range lengths {
		longest = max(longest, n)
	}
	for _, n := range lengths {
		row, ones := make([]int32, longest), 0
		for i := range n {
			bit := rng.IntN(2)
			row[i], ones = int32(zero+bit), ones+bit
		}
		rows, parity = append(rows, row), append(parity, int32(even+ones%2))
	}
	return rows, parity
}

// Section 4 of the paper: with a depth that grows with the input, the Universal Transformer computes what no fixed depth does. Parity is
// the example: a Transformer of fixed depth and size cannot tell it for long inputs with confidence (Hahn, "Theoretical Limitations of
// Self-Attention in Neural Sequence Models", TACL 2020). The machine is right at every length up to 512; the short form of the test
// leaves out most of the long ones.
// Caught when planted: one step too few; a sign in a weight; padding that is convolved.
func TestParityWithDepthOfTheLength(t *testing.T) {
	groups := [][]int{nil, {100, 127, 256}, {512, 511}}
	for n := 1; n <= 64; n++ {
		groups[0] = append(groups[0], n)
	}
	if longtest.Enabled() {
		for from := 65; from <= 512; from += 32 {
			var group []int
			for n := from; n < min(from+32, 513); n++ {
				group = append(group, n)
			}
			groups = append(groups, group)
		}
	}
	for _, lengths := range groups {
		rows, want := bits(lengths)
		for i, got := range classify(t, parityMachine(halting.Length{}), rows) {
			if got != want[i] {
				t.Errorf("%d bits: class %d, want %d", lengths[i], got, want[i])
			}
		}
	}
}

// The same machine with 20 steps knows nothing of the bits before the last 20: it is right at 20 and half of the time, as by chance, at
// 40.
func TestParityNeedsDepth(t *testing.T) {
	lengths := make([]int, 200)
	for i := range lengths {
		lengths[i] = 20 + 20*(i%2)
	}
	rows, want := bits(lengths)
	right := map[int]int{}
	for i, got := range classify(t, parityMachine(halting.Fixed{Steps: 20}), rows) {
		if got == want[i] {
			right[lengths[i]]++
		}
	}
	if right[20] != 100 || right[40] < 30 || right[40] > 70 {
		t.Errorf("%d of 100 strings of 20 bits and %d of 100 of 40 are right", right[20], right[40])
	}
}
