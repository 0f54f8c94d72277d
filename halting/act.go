package halting

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
)

// ACT holds the halting unit and its threshold, which the adaptive policies have in common.
type ACT struct {
	MaxSteps int     `json:"max_steps"` // maximum number of steps of a position, at least 1
	Epsilon  float64 `json:"epsilon"`   // a position halts once its p sum to more than 1 - Epsilon; 0.01 in the authors' code
	Bias     float64 `json:"bias"`      // initial bias of the halting unit: 1 in the authors' code (two steps at first); with -3 positions run many steps at first

	// GlorotWeight draws the initial weight of the halting unit from Glorot's uniform distribution, as the authors' code does. By
	// default the weight is zero: initially all positions run the number of steps given by the bias, and differences between them are
	// learned. With random weights they differ from the first update on, by chance.
	GlorotWeight bool `json:"glorot_weight,omitempty"`
}

// Weighted returns true: the halting unit gives every step a weight.
func (a ACT) Weighted() bool { return true }

// InitialBias returns a.Bias.
func (a ACT) InitialBias() float64 { return a.Bias }

// Limit returns a.MaxSteps.
func (a ACT) Limit(int) int { return a.MaxSteps }

// Validate returns an error if there is less than one step or more than MaxSteps, if epsilon is outside [0, 1), or if the bias is not finite.
func (a ACT) Validate() error {
	if math.IsNaN(a.Bias) || math.IsInf(a.Bias, 0) {
		return fmt.Errorf("bias is %v: it must be a finite number", a.Bias)
	}
	if a.MaxSteps < 1 {
		return fmt.Errorf("max_steps is %d: at least 1 step is needed", a.MaxSteps)
	}
	if a.MaxSteps > MaxSteps {
		return fmt.Errorf("max_steps is %d: it must be at most %d", a.MaxSteps, MaxSteps)
	}
	if !(a.Epsilon >= 0 && a.Epsilon < 1) {
		return fmt.Errorf("epsilon is %v: it must be at least 0 and below 1; the paper's authors use 0.01", a.Epsilon)
	}
	return nil
}

// steps returns the number of steps that are run: the limit, or the number of capacities.
func (a ACT) steps(c Capacities) int {
	if c == nil {
		return a.MaxSteps
	}
	return min(a.MaxSteps, len(c))
}

// probability returns the output of the halting unit: p = sigmoid(X w + b) for each position, from X = H^{t-1} + P^t. [B, M]
func (a ACT) probability(scope *model.Scope, r Recurrence, x *Node) *Node {
	g, width := x.Graph(), x.Shape().Dimensions[x.Rank()-1]
	unit := scope.At("halting")
	weight := r.Weights.Parameter(unit, "weight", a.drawWeight, width)
	bias := r.Weights.Parameter(unit, "bias", func(*rand.Rand, int, []int) float64 { return a.Bias }, 1)
	logit := Einsum("bmd,d->bm", x, weight.NodeValue(g))
	return Sigmoid(Add(logit, Reshape(bias.NodeValue(g), 1, 1)))
}

// drawWeight draws an entry of the initial weight [D] of the halting unit: zero or, with GlorotWeight, like a matrix of D inputs and one
// output.
func (a ACT) drawWeight(rng *rand.Rand, _ int, dims []int) float64 {
	if !a.GlorotWeight {
		return 0
	}
	return (2*rng.Float64() - 1) * math.Sqrt(6/float64(dims[0]+1))
}

// haltingState holds the variables of the paper's listing 2, each [B, M].
type haltingState struct {
	threshold          float64
	limit              int
	reach              Reach
	stillRunning       *Node // bool: has not halted; false at padding
	haltingProbability *Node // sum of p over the steps in which the position ran and did not halt
	remainders         *Node // 1 - haltingProbability from the step in which the position halted, 0 before
	nUpdates           *Node // number of steps
	weights            []*Node

	before, ran *Node // haltingProbability and stillRunning before the last step
}

func (a ACT) newState(r Recurrence) *haltingState {
	zeros := Zeros(r.State.Graph(), shapes.Make(r.State.DType(), r.Mask.Shape().Dimensions...))
	return &haltingState{threshold: 1 - a.Epsilon, limit: a.MaxSteps, reach: r.Reach, stillRunning: r.Mask, haltingProbability: zeros, remainders: zeros, nUpdates: zeros}
}

// update takes p of one step. It returns the weight u of the step's state, which is 0 where a position does not run, and the mask of
// positions that ran. In the last step all running positions halt and take the remainder.
func (h *haltingState) update(p *Node, last bool) (updateWeights, ran *Node) {
	zero := ZerosLike(p)
	ran = h.stillRunning
	h.before, h.ran = h.haltingProbability, ran
	newHalted := ran
	if !last {
		newHalted = LogicalAnd(ran, GreaterThan(Add(h.haltingProbability, p), Scalar(p.Graph(), p.DType(), h.threshold)))
	}
	h.stillRunning = LogicalAnd(ran, LogicalNot(newHalted))
	remainder := Where(newHalted, OneMinus(h.haltingProbability), zero)
	stepped := Where(h.stillRunning, p, zero)
	h.haltingProbability = Add(h.haltingProbability, stepped)
	h.remainders = Add(h.remainders, remainder)
	h.nUpdates = Add(h.nUpdates, ConvertDType(ran, p.DType()))
	updateWeights = Add(stepped, remainder)
	h.weights = append(h.weights, updateWeights)
	return updateWeights, ran
}

// add returns s + u y of step t. If positions end early, they take the remainder, as in the last step.
func (h *haltingState) add(e *ended, t int, last bool, state, output *Node) *Node {
	next := Add(output, Mul(perChannel(h.weights[t-1]), state))
	if e.r.After == nil {
		return next
	}
	ending := next
	if !last {
		ending = Add(output, Mul(perChannel(h.rest()), state))
	}
	stopped := h.end(e.after(t, state, ending), true)
	if stopped == nil {
		return next
	}
	return selectState(stopped, ending, next)
}

// rest returns what is missing to 1 at the positions that ran in the last step, and 0 elsewhere.
func (h *haltingState) rest() *Node {
	return Where(h.ran, OneMinus(h.before), ZerosLike(h.before))
}

// end ends positions [B, M] in the step of the last update, with the remainder as the step's weight or with the weight they have. nil
// ends none. It returns those that were still running.
func (h *haltingState) end(now *Node, withRemainder bool) *Node {
	if now == nil {
		return nil
	}
	now = LogicalAnd(h.stillRunning, now)
	h.stillRunning = LogicalAnd(h.stillRunning, LogicalNot(now))
	if withRemainder {
		rest, t := h.rest(), len(h.weights)-1
		h.weights[t] = Where(now, rest, h.weights[t])
		h.remainders = Where(now, rest, h.remainders)
	}
	return now
}

func (h *haltingState) outcome(state *Node) Outcome {
	o := Outcome{State: state, Updates: StopGradient(h.nUpdates), Remainders: h.remainders, Weights: h.weights, Limit: h.limit, Reach: h.reach}
	if len(h.weights) < h.limit {
		o.Unfinished = h.stillRunning // after the last step, positions that Listing leaves running have nothing left to compute
	}
	return o
}
