// Package halting decides how often the recurrent step of a Universal Transformer is applied, and at which positions: section 2.2 of
// Dehghani et al., "Universal Transformers" (ICLR 2019), and Graves, "Adaptive Computation Time for Recurrent Neural Networks"
// (2016). It owns the loop over steps and knows nothing of attention.
//
// Every position of a sequence has its own ponder time. [Fixed] gives all positions the same number of steps; [Random] draws, in
// training, a number for each example; [Length] gives as many as the source has tokens (section 4 of the paper). The adaptive
// policies compute a halting probability for each position before every step t, from its state with the step's coordinates added:
//
//	p = sigmoid(X w + b)
//
// A position runs as long as the sum of its p is at most 1 - epsilon. In the step in which the sum exceeds that, the position is
// transformed once more and halts. n counts its steps, and the remainder r is what was missing to 1:
//
//	u = p in the steps before it halts,  u = r = 1 - (sum of earlier p) in the step it halts in,  0 afterwards
//	ponder cost of a position = n + r
//
// The output weights the state y after each step with u. The three policies differ where paper and published code contradict each
// other:
//
//	           output                 state carried on               at the step limit
//	Listing    s = u y + (1-u) s      y, halted or not               r stays 0 (appendix B as printed)
//	Graves     s = s + u y            y, halted or not               the last step takes the remainder
//	Frozen     s = s + u y            y while running, then a copy   the last step takes the remainder
//
// Frozen is ACT with halted states copied, as the text of section 2.2 says ("its state is simply copied to the next step"). The
// weights u of a position sum to 1 under Graves and Frozen.
//
// Under Frozen, halted positions need no work. With [Capacities], a step computes a [Selection] of the running positions; the others
// are only attended to, and steps without running positions are skipped. Graphs have fixed shapes, so capacities are planned in
// advance (internal/capacity), and [Outcome.Overflow] reports whether they were too small; the batch must then be run again without
// them. Results equal those of computing halted positions too, up to rounding. If the transition mixes neighbours, halted positions
// near a running one are selected with it ([Reach]). Under Listing and Graves the states of halted positions keep changing, so only
// steps without running positions can be skipped.
//
// Letters: B batch, M positions, D width, A slots of a selection, R and C rows and cells of its grid; t counts steps from 1.
package halting

import (
	"fmt"
	"math/rand/v2"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
)

// A Policy decides how often the step is applied at each position. Its implementations are [Fixed], [Random], [Length], [Listing],
// [Graves] and [Frozen].
type Policy interface {
	// Unroll applies the step until every position has halted or the limit is reached, and calls r.After after each step. It panics, as
	// GoMLX's graph functions do, if a shape is wrong. Models call the function [Unroll], which checks what it does. scope is that of the
	// stack, such as "encoder", which holds the parameters of the step, too. Unroll itself enters scope.At("halting") and makes all its
	// parameters there with r.Weights, in each step again: "encoder.halting.weight" is one parameter.
	Unroll(scope *model.Scope, r Recurrence) Outcome
	// Weighted reports whether outcomes have weights of the steps and remainders, and so a ponder cost. Positions can differ in depth without.
	Weighted() bool
	// SkipsHalted reports whether halted positions need no more work, so that later steps can be applied to the others alone.
	SkipsHalted() bool
	// WithExit returns a policy that stops as e says. An error names e's field and valid values.
	WithExit(e Exit) (Policy, error)
	// Limit returns the maximum number of steps of Unroll for a source with the given number of positions.
	Limit(sourcePositions int) int
	// Validate returns an error that names the first invalid field, its value, and valid values.
	Validate() error
	// Describe returns a description of the depth, such as "4 steps" or "adaptive, at most 6 steps".
	Describe() string
}

