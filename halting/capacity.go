package halting

import (
	"fmt"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
)

// Capacity is how many positions of a batch one step can compute. Graphs have fixed shapes, so it must be given before it is
// known how many positions still run.
type Capacity struct {
	Positions int // of the batch
	Rows      int // sequences with any of them
	Longest   int // of one sequence
}

// Capacities is the capacity of each step, from the first; after the last, no position may still run. No field rises from step
// to step. nil is full capacity in every step.
type Capacities []Capacity

// Validate rejects capacities that rise, or that a batch [B, M] cannot use.
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

// Demand is what a batch needed: for every step that was taken, and for one more after the last, how many positions
// ran, in how many rows, and most of one row: [steps+1, 3] int32. steps is how many were taken.
func (o Outcome) Demand(steps int) *Node {
	n := o.Updates
	if o.Unfinished != nil {
		n = Add(n, ConvertDType(o.Unfinished, n.DType())) // they would have run once more
	}
	g, dims := n.Graph(), n.Shape().Dimensions
	n = BroadcastToDims(InsertAxes(n, -1), dims[0], dims[1], steps+1) // [B, M, steps+1]
	t := OnePlus(Iota(g, shapes.Make(dtypes.Int32, n.Shape().Dimensions...), 2))
	running := ConvertDType(GreaterOrEqual(n, ConvertDType(t, n.DType())), dtypes.Int32)
	row := ReduceSum(running, 1) // [B, steps+1]
	return Stack([]*Node{ReduceSum(row, 0), ReduceSum(MinScalar(row, 1), 0), ReduceMax(row, 0)}, -1)
}

// Overflow is true if a batch needed more than the capacities, so that the outcome is wrong: a scalar. Never where depth is not
// adaptive.
func (o Outcome) Overflow(c Capacities) *Node {
	if c == nil || !o.Adaptive() {
		return Const(o.State.Graph(), false)
	}
	limits := make([][]int32, len(c)+1)
	for t, now := range c {
		limits[t] = []int32{int32(now.Positions), int32(now.Rows), int32(now.Longest)}
	}
	limits[len(c)] = make([]int32, 3)
	return ReduceLogicalOr(GreaterThan(o.Demand(len(c)), Const(o.Updates.Graph(), limits)))
}
