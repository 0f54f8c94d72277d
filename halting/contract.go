package halting

import (
	"fmt"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/internal/part"
)

// Unroll is p.Unroll. It panics with an error that names the type of p and what is wanted if p passes anything else to the functions of r than
// [Recurrence] says, or if the outcome is not as [Outcome] says.
func Unroll(p Policy, scope *model.Scope, r Recurrence) Outcome {
	c := &contract{Part: part.Of("halting policy", p), policy: p, limit: p.Limit(r.Source.Shape().Dimensions[1]), r: r, state: r.State.Shape()}
	outcome := part.Call(c.Part, func() Outcome { return p.Unroll(scope, c.recurrence()) })
	c.check(outcome)
	return outcome
}

// A contract checks how a policy uses a recurrence.
type contract struct {
	part.Part
	policy Policy
	limit  int // of steps
	r      Recurrence

	state   shapes.Shape // of what a step computes now
	steps   int          // that were run
	watched int          // calls of After
}

// recurrence returns the recurrence with checks of what its functions are called with.
func (c *contract) recurrence() Recurrence {
	r := c.r
	r.AddCoordinates = func(t int, state *Node) *Node {
		c.checkStep("AddCoordinates", t, state)
		return c.r.AddCoordinates(t, state)
	}
	r.Revise = func(t int, x *Node) *Node {
		c.checkStep("Revise", t, x)
		c.steps++
		return c.r.Revise(t, x)
	}
	if r.After != nil {
		r.After = func(t int, state, output *Node) *Node {
			c.Check("passes to After a state of shape", state, c.state)
			c.Check("passes to After an output of shape", output, c.state)
			c.watched++
			return c.r.After(t, state, output)
		}
	}
	if r.Select != nil {
		r.Select = func(s *Selection) {
			c.state = s.shapeOf(c.r.State.Shape())
			c.r.Select(s)
		}
	}
	return r
}

// checkStep checks the arguments of AddCoordinates or Revise.
func (c *contract) checkStep(function string, t int, state *Node) {
	if t != c.steps+1 {
		panic(c.Errorf("calls %s of step %d after %d steps, want step %d", function, t, c.steps, c.steps+1))
	}
	if t > c.limit {
		panic(c.Errorf("runs step %d, but its Limit is %d", t, c.limit))
	}
	c.Check(fmt.Sprintf("passes to %s a state of shape", function), state, c.state)
}

// check checks an outcome.
func (c *contract) check(o Outcome) {
	perPosition := shapes.Make(c.r.State.DType(), c.r.Mask.Shape().Dimensions...)
	c.Check("returned the Outcome.State", o.State, c.r.State.Shape())
	c.Check("returned the Outcome.Updates", o.Updates, perPosition)
	switch {
	case c.r.After != nil && c.watched == 0:
		panic(c.Errorf("has no exit rules and no readouts: its Unroll does not call After"))
	case c.r.After != nil && c.watched != c.steps:
		panic(c.Errorf("calls After %d times in %d steps, want once after each step", c.watched, c.steps))
	case !c.policy.Weighted() && o.Remainders != nil:
		panic(c.Errorf("returned Outcome.Remainders, want nil, because its Weighted is false"))
	case !c.policy.Weighted() && o.Weights != nil:
		panic(c.Errorf("returned Outcome.Weights, want nil, because its Weighted is false"))
	case c.policy.Weighted():
		c.checkWeights(o, perPosition)
	}
}

// checkWeights checks the fields of an outcome that only policies with weights set.
func (c *contract) checkWeights(o Outcome, perPosition shapes.Shape) {
	c.Check("returned the Outcome.Remainders", o.Remainders, perPosition)
	if len(o.Weights) != c.steps {
		panic(c.Errorf("returned %d Outcome.Weights, want one for each of %d steps", len(o.Weights), c.steps))
	}
	for i, u := range o.Weights {
		c.Check(fmt.Sprintf("returned the Outcome.Weights[%d]", i), u, perPosition)
	}
	if o.Limit != c.limit {
		panic(c.Errorf("returned the Outcome.Limit %d, want %d, its Limit", o.Limit, c.limit))
	}
	if o.Reach != c.r.Reach {
		panic(c.Errorf("returned the Outcome.Reach %+v, want %+v, that of the recurrence", o.Reach, c.r.Reach))
	}
	if o.Unfinished != nil || c.steps < c.limit {
		c.Check("returned the Outcome.Unfinished", o.Unfinished, shapes.Make(dtypes.Bool, perPosition.Dimensions...))
	}
}

// Ends is rule.Ends. It panics with an error that names the type of the rule and what is wanted if the result has another shape than [Rule] says.
func Ends(rule Rule, logP []*Node) *Node {
	p := part.Of("exit rule", rule)
	ends := part.Call(p, func() *Node { return rule.Ends(logP) })
	if ends != nil {
		places := logP[0].Shape().Dimensions
		p.Check("returned", ends, shapes.Make(dtypes.Bool, places[:len(places)-1]...))
	}
	return ends
}
