package universal

import (
	"fmt"
	"math"
	"slices"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/halting"
)

// Dropout holds the rates, at least 0 and below 1, at which values are zeroed in training. Rates above 0 are rounded to odd
// multiples of 1/2887, at least 1/2887.
type Dropout struct {
	Embedding  float64 `json:"embedding"`  // rate on the embedded tokens, before coordinates are added; 0: none
	Attention  float64 `json:"attention"`  // rate on the attention weights; 0: none
	Transition float64 `json:"transition"` // rate on the transition's inner activations; 0: none
	Residual   float64 `json:"residual"`   // rate on the change that each sub-layer adds to the state; 0: none
}

// Validate returns an error if a rate is outside [0, 1).
func (d Dropout) Validate() error {
	for _, rate := range []struct {
		name  string
		value float64
	}{{"embedding", d.Embedding}, {"attention", d.Attention}, {"transition", d.Transition}, {"residual", d.Residual}} {
		if !(rate.value >= 0 && rate.value < 1) {
			return fmt.Errorf("%s is %v: it must be at least 0 and below 1", rate.name, rate.value)
		}
	}
	return nil
}

// masks makes the dropout masks of one stack in one update. Whether a value is dropped is a function of the random state of the
// update, the place in the network, the step, the position in the batch, and the channel. It does not depend on which other positions
// are computed: a step over selected positions drops the same values as a step over all positions.
//
// For that, a mask is a hash of two random keys. Every position has a key (a, a') for the whole update, every channel a key (b, b',
// c) for one mask, all uniform in 0 .. p-1. A value is dropped if
//
//	a b + a' b' + c  mod p
//
// is in an interval whose share of p is the rate. Values of two positions with different keys, or of two channels, are dropped
// independently of each other (Carter and Wegman, 1979). As 2 p^2 + p is below 2^24, all numbers are exact in float32, and masks are
// the same on all backends. A value costs a few vector instructions; only the keys need random numbers.
type masks struct {
	state     *Node // random state for the next masks
	all       *Node // [B, M, 2], the keys (a, a') of all positions
	positions *Node // keys of the positions that are computed: all, or [1, A, 2]
}

// prime is p.
const prime = 2887

// newMasks returns the masks of a stack over tokens [B, M], or nil if nothing is dropped. It draws from the store's random state a
// fixed number of times, so that the next stack does not depend on how many steps this one runs.
func (c Config) newMasks(scope *model.Scope, tokens *Node) *masks {
	if c.Dropout == (Dropout{}) || !scope.IsTraining(tokens.Graph()) {
		return nil
	}
	g, dims := tokens.Graph(), tokens.Shape().Dimensions
	random := scope.RandomUniform(g, shapes.Make(dtypes.Float64, RNGStateShape.Dimensions...))
	m := &masks{state: ConvertDType(MulScalar(random, math.Pow(2, 53)), RNGStateShape.DType)}
	m.all = m.keys(precision(c.Precision), dims[0], dims[1], 2)
	m.positions = m.all
	return m
}

// keys draws integers from 0 to p-1.
func (m *masks) keys(dtype dtypes.DType, dims ...int) *Node {
	var keys *Node
	m.state, keys = RandomUniform(m.state, shapes.Make(dtype, dims...))
	return Floor(MulScalar(keys, prime))
}

// selectPositions makes the following masks those of selected positions.
func (m *masks) selectPositions(s *halting.Selection) {
	if m != nil {
		m.positions = s.Pick(m.all)
	}
}

// drop zeroes values of x [B, M, ...], or [1, A, ...] if positions are selected, at the given rate in training. It divides the other
// values by the probability that they are kept.
func (m *masks) drop(x *Node, rate float64) *Node {
	if m == nil {
		return x
	}
	return m.dropRows(x, m.positions, rate)
}

// dropRows is like drop, for values whose positions have the keys rows [.., .., 2].
func (m *masks) dropRows(x, rows *Node, rate float64) *Node {
	if m == nil || rate == 0 {
		return x
	}
	dims := x.Shape().Dimensions
	columns := m.keys(x.DType(), append([]int{3}, dims[2:]...)...)
	single := slices.Clone(dims)
	for axis := 2; axis < len(dims); axis++ {
		single[axis] = 1
	}
	row := func(i int) *Node { return Reshape(Slice(rows, AxisRange(), AxisRange(), AxisElem(i)), single...) } // a or a'
	column := func(i int) *Node {                                                                              // b, b' or c
		return Reshape(Slice(columns, AxisElem(i)), append([]int{1, 1}, dims[2:]...)...)
	}
	hash := Add(Add(Mul(row(0), column(0)), Mul(row(1), column(1))), column(2))
	residue := Abs(Sub(hash, MulScalar(Round(MulScalar(hash, 1.0/prime)), prime))) // 0 .. (p-1)/2; every value but 0 has two hashes
	largest, kept := residues(rate)
	mask := MinScalar(MaxScalar(AddScalar(residue, -largest), 0.0), 1.0)
	return Mul(x, StopGradient(MulScalar(mask, 1/kept)))
}

// residues returns the largest residue that is dropped at a rate, and the probability that a value is kept.
func residues(rate float64) (largest, kept float64) {
	largest = min(max(0, math.Round((rate*prime-1)/2)), (prime-3)/2)
	return largest, 1 - (2*largest+1)/prime
}

// hashed returns what the masks of attention weights are computed from: the keys rows [B, M, 2] of queries, those of heads and attended
// positions, [3, heads, positions], and the numbers of [hashedWeights]. The masks are those of dropRows.
func (m *masks) hashed(rows *Node, heads, positions int, rate float64) []*Node {
	largest, kept := residues(rate)
	numbers := []float64{-prime, 1.0 / prime, largest, 1 / kept}
	columns := m.keys(rows.DType(), 3, heads, positions)
	return []*Node{StopGradient(rows), StopGradient(columns), ConvertDType(Const(rows.Graph(), numbers), rows.DType())}
}

// hashedWeights returns what attention weights [B, heads, M, positions] are multiplied by, given what masks.hashed returns.
func hashedWeights(rows, columns, numbers *Node) *Node {
	row := func(i int) *Node { // a or a', [B, 1, M, 1]
		return InsertAxes(Slice(rows, AxisRange(), AxisRange(), AxisElem(i)), 1)
	}
	column := func(i int) *Node { return InsertAxes(Slice(columns, AxisElem(i)), 2) } // b, b' or c, [1, heads, 1, positions]
	number := func(i int) *Node { return Reshape(Slice(numbers, AxisElem(i))) }
	hash := Add(Add(Mul(row(0), column(0)), Mul(row(1), column(1))), column(2))
	residue := Abs(Add(hash, Mul(Round(Mul(hash, number(1))), number(0))))
	kept := GreaterThan(residue, BroadcastToShape(number(2), residue.Shape()))
	return Mul(ConvertDType(kept, residue.DType()), number(3))
}
