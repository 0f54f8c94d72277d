package halting_test

import (
	"math/rand/v2"
	"testing"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine"
	"universal-transformer/engine/enginetest"
	"universal-transformer/halting"
)

// adaptiveOwn and fixedOwn are policies as another module could define them, with at most three steps.
type (
	adaptiveOwn struct{ own }
	fixedOwn    struct{ own }
	own         struct {
		halting.Fixed
		unroll func(r halting.Recurrence) halting.Outcome
	}
)

func (adaptiveOwn) Weighted() bool { return true }

func (o own) Unroll(_ *model.Scope, r halting.Recurrence) halting.Outcome { return o.unroll(r) }

// wellDone is the outcome of three steps with weights of a third.
func wellDone(r halting.Recurrence) halting.Outcome { return doneIn(r, 3) }

// doneIn is the outcome of a number of steps.
func doneIn(r halting.Recurrence, steps int) halting.Outcome {
	one := ConvertDType(r.Mask, r.State.DType())
	o := halting.Outcome{State: r.State, Remainders: DivScalar(one, 3.0), Limit: 3}
	for t := 1; t <= steps; t++ {
		o.State = r.Revise(t, r.AddCoordinates(t, o.State))
		o.Weights = append(o.Weights, o.Remainders)
		if r.After != nil {
			r.After(t, o.State, o.State)
		}
	}
	o.Updates = MulScalar(one, steps)
	return o
}

// changed is wellDone with another outcome.
func changed(change func(o *halting.Outcome)) func(halting.Recurrence) halting.Outcome {
	return func(r halting.Recurrence) halting.Outcome {
		o := wellDone(r)
		change(&o)
		return o
	}
}

