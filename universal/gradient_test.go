package universal_test

import (
	"math"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine/enginetest"
	"universal-transformer/halting"
	"universal-transformer/internal/gradcheck"
	"universal-transformer/internal/objective"
	"universal-transformer/universal"
)

// gradientTolerance is relative to a parameter's largest gradient; central differences of these losses are good to some 1e-9.
const gradientTolerance = 1e-7

// Central differences agree for every entry of every parameter, and every parameter has a gradient. The cases are small models
// with every option among them.
// Caught when planted: a layer norm that stops the gradient through its mean, a transition that stops it.
func TestGradientsAgreeWithCentralDifferences(t *testing.T) {
	act := halting.ACT{MaxSteps: 4, Epsilon: 0.05}
	for _, test := range []struct {
		name   string
		change func(*universal.Config)
		model  func(universal.Config) universal.Model
	}{
		{"listing, separable convolution", func(c *universal.Config) {
			c.Halting, c.Transition = halting.Listing{ACT: act}, universal.SeparableConvolution{Filter: 5}
		}, encoderDecoder},
		{"graves, separable convolution", func(c *universal.Config) {
			c.Halting, c.Transition = halting.Graves{ACT: act}, universal.SeparableConvolution{Filter: 5}
		}, encoderDecoder},
		{"frozen, separable convolution", func(c *universal.Config) {
			c.Halting, c.Transition = halting.Frozen{ACT: act}, universal.SeparableConvolution{Filter: 5}
		}, encoderDecoder},
		{"pre-norm, learned steps, tied readout, shared and scaled embedding", func(c *universal.Config) {
			c.PreNorm, c.LearnedSteps, c.TiedReadout, c.SharedEmbedding, c.ScaleEmbedding = true, true, true, true, true
			c.TargetVocabulary, c.Halting = 7, halting.Frozen{ACT: act}
		}, encoderDecoder},
		{"length", func(c *universal.Config) { c.Halting = halting.Length{} }, encoderDecoder},
		{"encoder", func(c *universal.Config) { c.Halting = halting.Graves{ACT: act} }, func(c universal.Config) universal.Model { return universal.Encoder{Config: c} }},
		{"encoder, last position", func(c *universal.Config) { c.Halting = halting.Frozen{ACT: act} }, func(c universal.Config) universal.Model {
			return universal.Encoder{Config: c, Pool: universal.Last}
		}},
		{"encoder, each position", func(c *universal.Config) { c.Halting = halting.Frozen{ACT: act} }, func(c universal.Config) universal.Model {
			return universal.Encoder{Config: c, Pool: universal.Each}
		}},
		{"encoder, two words a position", func(c *universal.Config) { c.TokensPerPosition, c.ScaleEmbedding = 2, true },
			func(c universal.Config) universal.Model { return universal.Encoder{Config: c} }},
		{"encoder, two words a position, more positions than words", func(c *universal.Config) { c.TokensPerPosition, c.ScaleEmbedding = 2, true },
			func(c universal.Config) universal.Model { return universal.Encoder{Config: c} }},
		{"untied", func(c *universal.Config) { c.UntiedLayers = true }, encoderDecoder},
		{"untied, pre-norm, separable convolution", func(c *universal.Config) {
			c.UntiedLayers, c.PreNorm, c.Transition, c.Halting = true, true, universal.SeparableConvolution{Filter: 5}, halting.Fixed{Steps: 2}
		}, encoderDecoder},
		{"branched", func(c *universal.Config) {
			c.Arrangement, c.Transition, c.Halting = universal.Branched{}, universal.FeedForward{Filter: 6}, halting.Frozen{ACT: act}
		}, encoderDecoder},
		{"branched, untied, pre-norm", func(c *universal.Config) {
			c.Arrangement, c.Transition, c.UntiedLayers = universal.Branched{PreNorm: true}, universal.FeedForward{Filter: 6}, true
		}, encoderDecoder},
		{"untied encoder", func(c *universal.Config) { c.UntiedLayers = true }, func(c universal.Config) universal.Model { return universal.Encoder{Config: c} }},
		{"untied decoder", func(c *universal.Config) { c.UntiedLayers = true }, func(c universal.Config) universal.Model { return universal.Decoder{Config: c} }},
		{"decoder", func(c *universal.Config) { c.Halting = halting.Frozen{ACT: act} }, func(c universal.Config) universal.Model { return universal.Decoder{Config: c} }},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := small()
			test.change(&c)
			x := newMachine(t, test.model(c))
			source, target := rectangle([][]int32{{3, 6, 2, 5}, {4, 1}}, 4), rectangle([][]int32{{2, 1}, {3, 4, 1}}, 3)
			if strings.Contains(test.name, "more positions") {
				source = rectangle([][]int32{{3, 6, 2, 5, 4, 1, 6, 2}, {4, 1, 3, 0, 5, 5}}, 8)
			}
			if !hasTarget(x.model) {
				target = [][]int32{{2}, {4}}
			}
			if strings.Contains(test.name, "each position") {
				target = [][]int32{{2, 4, 3, 1}, {3, 2, 0, 0}}
			}
			variety(t, x.run(source, target))
			largest := gradcheck.Check(t, enginetest.Backend(t), x.store, trainingLoss(x.model), []any{source, target}, gradientTolerance)
			for path, gradient := range largest {
				if gradient < 1e-6 {
					t.Errorf("the largest gradient of %s is %v: nothing was compared", universal.Name(path), gradient)
				}
			}
		})
	}
}

