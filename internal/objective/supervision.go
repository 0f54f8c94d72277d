package objective

import (
	"fmt"
	"math"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"universal-transformer/halting"
	"universal-transformer/universal"
)

// A Supervision makes every step answer: the loss is a weighted mean of the cross entropies of the answers read out after each step
// ([universal.Result].Readouts), and not only that of the last one (Lee et al., "Deeply-Supervised Nets", 2015). A model trained so can be
// stopped after any step. It is an interface because weightings are compared with each other. Its implementations are [Uniform],
// [Geometric] and [Halting].
type Supervision interface {
	// CheckPolicy returns an error if the weights are not defined for a halting policy. answersEach is true if the model answers at each
	// position of the stack that is read out, as decoders and taggers do.
	CheckPolicy(p halting.Policy, answersEach bool) error
	// Validate returns an error that names the first invalid field, its value, and valid values.
	Validate() error

	// weighsPositions reports whether positions have weights of their own, so that loss reads the costs of single positions. Only then
	// are they computed: the loss of a large vocabulary is otherwise computed from factors of logits, which have no such costs.
	weighsPositions() bool
	// loss returns the weighted mean of the cross entropies after each step, per real target, a scalar.
	loss(steps []CrossEntropy, result universal.Result) *Node
}

// Uniform weighs the answers after all T steps alike: with 1/T.
type Uniform struct{}

// Geometric weighs the answer after step t with q_t of [GeometricPrior], so that early steps count more.
type Geometric struct {
	Lambda float64 `json:"lambda"` // between 0 and 1; the mean of the weighted steps is about 1/lambda
}

// Halting weighs the answer after step t at each position with the weight u_t that the halting unit gives to the step there: the
// reconstruction loss of PonderNet (Banino, Balaguer and Blundell, 2021, section 2.3), the expected loss if a position halts in step t with
// probability u_t. The answers are those of this model, whose state is the mean of the steps so far.
type Halting struct{}

func (Uniform) weighsPositions() bool   { return false }
func (Geometric) weighsPositions() bool { return false }
func (Halting) weighsPositions() bool   { return true }

func (Uniform) loss(steps []CrossEntropy, _ universal.Result) *Node {
	return weighted(steps, slices.Repeat([]float64{1 / float64(len(steps))}, len(steps)))
}

func (g Geometric) loss(steps []CrossEntropy, _ universal.Result) *Node {
	q := logGeometric(g.Lambda, len(steps))
	for t := range q {
		q[t] = math.Exp(q[t])
	}
	return weighted(steps, q)
}

// weighted returns the sum of the mean cross entropies, each times its weight.
func weighted(steps []CrossEntropy, weights []float64) *Node {
	var sum *Node
	for t, m := range steps {
		if term := MulScalar(m.Mean(), weights[t]); sum == nil {
			sum = term
		} else {
			sum = Add(sum, term)
		}
	}
	return sum
}

func (Halting) loss(steps []CrossEntropy, result universal.Result) *Node {
	passes := result.Passes()
	pass := passes[len(passes)-1] // the stack that is read out
	sum := ScalarZero(steps[0].Smoothed.Graph(), steps[0].Smoothed.DType())
	for t, m := range steps {
		sum = Add(sum, ReduceAllSum(Mul(pass.Weights[t], m.costs())))
	}
	return Div(sum, MaxScalar(steps[0].Tokens, 1.0))
}

// CheckPolicy returns an error if the number of steps varies between examples without a halting unit.
func (Uniform) CheckPolicy(p halting.Policy, _ bool) error { return knownSteps(p) }

// CheckPolicy returns an error if the number of steps varies between examples without a halting unit.
func (Geometric) CheckPolicy(p halting.Policy, _ bool) error { return knownSteps(p) }

// CheckPolicy returns an error unless answers have halting weights of their own, which sum to 1.
func (Halting) CheckPolicy(p halting.Policy, answersEach bool) error {
	switch {
	case !p.Weighted():
		return fmt.Errorf("a model of fixed depth (%s) has no halting weights: choose uniform or geometric, or adaptive halting, such as frozen", p.Describe())
	case !answersEach:
		return fmt.Errorf("the model has one answer for all positions, each of which halts by itself: choose uniform or geometric")
	}
	return sumsToOne(p)
}

// knownSteps returns an error if examples of a batch run different numbers of steps, so that weights of the steps would not sum to 1.
func knownSteps(p halting.Policy) error {
	switch p.(type) {
	case halting.Length, halting.Random:
		return fmt.Errorf("the number of steps varies between examples (%s), but every step is to be weighed: choose fixed or adaptive halting", p.Describe())
	}
	return nil
}

// Validate returns nil.
func (Uniform) Validate() error { return nil }

// Validate returns an error unless Lambda is between 0 and 1.
func (g Geometric) Validate() error { return validLambda(g.Lambda) }

// Validate returns nil.
func (Halting) Validate() error { return nil }
