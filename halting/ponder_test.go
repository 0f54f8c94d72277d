package halting_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine/enginetest"
	"universal-transformer/halting"
	"universal-transformer/internal/gradcheck"
)

// ponderGradient is the ponder cost of a line and its gradient by weight and bias of the halting unit.
func ponderGradient(t *testing.T, policy halting.Policy, l sequence) (cost float64, weight []float64, bias float64) {
	t.Helper()
	out := compute(t, l.store(t), func(scope *model.Scope, g *Graph) []*Node {
		cost := policy.Unroll(scope, l.recurrence(g, nil)).Ponder(Const(g, l.mask))
		unit := scope.At("halting")
		return append([]*Node{cost}, Gradient(cost, unit.GetVariable("weight").NodeValue(g), unit.GetVariable("bias").NodeValue(g))...)
	})
	return out[0][0], out[1], out[2][0]
}

// The cost of a single position with p = 0.3 in every step is n + r = 4 + (1 - 3 * 0.3). n is a count and carries nothing, so by the
// bias b, where dp/db = p (1 - p), the gradient is -3 p (1 - p), and by a weight that reads x from X it is x times that.
// Caught when planted: remainders that carry no gradient; an n that carries one, with its value unchanged.
func TestPonderGradientByHand(t *testing.T) {
	const p, x = 0.3, 2.0
	for kind, policy := range adaptive(halting.ACT{MaxSteps: 6, Epsilon: 0.01}) {
		l := sequence{state: [][][]float64{{{x}}}, mask: [][]bool{{true}}, weight: []float64{logit(p) / x}}
		out := compute(t, l.store(t), func(scope *model.Scope, g *Graph) []*Node {
			r := halting.Recurrence{
				State: Const(g, l.state), Mask: Const(g, l.mask), Weights: stored{},
				AddCoordinates: func(_ int, state *Node) *Node { return state },
				Revise:         func(_ int, x *Node) *Node { return x },
			}
			cost := policy.Unroll(scope, r).Ponder(r.Mask)
			unit := scope.At("halting")
			return append([]*Node{cost}, Gradient(cost, unit.GetVariable("weight").NodeValue(g), unit.GetVariable("bias").NodeValue(g))...)
		})
		near(t, kind+" cost, gradients by weight and bias", []float64{out[0][0], out[1][0], out[2][0]},
			[]float64{4.1, -3 * p * (1 - p) * x, -3 * p * (1 - p)}, 1e-12)
	}
}

// On sequences too, the halting unit learns from the ponder cost, and what it learns agrees with central differences.
func TestPonderGradientReachesTheHaltingUnit(t *testing.T) {
	a := halting.ACT{MaxSteps: 5, Epsilon: 0.05}
	for seed := range uint64(3) {
		l := randomSequence(rand.New(rand.NewPCG(seed, 3)), a.MaxSteps)
		for kind, policy := range adaptive(a) {
			_, weight, bias := ponderGradient(t, policy, l)
			for d, w := range weight {
				if w == 0 {
					t.Errorf("%s: no gradient reaches weight %d of the halting unit", kind, d)
				}
			}
			if bias == 0 {
				t.Errorf("%s: no gradient reaches the bias of the halting unit", kind)
			}
			gradcheck.Check(t, enginetest.Backend(t), l.store(t), func(scope *model.Scope, inputs []*Node) *Node {
				g := inputs[0].Graph()
				return policy.Unroll(scope, l.recurrence(g, nil)).Ponder(Const(g, l.mask))
			}, []any{1.0}, 1e-7)
		}
	}
}

// The cost is the mean over real positions only, however much padding there is, and 0 where nothing is real.
// Caught when planted: padding counted in the denominator; a division by zero.
func TestPonderIsTheMeanOverRealPositions(t *testing.T) {
	a := halting.ACT{MaxSteps: 4, Epsilon: 0.05}
	l := randomSequence(rand.New(rand.NewPCG(4, 3)), a.MaxSteps)
	nothing := l
	nothing.mask = [][]bool{make([]bool, 5), make([]bool, 5), make([]bool, 5)}
	for kind, policy := range adaptive(a) {
		want := follow(kind, a, l)
		sum, count := 0.0, 0.0
		for i := range want.updates {
			if l.mask[i/5][i%5] {
				sum, count = sum+want.updates[i]+want.remainders[i], count+1
			}
		}
		cost, _, _ := ponderGradient(t, policy, l)
		near(t, kind+" cost", []float64{cost}, []float64{sum / count}, 1e-13)
		cost, weight, bias := ponderGradient(t, policy, nothing)
		if total := fmt.Sprint(cost, weight, bias); total != "0 [0 0 0 0 0 0 0] 0" {
			t.Errorf("%s: nothing but padding costs %s", kind, total)
		}
	}
}

// A fixed depth has no ponder cost; asking for it is a mistake of the caller.
func TestPonderOfFixedDepthPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	halting.Outcome{}.Ponder(nil)
}
