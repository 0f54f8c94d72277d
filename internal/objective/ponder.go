package objective

import (
	"fmt"
	"math"

	. "github.com/gomlx/gomlx/core/graph"
	"universal-transformer/halting"
	"universal-transformer/universal"
)

// PonderSchedule is the weight of the ponder cost in every update of training: 0 in the first Delay updates, linear growth in the next Steps,
// and constant afterwards. Pondering costs little as long as the model has not learned anything.
type PonderSchedule struct {
	Weight float64 `json:"weight"`          // factor of the ponder cost in the loss; the authors use 0.01; 0: none
	Steps  int     `json:"warmup"`          // updates in which the weight grows from 0; 0: the full weight at once
	Delay  int     `json:"delay,omitempty"` // updates before the weight begins to grow, in which steps cost nothing; 0: none
}

// At returns the weight in a step, counted from 1.
func (w PonderSchedule) At(step int64) float64 {
	if w.Delay > 0 {
		if step -= int64(w.Delay); step <= 0 {
			return 0
		}
	}
	if step >= int64(w.Steps) {
		return w.Weight
	}
	return w.Weight * float64(step) / float64(w.Steps)
}

// A PonderCost is what the steps of an adaptive stack cost. It is an interface because costs are compared with each other and new ones are
// easily added. Its implementations are [Graves] and [GeometricPrior].
type PonderCost interface {
	// Of returns the mean cost of a real position of the stack, a scalar. It panics if the depth of the stack is not adaptive.
	Of(pass *universal.Pass) *Node
	// CheckPolicy returns an error if the cost is not defined for a halting policy.
	CheckPolicy(p halting.Policy) error
	// Validate returns an error that names the first invalid field, its value, and valid values.
	Validate() error
}

// Graves is the cost n + r of Graves (2016), section 2.2, and of the paper: the number of steps plus the remainder. Every step costs the same.
type Graves struct{}

// Of returns the mean of n + r.
func (Graves) Of(pass *universal.Pass) *Node { return pass.Ponder(pass.Mask) }

// CheckPolicy returns an error unless p weighs its steps.
func (Graves) CheckPolicy(p halting.Policy) error {
	if !p.Weighted() {
		return fmt.Errorf("a model of fixed depth (%s) has no ponder cost: leave it out, or choose adaptive halting, such as frozen", p.Describe())
	}
	return nil
}

// Validate returns nil.
func (Graves) Validate() error { return nil }

// GeometricPrior is the regularizer of PonderNet (Banino, Balaguer and Blundell, "PonderNet: Learning to Ponder", 2021, section 2.3): the
// Kullback-Leibler divergence of a position's halting distribution, the weights u of its steps, from a geometric distribution that is
// truncated at the limit T of steps:
//
//	KL(u || q) = sum over t of u_t (ln u_t - ln q_t),  q_t = Lambda (1 - Lambda)^(t-1) / (1 - (1 - Lambda)^T)
//
// It draws the mean of the weighted steps to that of q, about 1/Lambda, from above and from below, while [Graves] only draws to fewer. A position
// runs until its weights sum to 1 - epsilon, which takes more steps; a lower threshold at inference (halting.Exit) ends it earlier.
type GeometricPrior struct {
	Lambda float64 `json:"lambda"` // probability of the prior to halt in a step, between 0 and 1; the mean of its steps is about 1/lambda, but positions run until their weights sum to 1 - epsilon
}

// smallestWeight bounds the logarithm of a weight. It is far below the weights of positions that run.
const smallestWeight = 1e-20

// Of returns the mean of KL(u || q). Steps that were not run, because all positions had halted before, have the weight 0.
func (c GeometricPrior) Of(pass *universal.Pass) *Node {
	if !pass.Weighted() {
		panic(fmt.Errorf("objective: a stack of fixed depth has no halting distribution"))
	}
	q := logGeometric(c.Lambda, max(pass.Limit, len(pass.Weights)))
	mask := ConvertDType(pass.Mask, pass.Remainders.DType())
	divergence := ZerosLike(mask) // [B, M]
	for t, u := range pass.Weights {
		divergence = Add(divergence, Mul(u, AddScalar(Log(MaxScalar(u, smallestWeight)), -q[t])))
	}
	return Div(ReduceAllSum(Mul(divergence, mask)), MaxScalar(ReduceAllSum(mask), 1.0))
}

// CheckPolicy returns an error unless p is adaptive with weights that sum to 1.
func (GeometricPrior) CheckPolicy(p halting.Policy) error {
	if err := (Graves{}).CheckPolicy(p); err != nil {
		return err
	}
	return sumsToOne(p)
}

// Validate returns an error unless Lambda is between 0 and 1.
func (c GeometricPrior) Validate() error { return validLambda(c.Lambda) }

// sumsToOne returns an error if the weights of the steps under an adaptive policy do not sum to 1.
func sumsToOne(p halting.Policy) error {
	if _, listing := p.(halting.Listing); listing {
		return fmt.Errorf("under listing the weights of the steps do not sum to 1 and are no distribution: choose frozen or graves")
	}
	return nil
}

func validLambda(lambda float64) error {
	if !(lambda > 0 && lambda < 1) {
		return fmt.Errorf("lambda is %v: it must be above 0 and below 1; with 0.25 the mean is about 4 steps", lambda)
	}
	return nil
}

// logGeometric returns the logarithms of the geometric distribution over steps 1 to limit, in which q_t is proportional to (1 - lambda)^(t-1).
func logGeometric(lambda float64, limit int) []float64 {
	ratio := math.Log1p(-lambda)
	first := math.Log(lambda) - math.Log(-math.Expm1(float64(limit)*ratio))
	q := make([]float64, limit)
	for t := range q {
		q[t] = first + float64(t)*ratio
	}
	return q
}
