package halting

import (
	"fmt"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
)

// A Rule ends positions of a trained model early by what the model would answer after each step: its readouts. It works with any
// policy and needs no training. It is an interface because rules are compared with each other and new ones are easily added. Its
// implementations are [Confidence], [Unchanged] and [Divergence].
type Rule interface {
	// Name is the rule's name in flags, requests and errors: "confidence".
	Name() string
	// Ends returns which places end after step t, [...] bool, given the log-probabilities [..., V] of the readouts after steps 1 to t.
	// nil means none. Models call the function [Ends], which checks the shape.
	Ends(logP []*Node) *Node
	// Validate returns an error that names the value and valid values, without the name of the rule, which [Exit.Validate] and others put
	// before it: "the probability is 2: it must be above 0 and at most 1".
	Validate() error
	// String describes the rule: "confidence of at least 0.9".
	String() string
}

// Confidence ends a position once the probability of its most probable token is at least Least.
type Confidence struct{ Least float64 }

// Name is "confidence".
func (Confidence) Name() string { return "confidence" }

// Ends compares the largest probability with the threshold.
func (c Confidence) Ends(logP []*Node) *Node {
	best := ReduceMax(Exp(logP[len(logP)-1]), -1)
	return GreaterOrEqual(best, Scalar(best.Graph(), best.DType(), c.Least))
}

// Validate returns an error unless the threshold is above 0 and at most 1.
func (c Confidence) Validate() error {
	if !(c.Least > 0 && c.Least <= 1) {
		return fmt.Errorf("the probability is %v: it must be above 0 and at most 1", c.Least)
	}
	return nil
}

// String describes the rule.
func (c Confidence) String() string { return fmt.Sprintf("confidence of at least %v", c.Least) }

// Unchanged ends a position once its most probable token has not changed for this number of steps, which is after step Steps + 1 at
// the earliest.
type Unchanged struct{ Steps int }

// Name is "unchanged".
func (Unchanged) Name() string { return "unchanged" }

// Ends compares the most probable tokens of the last Steps + 1 readouts.
func (u Unchanged) Ends(logP []*Node) *Node {
	t := len(logP)
	if t <= u.Steps {
		return nil
	}
	last := ArgMax(logP[t-1], -1, dtypes.Int32)
	same := Equal(last, ArgMax(logP[t-2], -1, dtypes.Int32))
	for k := 2; k <= u.Steps; k++ {
		same = LogicalAnd(same, Equal(last, ArgMax(logP[t-1-k], -1, dtypes.Int32)))
	}
	return same
}

// Validate returns an error unless there is at least one step.
func (u Unchanged) Validate() error {
	if u.Steps < 1 || u.Steps > MaxSteps {
		return fmt.Errorf("the number of steps is %d: it must be from 1 to %d", u.Steps, MaxSteps)
	}
	return nil
}

// String describes the rule.
func (u Unchanged) String() string {
	if u.Steps == 1 {
		return "answer unchanged for 1 step"
	}
	return fmt.Sprintf("answer unchanged for %d steps", u.Steps)
}

// Divergence ends a position once a step changes its distribution by less than Below nats: the Kullback-Leibler divergence
// D(p^t || p^{t-1}), the sum of p^t (ln p^t - ln p^{t-1}).
type Divergence struct{ Below float64 }

// Name is "divergence".
func (Divergence) Name() string { return "divergence" }

// Ends compares the last two readouts.
func (d Divergence) Ends(logP []*Node) *Node {
	t := len(logP)
	if t < 2 {
		return nil
	}
	divergence := ReduceSum(Mul(Exp(logP[t-1]), Sub(logP[t-1], logP[t-2])), -1)
	return LessThan(divergence, Scalar(divergence.Graph(), divergence.DType(), d.Below))
}

// maxDivergence is the maximum bound of a divergence, far above any of two distributions.
const maxDivergence = 1e6

// Validate returns an error unless the bound is positive and at most a million.
func (d Divergence) Validate() error {
	if !(d.Below > 0 && d.Below <= maxDivergence) {
		return fmt.Errorf("the bound is %v: it must be above 0 and at most %v; 0.01 is a start", d.Below, maxDivergence)
	}
	return nil
}

// String describes the rule.
func (d Divergence) String() string { return fmt.Sprintf("divergence below %v", d.Below) }
