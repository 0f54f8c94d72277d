package halting_test

import (
	"fmt"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/halting"
)

// traced runs one position whose p are given and whose state after step t is the t-th unit vector: the output then lists the
// weights that the steps have in it.
func traced(t *testing.T, policy halting.Policy, p []float64) (output []float64, n, r, cost float64, weights []float64) {
	t.Helper()
	l := sequence{weight: make([]float64, len(p))}
	l.weight[0] = 1
	out := compute(t, l.store(t), func(scope *model.Scope, g *Graph) []*Node {
		row := func(at int, value float64) *Node {
			v := make([]float64, len(p))
			v[at] = value
			return Const(g, [][][]float64{{v}})
		}
		mask := Const(g, [][]bool{{true}})
		o := policy.Unroll(scope, halting.Recurrence{
			State: row(0, 0), Mask: mask, Weights: stored{},
			AddCoordinates: func(t int, _ *Node) *Node { return row(0, logit(p[t-1])) },
			Revise:         func(t int, _ *Node) *Node { return row(t-1, 1) },
		})
		return append([]*Node{o.State, o.Updates, o.Remainders, o.Ponder(mask)}, o.Weights...)
	})
	for _, u := range out[4:] {
		weights = append(weights, u[0])
	}
	return out[0], out[1][0], out[2][0], out[3][0], weights
}

func repeat(p float64, times int) []float64 {
	list := make([]float64, times)
	for i := range list {
		list[i] = p
	}
	return list
}

// Traces worked out by hand with threshold 0.99: p in each step; n, r, cost n + r; the weights u of the steps, and those in
// the interpolated output of the listing, where the weight of a step is u times the (1 - u) of all later ones.
// Caught when planted: the listing's 1 - u lost, or u and 1 - u exchanged; p added to the sum in the halting step; n short by one.
func TestTracesByHand(t *testing.T) {
	const constant = 0.7310585786300049 // sigmoid(1): what the authors' bias gives at first
	for _, test := range []struct {
		p                  []float64
		n, r               float64
		weights, inListing []float64
		totalInListing     float64
		graves             []float64 // where it is not weights
		rGraves            float64
	}{
		{p: repeat(constant, 12), n: 2, r: .26894, weights: []float64{.73106, .26894}, inListing: []float64{.53445, .26894}, totalInListing: .80339},
		{p: repeat(.3, 12), n: 4, r: .1, weights: []float64{.3, .3, .3, .1}, inListing: []float64{.1323, .189, .27, .1}, totalInListing: .6913},
		{p: repeat(.1, 12), n: 10, r: .1, weights: repeat(.1, 10), totalInListing: .65132,
			inListing: []float64{.03874, .04305, .04783, .05314, .05905, .06561, .0729, .081, .09, .1}},
		{p: repeat(.995, 12), n: 1, r: 1, weights: []float64{1}, inListing: []float64{1}, totalInListing: 1},
		{p: repeat(.05, 6), n: 6, r: 0, weights: repeat(.05, 6), totalInListing: .26491,
			inListing: []float64{.03869, .04073, .04287, .04512, .0475, .05}, graves: append(repeat(.05, 5), .75), rGraves: .75},
		{p: []float64{.6, .2, .15, .5}, n: 4, r: .05, weights: []float64{.6, .2, .15, .05}, inListing: []float64{.3876, .1615, .1425, .05}, totalInListing: .7416},
	} {
		for kind, policy := range adaptive(halting.ACT{MaxSteps: len(test.p), Epsilon: 0.01}) {
			what := fmt.Sprintf("%s %v", kind, test.p)
			wantR, wantWeights, wantOutput := test.r, test.weights, test.inListing
			if kind != "listing" {
				if test.graves != nil {
					wantWeights, wantR = test.graves, test.rGraves
				}
				wantOutput = wantWeights
			}
			output, n, r, cost, weights := traced(t, policy, test.p)
			near(t, what+": n, r, cost", []float64{n, r, cost}, []float64{test.n, wantR, test.n + wantR}, 6e-6)
			near(t, what+": weights", weights, append(wantWeights, make([]float64, len(test.p)-len(wantWeights))...), 6e-6)
			near(t, what+": output", output, append(wantOutput, make([]float64, len(test.p)-len(wantOutput))...), 6e-6)
			total := 0.0
			for _, v := range output {
				total += v
			}
			if kind == "listing" {
				near(t, what+": total", []float64{total}, []float64{test.totalInListing}, 6e-6)
			}
		}
	}
}

// A sum of p that is exactly the threshold has not passed it. p = 1/2 is exact in binary.
// Caught when planted: >= in place of >.
func TestThresholdMustBePassed(t *testing.T) {
	for _, test := range []struct{ epsilon, n, r float64 }{{0.5, 2, 0.5}, {0, 3, 0}, {0.25, 2, 0.5}} {
		for kind, policy := range adaptive(halting.ACT{MaxSteps: 5, Epsilon: test.epsilon}) {
			_, n, r, _, _ := traced(t, policy, repeat(0.5, 5))
			if n != test.n || r != test.r {
				t.Errorf("%s, epsilon %v, p = 1/2: n = %v and r = %v, want %v and %v", kind, test.epsilon, n, r, test.n, test.r)
			}
		}
	}
}