// A Recurrence is what a policy repeats: a state, the mask of real positions, and the two halves of a step.
type Recurrence struct {
	State *Node // H^0, [B, M, D]
	Mask  *Node // [B, M], true at real positions; padding never ponders

	// Source is the source's mask [B, positions]; only [Length] reads it.
	Source *Node

	// AddCoordinates returns X = H^{t-1} + P^t of step t, from 1, which Revise must not have made yet. Adaptive policies compute p from X,
	// before attention.
	AddCoordinates func(t int, state *Node) *Node
	// Revise is the rest of step t, attention and transition: it maps X to H^t. It is called once for each step from 1, in order.
	Revise func(t int, x *Node) *Node

	// Weights makes the policy's parameters.
	Weights Weights

	// After, if it is not nil, is called after each step t with the state H^t [B, M, D] and the output [B, M, D] that the stack would
	// have if all positions ended there. It returns the positions [B, M] bool that end there, or nil for none; they keep that output,
	// and their states go on as those of halted positions do. Not with Select.
	After func(t int, state, output *Node) *Node

	// Capacities limits the steps; nil means all positions in all steps up to the limit. An outcome with capacities is only valid
	// without [Outcome.Overflow]. Policies that do not skip halted positions use only the number of capacities.
	Capacities Capacities
	// Select makes AddCoordinates and Revise compute the selected positions from now on. nil means that the step does not support it.
	Select func(*Selection)
	// Update adds the change of a step to the states that later steps attend to. The change is that of selected positions, zero where
	// they do not run and in unused slots.
	Update func(change *Node)
	// Reach is what a step of a position depends on besides attention. These positions are selected, too.
	Reach Reach
}

// Weights makes parameters. Their initial values depend only on the seed of the model and on their names. It is an interface because its
// implementation, universal.Weights, is in a package that this one does not know.
type Weights interface {
	// Parameter returns a variable, declaring it unless an earlier step has done so. draw returns the initial value of entry i.
	Parameter(scope *model.Scope, name string, draw func(rng *rand.Rand, i int, dims []int) float64, dims ...int) *model.Variable
	// Dense computes x W. The parameter called name is the matrix W [inputs, outputs], initially random (Glorot and Bengio, 2010).
	Dense(scope *model.Scope, name string, x *Node, outputs int) *Node
	// Affine computes x W + b, with b the parameter called bias, initially zero.
	Affine(scope *model.Scope, name string, x *Node, outputs int) *Node
}

// An Outcome is the result of the recurrence. Numbers have the element type of the state. [Unroll] checks types, shapes and which fields are
// set.
type Outcome struct {
	State   *Node // the output of the stack, [B, M, D]
	Updates *Node // n, number of steps of each position, 0 at padding, [B, M]; has no gradient

	// The following are those of policies with weights (Policy.Weighted), all of which set them. Others set neither Remainders nor Weights, and the rest is not read.
	Remainders *Node   // r, [B, M]
	Weights    []*Node // u of each step that was run, [B, M]
	Limit      int     // what Limit of the policy returns; capacities may have left out the last of these steps
	Unfinished *Node   // [B, M] bool, positions that still ran after the last capacity; may be nil if Limit steps were run
	Reach      Reach   // as in the recurrence
}

// Weighted reports whether the outcome has weights of the steps and remainders.
func (o Outcome) Weighted() bool { return o.Remainders != nil }

// Ponder returns the ponder cost of Graves (2016), section 2.2: the mean of n + r over the real positions, a scalar. Its gradient is
// that of r. It panics if the outcome has no remainders.
func (o Outcome) Ponder(mask *Node) *Node {
	if !o.Weighted() {
		panic(fmt.Errorf("halting: a policy without weights of its steps has no ponder cost"))
	}
	weights := ConvertDType(mask, o.Remainders.DType())
	cost := Mul(Add(o.Updates, o.Remainders), weights)
	return Div(ReduceAllSum(cost), MaxScalar(ReduceAllSum(weights), 1.0))
}

// updatesOf returns n if every real position runs the given number of steps ([B, M] or scalar).
func updatesOf(mask *Node, steps *Node) *Node {
	return Mul(ConvertDType(mask, steps.DType()), steps)
}

// perChannel reshapes [B, M] to [B, M, 1], to weight states.
func perChannel(x *Node) *Node { return InsertAxes(x, -1) }

// selectState returns state [B, M, D] where running [B, M] is true, and old elsewhere.
func selectState(running, state, old *Node) *Node {
	return Where(BroadcastToShape(perChannel(running), boolShape(state)), state, old)
}

// boolShape returns the shape of x with element type bool.
func boolShape(x *Node) shapes.Shape { return shapes.Make(dtypes.Bool, x.Shape().Dimensions...) }
