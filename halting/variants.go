package halting

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
)

// Listing is appendix B of the paper as printed, and the authors' code: the output is interpolated, halted positions
// are transformed on and on, and a position that reaches the limit without halting gets no remainder. The weights of a
// position that takes more than one step do not sum to 1.
type Listing struct{ ACT }

// SkipsHalted is false: halted positions are transformed and attended to.
func (a Listing) SkipsHalted() bool { return false }

// Unroll interpolates s = u y + (1-u) s.
func (a Listing) Unroll(scope *model.Scope, r Recurrence) Outcome {
	l, state, output := a.newLedger(r), r.State, ZerosLike(r.State)
	for t := 1; t <= a.steps(r.Capacities); t++ {
		x := r.Locate(t, state)
		u, _ := l.record(a.probability(scope, r, x), false)
		state = r.Revise(t, x)
		output = Add(Mul(along(u), state), Mul(OneMinus(along(u)), output))
	}
	return l.outcome(output)
}

// Graves is the mean-field output of Graves (2016), equations 13 and 14: s = sum of u y with weights that sum to 1.
// Halted positions are still transformed, and attended to in that form.
type Graves struct{ ACT }

// SkipsHalted is false: halted positions are transformed and attended to.
func (a Graves) SkipsHalted() bool { return false }

// Unroll sums s = s + u y.
func (a Graves) Unroll(scope *model.Scope, r Recurrence) Outcome {
	l, state, output := a.newLedger(r), r.State, ZerosLike(r.State)
	for t := 1; t <= a.steps(r.Capacities); t++ {
		x := r.Locate(t, state)
		u, _ := l.record(a.probability(scope, r, x), t == a.MaxSteps)
		state = r.Revise(t, x)
		output = Add(output, Mul(along(u), state))
	}
	return l.outcome(output)
}

// Frozen is section 2.2 of the paper in words: once a position halts, its state is copied to the next step, and later
// steps of other positions see that copy (and the coordinates of their own step). Only here does halting save work.
type Frozen struct{ ACT }

// SkipsHalted is true: the state of a halted position no longer changes.
func (a Frozen) SkipsHalted() bool { return true }

// Unroll sums s = s + u y and copies the state of halted positions, or does without them if there are capacities.
func (a Frozen) Unroll(scope *model.Scope, r Recurrence) Outcome {
	if r.Capacities != nil && r.Select != nil {
		return a.unrollSelected(scope, r)
	}
	l, state, output := a.newLedger(r), r.State, ZerosLike(r.State)
	for t := 1; t <= a.steps(r.Capacities); t++ {
		x := r.Locate(t, state)
		u, ran := l.record(a.probability(scope, r, x), t == a.MaxSteps)
		state = carry(ran, r.Revise(t, x), state)
		output = Add(output, Mul(along(u), state))
	}
	return l.outcome(output)
}

// unrollSelected is the same with less work: in every step only the positions that run are transformed. What halted positions
// show to the others stays as it was.
func (a Frozen) unrollSelected(scope *model.Scope, r Recurrence) Outcome {
	l, state, output, selection := a.newLedger(r), r.State, ZerosLike(r.State), everything(r.Mask)
	for t := 1; t <= a.steps(r.Capacities); t++ {
		selection, state = selection.narrow(l.stillRunning, r.Capacities[t-1], state)
		r.Select(selection)
		x := r.Locate(t, state)
		p := selection.Add(ZerosLike(l.remainders), selection.keep(a.probability(scope, r, x)))
		u, ran := l.record(p, t == a.MaxSteps)
		revised := r.Revise(t, x)
		output = selection.Add(output, Mul(along(selection.keep(selection.Pick(u))), revised))
		ranHere := selection.keep(selection.Pick(ConvertDType(ran, p.DType())))
		r.Moved(Mul(along(ranHere), Sub(revised, state)))
		state = revised
	}
	return l.outcome(output)
}
