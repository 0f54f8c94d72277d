package universal

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
)

// Rows of the table of evidence: the number of occurrences of a token in the context, up to maxCounted-1 or more, and two marks.
const (
	maxCounted   = 8
	inQuestion   = maxCounted
	followsAlike = maxCounted + 1
	evidenceRows = maxCounted + 2
)

// evidence returns features of each token of a source [B, M] of a [Pointer], as a sum of embeddings [B, M, D], zero at padding. The
// features are: how often the token occurs in the context; whether it occurs in the question (the qe-comm feature of Dhingra et al.,
// 2017); and whether its previous token equals the one before the position of the answer. A model can learn all three from the tokens
// alone, but does not with little text.
func (e Embedding) evidence(scope *model.Scope, tokens *Node) *Node {
	table := e.Weights.Parameter(scope.At("embedding"), "evidence", normal(e.deviation()), evidenceRows, e.Width).NodeValue(tokens)
	times, asked, follows := evidenceOf(tokens, e.Separator)
	marked := func(mark *Node, row int) *Node {
		return Mul(InsertAxes(ConvertDType(mark, table.DType()), -1), InsertAxes(Slice(table, AxisElem(row)), 0))
	}
	h := Add(Add(Gather(table, InsertAxes(times, -1)), marked(asked, inQuestion)), marked(follows, followsAlike)) // [B, M, D]
	if e.Scale {
		h = MulScalar(h, math.Sqrt(float64(e.Width)))
	}
	return Mul(h, InsertAxes(ConvertDType(Mask(tokens), h.DType()), -1))
}

// evidenceOf returns three features of tokens [B, M]: how often each occurs in the context, which is before the separator, at most
// maxCounted-1; whether it occurs in the question, which is after it; and whether its previous token equals the one before the last
// token. All are [B, M], int32, with arbitrary values at padding.
func evidenceOf(tokens *Node, separator int32) (times, asked, follows *Node) {
	g, dtype := tokens.Graph(), tokens.DType()
	number := func(is *Node) *Node { return ConvertDType(is, dtype) }
	context := before(tokens, separator)
	question := LogicalAnd(LogicalAnd(LogicalNot(context), Mask(tokens)), NotEqual(tokens, Scalar(g, dtype, separator)))
	same := number(Equal(InsertAxes(tokens, -1), InsertAxes(tokens, 1))) // [B, M, M]
	count := func(of *Node) *Node { return ReduceSum(Mul(same, InsertAxes(number(of), 1)), -1) }
	times = MinScalar(count(context), maxCounted-1)
	asked = MinScalar(count(question), 1)

	previous := ShiftTargets(tokens)                                        // the previous token, 0 for the first
	beforeLast := Squeeze(Last(InsertAxes(previous, -1), Mask(tokens)), -1) // [B, 1]
	return times, asked, number(Equal(previous, beforeLast))
}
