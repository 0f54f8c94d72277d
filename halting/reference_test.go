package halting_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"universal-transformer/halting"
)

// follow is the three adaptive policies in plain loops, from the words of section 2.2, appendix B, and Graves (2016).
func follow(kind string, a halting.ACT, l sequence) outcome {
	rows, length, width := l.dims()
	got := outcome{
		state: make([]float64, rows*length*width), updates: make([]float64, rows*length), remainders: make([]float64, rows*length),
	}
	for b := range rows {
		state := l.state[b]
		sum := make([]float64, length) // of p, while running
		running := append([]bool(nil), l.mask[b]...)
		for t := 1; t <= a.MaxSteps; t++ {
			if b == 0 {
				got.weights = append(got.weights, make([]float64, rows*length))
				got.carried = append(got.carried, make([]float64, rows*length*width))
			}
			x := make([][]float64, length)
			mean := make([]float64, width)
			for m := range length {
				for d := range width {
					got.carried[t-1][(b*length+m)*width+d] = state[m][d]
					x[m] = append(x[m], state[m][d]+l.signal[t-1][b][m][d])
					mean[d] += x[m][d] / float64(length)
				}
			}
			next := make([][]float64, length)
			for m := range length {
				at := b*length + m
				u, ran := 0.0, running[m]
				if ran {
					p := l.bias
					for d := range width {
						p += l.weight[d] * x[m][d]
					}
					p = sigmoid(p)
					got.updates[at]++
					if sum[m]+p > 1-a.Epsilon || t == a.MaxSteps && kind != "listing" {
						u, running[m] = 1-sum[m], false
						got.remainders[at] = u
					} else {
						u = p
						sum[m] += p
						if l.endAt != nil && l.endAt[b][m] == t { // ended by After
							if running[m] = false; kind != "listing" {
								u = 1 - (sum[m] - p)
								got.remainders[at] = u
							}
						}
					}
				}
				got.weights[t-1][at] = u
				for d := range width {
					y := math.Tanh(0.9*x[m][d] + 0.8*mean[d])
					if kind == "frozen" && !ran {
						y = state[m][d]
					}
					next[m] = append(next[m], y)
					s := &got.state[at*width+d]
					if kind == "listing" {
						*s = u*y + (1-u)**s
					} else {
						*s += u * y
					}
				}
			}
			state = next
		}
	}
	return got
}

// Caught when planted: a remainder of 1 - sum - p, p added to the sum in the halting step, a state carried from the wrong
// branch, u and 1-u exchanged in the listing, n counted only for positions that go on, a remainder at the limit where none belongs.
func TestAdaptivePoliciesAgreeWithPlainLoops(t *testing.T) {
	for seed := range uint64(5) {
		rng := rand.New(rand.NewPCG(seed, 3))
		a := halting.ACT{MaxSteps: 4, Epsilon: 0.05}
		l := randomSequence(rng, a.MaxSteps)
		for kind, policy := range adaptive(a) {
			want := follow(kind, a, l)
			got := unroll(t, policy, l)
			depths := map[float64]bool{}
			for i, n := range want.updates {
				if l.mask[i/5][i%5] {
					depths[n] = true
				}
			}
			if len(depths) < 3 {
				t.Errorf("seed %d: positions run for %v steps only: the case shows nothing", seed, depths)
			}
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

// atRealPositions leaves out the entries at padding, where the output of a policy is not specified.
func atRealPositions(l sequence, state []float64) (kept []float64) {
	_, length, width := l.dims()
	for i, v := range state {
		if at := i / width; l.mask[at/length][at%length] {
			kept = append(kept, v)
		}
	}
	return kept
}

// Caught when planted: no remainder at the limit under Graves and Frozen; one given under Listing; padding that ponders.
func TestWeightsSumToOne(t *testing.T) {
	for _, a := range []halting.ACT{{MaxSteps: 12, Epsilon: 0.01}, {MaxSteps: 3, Epsilon: 0.01}, {MaxSteps: 1, Epsilon: 0.01}} {
		l := randomSequence(rand.New(rand.NewPCG(8, 8)), a.MaxSteps)
		for kind, policy := range adaptive(a) {
			got := unroll(t, policy, l)
			capped := 0
			for at, n := range got.updates {
				sum := 0.0
				for _, u := range got.weights {
					sum += u[at]
				}
				isReal := l.mask[at/5][at%5]
				switch {
				case !isReal:
					if n != 0 || sum != 0 || got.remainders[at] != 0 {
						t.Errorf("%s, at most %d: padding has n %v, r %v and weights of %v", kind, a.MaxSteps, n, got.remainders[at], sum)
					}
				case kind == "listing" && got.remainders[at] == 0:
					capped++
					if sum >= 1-a.Epsilon || n != float64(a.MaxSteps) {
						t.Errorf("listing, at most %d: without remainder after %v steps, with weights of %v", a.MaxSteps, n, sum)
					}
				case math.Abs(sum-1) > 1e-14:
					t.Errorf("%s, at most %d: weights of position %d sum to %.17g", kind, a.MaxSteps, at, sum)
				}
			}
			if kind == "listing" && a.MaxSteps < 12 && capped == 0 {
				t.Errorf("at most %d: no position reached the limit, so the case shows nothing", a.MaxSteps)
			}
		}
	}
}
