package universal

import (
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"universal-transformer/internal/part"
)

// A Pool selects what is read out from the states of a sequence [B, M, D]: one vector [B, 1, D], by [Mean] and [Last], or a vector of every
// position, by [Each]. mask [B, M] is true at its real positions. nil means Mean.
type Pool func(state, mask *Node) *Node

// apply returns what is read out. It panics with an error that names p if that has another shape than [Pool] says.
func (p Pool) apply(state, mask *Node) *Node {
	if p == nil {
		return Mean(state, mask)
	}
	pool := part.Of("pool", p)
	pooled := part.Call(pool, func() *Node { return p(state, mask) })
	want := state.Shape().Clone()
	if pooled == nil || !slices.Equal(pooled.Shape().Dimensions, want.Dimensions) { // not those of all positions
		want.Dimensions[1] = 1
	}
	pool.Check("returned", pooled, want)
	return pooled
}

// Mean returns the mean over the real positions.
func Mean(state, mask *Node) *Node {
	weights := ConvertDType(mask, state.DType())                            // [B, M]
	count := MaxScalar(ReduceAndKeep(weights, ReduceSum, -1), 1.0)          // [B, 1]
	pooled := Div(ReduceSum(Mul(state, InsertAxes(weights, -1)), 1), count) // [B, D]
	return InsertAxes(pooled, 1)
}

// Last returns the state of the last real position. If a source ends with a question, that is a state of the question.
func Last(state, mask *Node) *Node {
	ones := ConvertDType(mask, state.DType())                // [B, M], ones and then zeros
	last := Sub(ones, shiftLeft(ones))                       // [B, M], one at the last real position
	pooled := ReduceSum(Mul(state, InsertAxes(last, -1)), 1) // [B, D]
	return InsertAxes(pooled, 1)
}

// Each returns the states of all positions, for models that answer with a class at each. The loss leaves out padding.
func Each(state, _ *Node) *Node { return state }

// shiftLeft moves [B, M] one position to the left and inserts a zero at the right.
func shiftLeft(x *Node) *Node {
	if x.Shape().Dimensions[1] == 1 {
		return ZerosLike(x)
	}
	return ShiftWithScalar(x, 1, ShiftDirLeft, 1, 0)
}