// fault returns the error of a policy, without what GoMLX puts before it, for a batch [3, 5] of states of seven channels. With after, positions
// may end after each step.
func fault(t *testing.T, policy halting.Policy, after bool) string {
	t.Helper()
	l := randomSequence(rand.New(rand.NewPCG(1, 1)), 4)
	exec, err := model.NewExec(enginetest.Backend(t), model.NewStore(), func(scope *model.Scope, one *Node) *Node {
		r := l.recurrence(one.Graph(), nil)
		if after {
			r.After = func(int, *Node, *Node) *Node { return nil }
		}
		return halting.Unroll(policy, scope, r).State
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	if _, err = exec.Call(1.0); err != nil {
		return engine.Plain(err).Error()
	}
	return ""
}

// Outcomes that are not as documented are errors that name the policy, the field and what is wanted.
// Caught when planted: any of the checks left out.
func TestOutcomesAreChecked(t *testing.T) {
	for want, unroll := range map[string]func(halting.Recurrence) halting.Outcome{
		"": wellDone,
		" returned the Outcome.State nil, want (Float64)[3, 5, 7]":                                        changed(func(o *halting.Outcome) { o.State = nil }),
		" returned the Outcome.State (Float64)[3, 5, 1], want (Float64)[3, 5, 7]":                         changed(func(o *halting.Outcome) { o.State = ReduceAndKeep(o.State, ReduceMean, -1) }),
		" returned the Outcome.Updates nil, want (Float64)[3, 5]":                                         changed(func(o *halting.Outcome) { o.Updates = nil }),
		" returned the Outcome.Updates (Int32)[3, 5], want (Float64)[3, 5]":                               changed(func(o *halting.Outcome) { o.Updates = ConvertDType(o.Updates, dtypes.Int32) }),
		" returned the Outcome.Remainders nil, want (Float64)[3, 5]":                                      changed(func(o *halting.Outcome) { o.Remainders = nil }),
		" returned the Outcome.Remainders (Float64)[5], want (Float64)[3, 5]":                             changed(func(o *halting.Outcome) { o.Remainders = ReduceMean(o.Remainders, 0) }),
		" returned 0 Outcome.Weights, want one for each of 3 steps":                                       changed(func(o *halting.Outcome) { o.Weights = nil }),
		" returned 2 Outcome.Weights, want one for each of 3 steps":                                       changed(func(o *halting.Outcome) { o.Weights = o.Weights[1:] }),
		" returned the Outcome.Weights[2] (Float64)[3, 5, 1], want (Float64)[3, 5]":                       changed(func(o *halting.Outcome) { o.Weights[2] = InsertAxes(o.Weights[2], -1) }),
		" returned the Outcome.Limit 0, want 3, its Limit":                                                changed(func(o *halting.Outcome) { o.Limit = 0 }),
		" returned the Outcome.Unfinished (Float64)[3, 5], want (Bool)[3, 5]":                             changed(func(o *halting.Outcome) { o.Unfinished = o.Updates }),
		" returned the Outcome.Reach {Before:1 After:0}, want {Before:0 After:0}, that of the recurrence": changed(func(o *halting.Outcome) { o.Reach.Before = 1 }),
		" returned the Outcome.Unfinished nil, want (Bool)[3, 5]":                                         func(r halting.Recurrence) halting.Outcome { return doneIn(r, 2) },
	} {
		if want != "" {
			want = "halting policy halting_test.adaptiveOwn" + want
		}
		if got := fault(t, adaptiveOwn{own{halting.Fixed{Steps: 3}, unroll}}, false); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for want, unroll := range map[string]func(halting.Recurrence) halting.Outcome{
		"": changed(func(o *halting.Outcome) { *o = halting.Outcome{State: o.State, Updates: o.Updates} }),
		"halting policy halting_test.fixedOwn returned Outcome.Remainders, want nil, because its Weighted is false": wellDone,
		"halting policy halting_test.fixedOwn returned Outcome.Weights, want nil, because its Weighted is false":    changed(func(o *halting.Outcome) { o.Remainders = nil }),
	} {
		if got := fault(t, fixedOwn{own{halting.Fixed{Steps: 3}, unroll}}, false); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// So are calls of the recurrence that are not as documented: they would repeat a step in the cache, or run one that has no weights.
// Caught when planted: any of the checks left out.
func TestCallsOfTheRecurrenceAreChecked(t *testing.T) {
	short := func(x *Node) *Node { return SliceAxis(x, -1, AxisRange(0, 6)) }
	for want, unroll := range map[string]func(halting.Recurrence) halting.Outcome{
		" passes to AddCoordinates a state of shape (Float64)[3, 5, 6], want (Float64)[3, 5, 7]": func(r halting.Recurrence) halting.Outcome {
			r.AddCoordinates(1, short(r.State))
			return wellDone(r)
		},
		" passes to Revise a state of shape nil, want (Float64)[3, 5, 7]": func(r halting.Recurrence) halting.Outcome {
			r.Revise(1, nil)
			return wellDone(r)
		},
		" calls Revise of step 1 after 1 steps, want step 2": func(r halting.Recurrence) halting.Outcome {
			r.Revise(1, r.State)
			r.Revise(1, r.State)
			return wellDone(r)
		},
		" calls AddCoordinates of step 0 after 0 steps, want step 1": func(r halting.Recurrence) halting.Outcome {
			r.AddCoordinates(0, r.State)
			return wellDone(r)
		},
		" runs step 4, but its Limit is 3": func(r halting.Recurrence) halting.Outcome { return doneIn(r, 4) },
		" passes to After an output of shape (Float64)[3, 5, 6], want (Float64)[3, 5, 7]": func(r halting.Recurrence) halting.Outcome {
			r.After(1, r.State, short(r.State))
			return wellDone(r)
		},
		" passes to After a state of shape nil, want (Float64)[3, 5, 7]": func(r halting.Recurrence) halting.Outcome {
			r.After(1, nil, r.State)
			return wellDone(r)
		},
		" has no exit rules and no readouts: its Unroll does not call After": func(r halting.Recurrence) halting.Outcome {
			r.After = nil
			return wellDone(r)
		},
		" calls After 4 times in 3 steps, want once after each step": func(r halting.Recurrence) halting.Outcome {
			r.After(1, r.State, r.State)
			return wellDone(r)
		},
		": runtime error: index out of range [5] with length 5": func(r halting.Recurrence) halting.Outcome {
			list := make([]*Node, len(r.State.Shape().Dimensions)+2)
			return halting.Outcome{State: list[len(list)]}
		},
	} {
		want = "halting policy halting_test.adaptiveOwn" + want
		if got := fault(t, adaptiveOwn{own{halting.Fixed{Steps: 3}, unroll}}, true); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A threshold is refused for a policy that may halt by itself but has none to change. Caught when planted: an exit that ignores it.
func TestLimitedRefusesAThreshold(t *testing.T) {
	p := adaptiveOwn{own{Fixed: halting.Fixed{Steps: 3}}}
	limited := func(limit int) halting.Policy { return halting.Fixed{Steps: limit} }
	_, err := halting.Exit{Threshold: 0.5}.Limited(p, 3, limited)
	if want := "exit threshold is 0.5, but halting policy halting_test.adaptiveOwn has no threshold that can be changed: limit its steps instead"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if got, err := (halting.Exit{Steps: 2}).Limited(p, 3, limited); err != nil || got != (halting.Fixed{Steps: 2}) {
		t.Errorf("a limit: %v, %v", got, err)
	}
}
