package halting_test

import (
	"math"
	"math/rand/v2"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/halting"
)

// ending returns a sequence whose positions After ends after steps 1 to steps, or never.
func ending(seed uint64, steps int) sequence {
	rng := rand.New(rand.NewPCG(seed, 7))
	l := randomSequence(rng, steps)
	l.bias = -2 // most positions would run on
	for _, row := range l.mask {
		l.endAt = append(l.endAt, make([]int, len(row)))
		for m := range row {
			l.endAt[len(l.endAt)-1][m] = rng.IntN(steps + 1)
		}
	}
	return l
}

// Caught when planted: the weight p for the remainder of a position that ends; a remainder under Listing; a state that runs on under
// Frozen; a position that ends twice.
func TestPositionsEndedByAfter(t *testing.T) {
	for seed := range uint64(4) {
		a := halting.ACT{MaxSteps: 5, Epsilon: 0.05}
		l := ending(seed, a.MaxSteps)
		for kind, policy := range adaptive(a) {
			want, got := follow(kind, a, l), unroll(t, policy, l)
			near(t, kind+" n", got.updates, want.updates, 0)
			near(t, kind+" r", got.remainders, want.remainders, 1e-14)
			for s := range want.weights {
				near(t, kind+" u", got.weights[s], want.weights[s], 1e-14)
				near(t, kind+" carried", got.carried[s], want.carried[s], 1e-13)
			}
			near(t, kind+" output", atRealPositions(l, got.state), atRealPositions(l, want.state), 1e-13)
		}
	}
}

// The same for policies of fixed depth in plain loops: an ended position keeps its state, which the others go on to read.
// Caught when planted: the position's state revised once more; n of the whole depth.
func TestPositionsOfFixedDepthEndedByAfter(t *testing.T) {
	const steps = 4
	for seed := range uint64(4) {
		l := ending(seed, steps)
		for name, policy := range map[string]halting.Policy{"fixed": halting.Fixed{Steps: steps}, "length": halting.Length{Max: steps}} {
			wantState, wantN := followFixed(l, steps, name == "length")
			got := unroll(t, policy, l)
			near(t, name+" n", got.updates, wantN, 0)
			near(t, name+" output", atRealPositions(l, got.state), atRealPositions(l, wantState), 1e-13)
		}
	}
}

// followFixed applies the steps of a sequence whose positions end, to each row as often as it has positions if byLength is set.
func followFixed(l sequence, steps int, byLength bool) (output, updates []float64) {
	rows, length, width := l.dims()
	for b := range rows {
		depth := steps
		if byLength {
			depth = 0
			for _, isReal := range l.mask[b] {
				if isReal {
					depth++
				}
			}
			depth = min(depth, steps)
		}
		state := l.state[b]
		n := make([]float64, length)
		for t := 1; t <= depth; t++ {
			next := make([][]float64, length)
			mean := make([]float64, width)
			for m := range length {
				for d := range width {
					mean[d] += (state[m][d] + l.signal[t-1][b][m][d]) / float64(length)
				}
			}
			for m := range length {
				ran := l.endAt[b][m] == 0 || t <= l.endAt[b][m]
				if ran && l.mask[b][m] {
					n[m]++
				}
				for d := range width {
					y := math.Tanh(0.9*(state[m][d]+l.signal[t-1][b][m][d]) + 0.8*mean[d])
					if !ran || !l.mask[b][m] && ended(l, t) {
						y = state[m][d]
					}
					next[m] = append(next[m], y)
				}
			}
			state = next
		}
		for m := range length {
			output = append(output, state[m]...)
		}
		updates = append(updates, n...)
	}
	return output, updates
}

// ended reports whether After has ended any position before step t; from then on padding is not revised either.
func ended(l sequence, t int) bool {
	for _, row := range l.endAt {
		for _, at := range row {
			if at > 0 && at < t {
				return true
			}
		}
	}
	return false
}

// What After gets at step t is, bit for bit, the output of the same policy with t steps, and its presence changes nothing.
// Caught when planted: the weighted sum so far without the remainder.
func TestAfterGetsTheOutputOfFewerSteps(t *testing.T) {
	const steps = 5
	l := randomSequence(rand.New(rand.NewPCG(4, 4)), steps)
	watched := l
	watched.endAt = make([][]int, len(l.mask))
	for b, row := range l.mask {
		watched.endAt[b] = make([]int, len(row))
	}
	policies := func(limit int) map[string]halting.Policy {
		list := adaptive(halting.ACT{MaxSteps: limit, Epsilon: 0.05})
		list["fixed"], list["length"] = halting.Fixed{Steps: limit}, halting.Length{Max: limit}
		return list
	}
	for name, policy := range policies(steps) {
		states := compute(t, l.store(t), func(scope *model.Scope, g *Graph) (list []*Node) {
			w := watched
			w.outputs = func(_ int, output *Node) { list = append(list, output) }
			state := policy.Unroll(scope, w.recurrence(g, nil)).State
			return append(list, state)
		})
		near(t, name+" output after the last step", states[steps-1], states[steps], 0)
		for limit, state := range states[:steps] {
			near(t, name+" output", state, unroll(t, policies(limit + 1)[name], l).state, 0)
		}
		near(t, name, unroll(t, policy, watched).state, unroll(t, policy, l).state, 0)
	}
}
