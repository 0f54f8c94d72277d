// Package halting says how often the recurrent step of a Universal Transformer is applied, and where: section 2.2 of
// Dehghani et al., "Universal Transformers" (ICLR 2019), and Graves, "Adaptive Computation Time for Recurrent Neural
// Networks" (2016). It owns the loop over steps and knows nothing of attention.
//
// Every position of a sequence has its own ponder time. [Fixed] gives all of them the same number of steps, [Random] in training a
// number that is drawn for each example, [Length] as many as the source has tokens (section 4 of the paper needs it). The adaptive
// policies compute a halting probability for each position before every step t, from its state with the step's coordinates added:
//
//	p = sigmoid(X w + b)
//
// A position runs as long as the sum of its p stays within 1 - epsilon. In the step that would pass it, the position is
// transformed once more and halts; n counts its steps, and the remainder r is what was left to 1:
//
//	u = p in the steps before it halts,  u = r = 1 - (sum of earlier p) in the step it halts in,  0 afterwards
//	ponder cost of a position = n + r
//
// The output weighs the state y after each step with u. The three policies differ where paper and published code contradict each
// other:
//
//	           output                 state carried on               at the step limit
//	Listing    s = u y + (1-u) s      y, halted or not               r stays 0 (appendix B as printed)
//	Graves     s = s + u y            y, halted or not               the last step takes the remainder
//	Frozen     s = s + u y            y while running, then a copy   the last step takes the remainder
//
// Frozen is ACT with halted states copied, which section 2.2 says in words ("its state is simply copied to the next step"). The
// weights u of a position sum to 1 under Graves and Frozen.
//
// Under Frozen, halted positions need no work: with [Capacities], a step computes a [Selection] of those that still run, the others
// are only attended to, and steps that no position runs are left out. Graphs have fixed shapes, so capacities are planned before
// (internal/capacity), and [Outcome.Overflow] tells whether they were too small; then the batch has to be run again without. Results
// are those of computing halted positions too, but for rounding. Under Listing and Graves halted positions change on, so only
// the steps that no position runs can be left out; the same holds where the transition mixes neighbours.
//
// Letters: B batch, M positions, D width, A slots of a selection, R and C rows and cells of its grid; t counts steps from 1.
package halting

import (
	"fmt"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
)

// Policy decides how often the step is applied at each position. Its implementations are [Fixed], [Random], [Length],
// [Listing], [Graves] and [Frozen].
type Policy interface {
	// Unroll applies the step until every position has halted or the limit is reached, and panics, as GoMLX's graph
	// functions do, if a shape is wrong. Variables of its own it keeps below scope, under "halting".
	Unroll(scope *model.Scope, r Recurrence) Outcome
	// Adaptive tells whether every position has its own depth, so that outcomes have remainders and a ponder cost.
	Adaptive() bool
	// SkipsHalted tells whether a halted position needs no more work, so that later steps can be applied to the others alone.
	SkipsHalted() bool
	// WithExit gives the policy that stops as e says, or an error that names e's field and what would do.
	WithExit(e Exit) (Policy, error)
	// Limit is the largest number of steps that Unroll may take over a source of the given number of positions.
	Limit(sourcePositions int) int
	// Validate names the first invalid field, its value, and what would be valid.
	Validate() error
}

// Recurrence is what a policy repeats: a state, the mask of real positions, and the two halves of one step.
type Recurrence struct {
	State *Node // H^0, [B, M, D]
	Mask  *Node // [B, M], true at real positions: padding never ponders

	// Source is the source's mask [B, positions]; only [Length] reads it.
	Source *Node

	// AddCoordinates is X = H^{t-1} + P^t of step t. Adaptive policies read p from X, before attention.
	AddCoordinates func(t int, state *Node) *Node
	// Revise is the rest of step t: attention and transition, X to H^t.
	Revise func(t int, x *Node) *Node

	// Glorot draws the initial weight [D] of the halting unit; only [ACT].GlorotWeight reads it.
	Glorot model.VariableInitializer

	// Capacities of the steps; nil: all positions in all steps up to the limit. With them, an outcome counts only without
	// [Outcome.Overflow]. Policies that do not skip halted positions take only the number of steps from it.
	Capacities Capacities
	// Select makes AddCoordinates and Revise compute selected positions from here on. nil: the step cannot do that.
	Select func(*Selection)
	// Update adds what a step has added to the states of selected positions, zero where nothing may change, to what later steps
	// attend to.
	Update func(change *Node)
}

// Outcome is the result of the recurrence.
type Outcome struct {
	State      *Node   // what the stack hands on, [B, M, D]
	Updates    *Node   // n, how many steps each position ran, 0 at padding, [B, M]; carries no gradient
	Remainders *Node   // r, [B, M]; nil where depth is not adaptive
	Weights    []*Node // u of each step, [B, M]; nil where depth is not adaptive
	Unfinished *Node   // [B, M] bool, positions that still ran when the capacities ended; nil where depth is not adaptive
}

// Adaptive tells whether positions chose their own depth.
func (o Outcome) Adaptive() bool { return o.Remainders != nil }

// Ponder is the ponder cost of Graves (2016), section 2.2: the mean of n + r over the real positions, a scalar. Its
// gradient is that of r. It panics if the outcome is not adaptive.
func (o Outcome) Ponder(mask *Node) *Node {
	if !o.Adaptive() {
		panic(fmt.Errorf("halting: a policy of fixed depth has no ponder cost"))
	}
	weights := ConvertDType(mask, o.Remainders.DType())
	cost := Mul(Add(o.Updates, o.Remainders), weights)
	return Div(ReduceAllSum(cost), MaxScalar(ReduceAllSum(weights), 1.0))
}

// updatesOf is n where every real position runs the given number of steps ([B, M] or scalar).
func updatesOf(mask *Node, steps *Node) *Node {
	return Mul(ConvertDType(mask, steps.DType()), steps)
}

// perChannel turns a [B, M] value into [B, M, 1], to weigh states with.
func perChannel(x *Node) *Node { return InsertAxes(x, -1) }

// selectState is the state [B, M, D] where running [B, M] is true, the old one elsewhere.
func selectState(running, state, old *Node) *Node {
	return Where(BroadcastToShape(perChannel(running), boolean(state)), state, old)
}

// boolean is the shape of x with true and false for entries.
func boolean(x *Node) shapes.Shape { return shapes.Make(dtypes.Bool, x.Shape().Dimensions...) }
