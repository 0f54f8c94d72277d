package halting

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
)

// Listing is appendix B of the paper as printed, and the authors' code: the output is interpolated, halted positions are computed
// like the others, and a position that reaches the limit without halting gets no remainder. The weights of a position with more than
// one step do not sum to 1.
type Listing struct{ ACT }

// SkipsHalted returns false: halted positions are computed like the others.
func (a Listing) SkipsHalted() bool { return false }

// Unroll interpolates s = u y + (1-u) s.
func (a Listing) Unroll(scope *model.Scope, r Recurrence) Outcome {
	h, e, state, output := a.newState(r), ended{r: r}, r.State, ZerosLike(r.State)
	for t := 1; t <= a.steps(r.Capacities); t++ {
		x := r.AddCoordinates(t, state)
		u, _ := h.update(a.probability(scope, r, x), false)
		state = r.Revise(t, x)
		output = Add(Mul(perChannel(u), state), Mul(OneMinus(perChannel(u)), output))
		h.end(e.after(t, state, output), false)
	}
	return h.outcome(output)
}

// Describe names the rule and the limit.
func (a Listing) Describe() string {
	return fmt.Sprintf("adaptive (ACT as listed in appendix B), at most %d steps", a.MaxSteps)
}

// Graves is the mean-field output of Graves (2016), equations 13 and 14: s = sum of u y with weights that sum to 1. Halted positions
// are computed like the others, and their changing states are attended to.
type Graves struct{ ACT }

// SkipsHalted returns false: halted positions are computed like the others.
func (a Graves) SkipsHalted() bool { return false }

// Unroll sums s = s + u y.
func (a Graves) Unroll(scope *model.Scope, r Recurrence) Outcome {
	h, e, state, output := a.newState(r), ended{r: r}, r.State, ZerosLike(r.State)
	for t := 1; t <= a.steps(r.Capacities); t++ {
		x := r.AddCoordinates(t, state)
		h.update(a.probability(scope, r, x), t == a.MaxSteps)
		state = r.Revise(t, x)
		output = h.add(&e, t, t == a.MaxSteps, state, output)
	}
	return h.outcome(output)
}

// Describe names the rule and the limit.
func (a Graves) Describe() string {
	return fmt.Sprintf("adaptive (ACT, halted positions computed on), at most %d steps", a.MaxSteps)
}

// Frozen is ACT with halted states copied, as the text of section 2.2 says: once a position halts, its state is copied to the next
// step, and later steps of other positions attend to the copy (with the coordinates of their own step). Halting saves work only
// with this policy.
type Frozen struct{ ACT }

// SkipsHalted returns true: the state of a halted position no longer changes.
func (a Frozen) SkipsHalted() bool { return true }

// Unroll sums s = s + u y. It copies the state of halted positions, or skips them if there are capacities.
func (a Frozen) Unroll(scope *model.Scope, r Recurrence) Outcome {
	if r.Capacities != nil && r.Select != nil {
		return a.unrollSelected(scope, r)
	}
	h, e, state, output := a.newState(r), ended{r: r}, r.State, ZerosLike(r.State)
	for t := 1; t <= a.steps(r.Capacities); t++ {
		x := r.AddCoordinates(t, state)
		_, ran := h.update(a.probability(scope, r, x), t == a.MaxSteps)
		state = selectState(ran, r.Revise(t, x), state)
		output = h.add(&e, t, t == a.MaxSteps, state, output)
	}
	return h.outcome(output)
}

// Describe names the rule and the limit.
func (a Frozen) Describe() string {
	return fmt.Sprintf("adaptive (ACT, halted states copied), at most %d steps", a.MaxSteps)
}

// unrollSelected is the same with less work: every step computes only the running positions, and halted ones in their reach. Halted
// ones stay unchanged in the cache of the step.
func (a Frozen) unrollSelected(scope *model.Scope, r Recurrence) Outcome {
	h, state, output, selection := a.newState(r), r.State, ZerosLike(r.State), selectAll(r.Mask)
	for t := 1; t <= a.steps(r.Capacities); t++ {
		selection, state = selection.narrow(LogicalAnd(r.Reach.around(h.stillRunning), r.Mask), r.Capacities[t-1], state)
		r.Select(selection)
		x := r.AddCoordinates(t, state)
		p := selection.Add(ZerosLike(h.remainders), selection.zeroUnused(a.probability(scope, r, x)))
		u, ran := h.update(p, t == a.MaxSteps)
		revised := r.Revise(t, x)
		output = selection.Add(output, Mul(perChannel(selection.zeroUnused(selection.Pick(u))), revised))
		ranHere := selection.zeroUnused(selection.Pick(ConvertDType(ran, p.DType())))
		r.Update(Mul(perChannel(ranHere), Sub(revised, state)))
		if r.Reach != (Reach{}) {
			revised = selectState(GreaterThan(ranHere, ZerosLike(ranHere)), revised, state)
		}
		state = revised
	}
	return h.outcome(output)
}
