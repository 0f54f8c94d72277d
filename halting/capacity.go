package halting

import (
	"fmt"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
)

// A Capacity is the number of positions of a batch that one step can compute. Graphs have fixed shapes, so it must be given before it
// is known how many positions run.
type Capacity struct {
	Positions int // number of positions in the batch
	Rows      int // number of sequences with such positions
	Longest   int // maximum number of positions of one sequence
}

// Capacities holds the capacity of each step, from the first; after the last step, no position may run. Fields never increase from
// step to step. nil means full capacity in every step.
type Capacities []Capacity

// Validate returns an error if capacities increase, or exceed a batch [B, M].
func (c Capacities) Validate(batch, length int) error {
	last := Capacity{batch * length, batch, length}
	for t, now := range c {
		for _, f := range []struct {
			name         string
			value, limit int
		}{{"positions", now.Positions, last.Positions}, {"rows", now.Rows, last.Rows}, {"longest", now.Longest, last.Longest}} {
			if f.value < 1 || f.value > f.limit {
				return fmt.Errorf("halting: capacity of step %d: %s is %d: it must be from 1 to %d", t+1, f.name, f.value, f.limit)
			}
		}
		last = now
	}
	return nil
}

// Demand returns what a batch needed in each of the steps that were run, and in the step after them: the number of positions that
// had to be computed, the number of sequences with such positions, and the maximum of one sequence, [steps+1, 3] int32. steps is the
// number of steps that were run.
func (o Outcome) Demand(steps int) *Node {
	n := o.Updates
	if o.Unfinished != nil {
		n = Add(n, ConvertDType(o.Unfinished, n.DType())) // they would have run one more step
	}
	g, dims := n.Graph(), n.Shape().Dimensions
	n = BroadcastToDims(InsertAxes(n, -1), dims[0], dims[1], steps+1) // [B, M, steps+1]
	t := OnePlus(Iota(g, shapes.Make(dtypes.Int32, n.Shape().Dimensions...), 2))
	computed := o.Reach.around(GreaterOrEqual(n, ConvertDType(t, n.DType())))
	computed = LogicalAnd(computed, GreaterThan(n, ZerosLike(n))) // without padding
	row := ReduceSum(ConvertDType(computed, dtypes.Int32), 1)     // [B, steps+1]
	return Stack([]*Node{ReduceSum(row, 0), ReduceSum(MinScalar(row, 1), 0), ReduceMax(row, 0)}, -1)
}

// Overflow returns a scalar that is true if a batch needed more than the capacities, so that the outcome is wrong. It is false if the
// depth is not adaptive.
func (o Outcome) Overflow(c Capacities) *Node {
	if c == nil || !o.Weighted() {
		return Const(o.State.Graph(), false)
	}
	limits := make([][]int32, len(c)+1)
	for t, now := range c {
		limits[t] = []int32{int32(now.Positions), int32(now.Rows), int32(now.Longest)}
	}
	limits[len(c)] = make([]int32, 3)
	return ReduceLogicalOr(GreaterThan(o.Demand(len(c)), Const(o.Updates.Graph(), limits)))
}
