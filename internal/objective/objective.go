// Package objective computes the training loss: the mean cross entropy of the true tokens plus the ponder cost.
//
// Letters: B batch, N target positions, V vocabulary.
package objective

import (
	"fmt"
	"math"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
)

// CrossEntropy holds sums over the real target positions of a batch, and their counts, all scalars. A position is real if its target is
// not 0.
type CrossEntropy struct {
	Nats             *Node // sum of -log p(true token), without smoothing
	Smoothed         *Node // the same with smoothed targets, minus their entropy: 0 is perfect
	Tokens           *Node // number of real positions
	CorrectTokens    *Node // number of these whose most probable token is the true one
	Sequences        *Node // number of rows with a real position
	CorrectSequences *Node // number of these with all tokens correct: teacher-forced sequence accuracy

	// costs returns the terms of Smoothed, [B, N], 0 at padding. It panics if the measure was computed from factors of logits, where they have no gradient.
	costs func() *Node
}

// Measure compares logits [B, N, V] with target [B, N] (int32, 0 for padding). With label smoothing e, the true token has probability
// 1-e and every other e/(V-1) (Szegedy et al., 2016). If unknown is not 0, it is the target id of out-of-vocabulary tokens, which are
// learned like others but never count as correct.
func Measure(logits, target *Node, smoothing float64, unknown int32) CrossEntropy {
	p := predictions{
		func() (*Node, func() *Node) { return logProbs(logits, target) }, func() *Node { return Equal(Best(logits, target.DType()), target) },
	}
	return p.measure(target, logits.DType(), logits.Shape().Dimensions[2], smoothing, unknown)
}

// predictions are what logits say about targets [B, N].
type predictions struct {
	logProbs func() (truth *Node, others func() *Node) // ln p of the target, and the sum of those of all other tokens
	correct  func() *Node                              // whether the target is the most probable token
}

// measure computes the sums of Measure.
func (p predictions) measure(target *Node, dtype dtypes.DType, vocabulary int, smoothing float64, unknown int32) CrossEntropy {
	g := target.Graph()
	isReal := NotEqual(target, ScalarZero(g, target.DType()))
	mask := ConvertDType(isReal, dtype)
	truth, others := p.logProbs()
	m := CrossEntropy{Nats: Neg(ReduceAllSum(Mul(truth, mask))), Tokens: ReduceAllSum(mask)}
	m.Smoothed = m.Nats
	m.costs = func() *Node { return Neg(Mul(truth, mask)) }
	if smoothing > 0 && vocabulary > 1 {
		rest := smoothing / float64(vocabulary-1)
		expected := Add(MulScalar(truth, 1-smoothing), MulScalar(others(), rest))
		entropy := -(1-smoothing)*math.Log(1-smoothing) - smoothing*math.Log(rest)
		m.Smoothed = Neg(ReduceAllSum(Mul(AddScalar(expected, entropy), mask)))
		m.costs = func() *Node { return Neg(Mul(AddScalar(expected, entropy), mask)) }
	}
	correct := p.correct()
	if unknown != 0 {
		correct = LogicalAnd(correct, NotEqual(target, Scalar(g, target.DType(), unknown)))
	}
	correct = LogicalOr(correct, LogicalNot(isReal)) // [B, N], true at padding
	m.CorrectTokens = ReduceAllSum(Mul(ConvertDType(correct, dtype), mask))
	rows := ReduceMax(mask, -1) // [B]
	m.Sequences = ReduceAllSum(rows)
	m.CorrectSequences = ReduceAllSum(Mul(ReduceMin(ConvertDType(correct, dtype), -1), rows))
	return m
}

// TargetLogProbs returns the natural log-probability of each target [B, N] under logits [B, N, V]: [B, N].
func TargetLogProbs(logits, target *Node) *Node {
	truth, _ := logProbs(logits, target)
	return truth
}

// logProbs returns, for logits z [B, N, V], ln p of the target [B, N] and a function that returns the sum of ln p of all other
// tokens, [B, N]. It computes only the target's ln p, because work of size V dominates with large vocabularies:
//
//	ln p(t) = z_t - max z - ln sum_v exp(z_v - max z)
//	sum over v of ln p(v) = sum_v z_v - V (max z + ln sum_v exp(z_v - max z))
func logProbs(logits, target *Node) (truth *Node, others func() *Node) {
	vocabulary := logits.Shape().Dimensions[2]
	largest := StopGradient(ReduceAndKeep(logits, ReduceMax, -1)) // [B, N, 1]
	shifted := Sub(logits, largest)
	logSum := Log(ReduceSum(Exp(shifted), -1)) // [B, N]
	isTarget := Equal(ExpandAxes(target, -1), Iota(logits.Graph(), shapes.Make(target.DType(), 1, 1, vocabulary), 2))
	truth = Sub(ReduceSum(Where(isTarget, shifted, ScalarZero(logits.Graph(), logits.DType())), -1), logSum)
	return truth, func() *Node { return Sub(Sub(ReduceSum(shifted, -1), MulScalar(logSum, float64(vocabulary))), truth) }
}

// Divergence compares two predictions for every example: rows 2i and 2i+1 of logits [B, N, V], whose targets [B, N] are the same. It
// returns the mean, over the real positions of one of them, of the symmetric Kullback-Leibler divergence in nats, a scalar. As p and
// q both sum to one, the logarithms of their normalizers cancel:
//
//	KL(p||q) + KL(q||p) = sum over v of (p_v - q_v) (ln p_v - ln q_v) = sum over v of (p_v - q_v) (a_v - b_v)
//
// where a and b are the logits of p and q.
func Divergence(logits, target *Node) *Node {
	g, dims := logits.Graph(), logits.Shape().Dimensions
	if dims[0]%2 != 0 {
		panic(fmt.Sprintf("objective: the number of rows is %d, but must be even: two for each example", dims[0]))
	}
	pairs := func(x *Node) (first, second *Node) { // rows 2i, rows 2i+1
		x = Reshape(x, append([]int{dims[0] / 2, 2}, x.Shape().Dimensions[1:]...)...)
		return Squeeze(Slice(x, AxisRange(), AxisElem(0)), 1), Squeeze(Slice(x, AxisRange(), AxisElem(1)), 1)
	}
	a, b := pairs(logits)
	p, q := pairs(Softmax(logits))
	targets, _ := pairs(target)
	mask := ConvertDType(NotEqual(targets, ScalarZero(g, target.DType())), logits.DType())
	divergence := ReduceSum(Mul(Sub(p, q), Sub(a, b)), -1) // [B/2, N]
	return Div(ReduceAllSum(Mul(divergence, mask)), MaxScalar(ReduceAllSum(mask), 1.0))
}

// Best returns the most probable token at every position, [B, N], and the one with the smaller id among equals.
func Best(logits *Node, integer dtypes.DType) *Node { return ArgMax(logits, -1, integer) }

// Mean returns the quantity to minimize: the smoothed cross entropy per real position, in nats.
func (m CrossEntropy) Mean() *Node { return Div(m.Smoothed, MaxScalar(m.Tokens, 1.0)) }