func encoderDecoder(c universal.Config) universal.Model { return universal.EncoderDecoder{Config: c} }

// trainingLoss is smoothed cross entropy and ponder cost.
func trainingLoss(m universal.Model) gradcheck.Loss {
	return func(scope *model.Scope, nodes []*Node) *Node {
		in := universal.Inputs{Target: nodes[1]}
		if hasSource(m) {
			in.Source = nodes[0]
		}
		loss, _ := objective.Objective{LabelSmoothing: 0.1}.Of(m.Forward(scope, in, universal.Options{}), nodes[1], Const(nodes[1].Graph(), 0.3))
		return loss
	}
}

// The ponder cost alone moves the halting units of both stacks, weight and bias.
// Caught when planted: remainders that carry no gradient.
func TestPonderCostReachesTheHaltingUnits(t *testing.T) {
	for _, p := range adaptive(6) {
		c := small()
		c.Halting = p.Policy
		x := newMachine(t, universal.EncoderDecoder{Config: c})
		names, gradients := ponderGradients(t, x, rectangle(sources, 4), rectangle(targets, 5))
		for i, name := range names {
			largest := 0.0
			for _, g := range gradients[i] {
				largest = max(largest, math.Abs(g))
			}
			if reached := largest > 1e-6; !reached && strings.Contains(name, "halting") {
				t.Errorf("%s: no gradient of the ponder cost reaches %s", p.Name, name)
			} else if reached && name == "readout.weight" {
				t.Errorf("%s: the ponder cost moves %s, which it does not depend on", p.Name, name)
			}
		}
	}
}

// ponderGradients is the gradient of the ponder cost of all stacks by every parameter.
func ponderGradients(t *testing.T, x *machine, source, target [][]int32) (names []string, values [][]float64) {
	t.Helper()
	exec, err := model.NewExec(enginetest.Backend(t), x.store, func(scope *model.Scope, source, target *Node) []*Node {
		result := x.model.Forward(scope, universal.Inputs{Source: source, Target: target}, universal.Options{})
		cost := MulScalar(ReduceAllSum(result.Logits), 0)
		for _, pass := range result.Passes() {
			cost = Add(cost, pass.Ponder(pass.Mask))
		}
		var variables []*Node
		names = nil
		for v := range x.store.IterVariables() {
			names, variables = append(names, universal.Name(v.Path())), append(variables, v.NodeValue(cost))
		}
		return Gradient(cost, variables...)
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	out, err := exec.Call(source, target)
	if err != nil {
		t.Fatal(err)
	}
	for _, tensor := range out {
		values = append(values, flat(tensor))
	}
	return names, values
}
