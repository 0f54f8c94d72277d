package halting_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/halting"
)

// readouts draws log-probabilities [steps][places][vocabulary] that become sharper and steadier from step to step.
func readouts(rng *rand.Rand, steps, places, vocabulary int) [][][]float64 {
	list := make([][][]float64, steps)
	for t := range list {
		list[t] = make([][]float64, places)
		for i := range list[t] {
			sum := 0.0
			for k := range vocabulary {
				v := 1.5 * rng.NormFloat64() / float64(t+1)
				if t > 0 {
					v += 1.4 * list[t-1][i][k]
				}
				list[t][i] = append(list[t][i], v)
				sum += math.Exp(v)
			}
			for k := range list[t][i] {
				list[t][i][k] -= math.Log(sum)
			}
		}
	}
	return list
}

// best is the index of the largest value.
func best(row []float64) int { return slices.Index(row, slices.Max(row)) }

// Every rule agrees with its definition in plain loops after every step, and ends some places and not others.
// Caught when planted: a sum of p^{t-1} for p^t; one step too few for Unchanged; > 1 - Least.
func TestRules(t *testing.T) {
	const steps, places, vocabulary = 5, 40, 6
	logP := readouts(rand.New(rand.NewPCG(2, 3)), steps, places, vocabulary)
	unchanged := func(k int) func(t, i int) bool {
		return func(t, i int) bool {
			for s := t - k; s < t; s++ {
				if s < 0 || best(logP[s][i]) != best(logP[t][i]) {
					return false
				}
			}
			return true
		}
	}
	for _, c := range []struct {
		rule halting.Rule
		name string
		want func(t, i int) bool // t from 0
	}{
		{halting.Confidence{Least: 0.7}, "confidence of at least 0.7", func(t, i int) bool { return slices.Max(logP[t][i]) >= math.Log(0.7) }},
		{halting.Unchanged{Steps: 1}, "answer unchanged for 1 step", unchanged(1)},
		{halting.Unchanged{Steps: 3}, "answer unchanged for 3 steps", unchanged(3)},
		{halting.Divergence{Below: 0.05}, "divergence below 0.05", func(t, i int) bool {
			sum := 0.0
			for k := range vocabulary {
				if t > 0 {
					sum += math.Exp(logP[t][i][k]) * (logP[t][i][k] - logP[t-1][i][k])
				}
			}
			return t > 0 && sum < 0.05
		}},
	} {
		if c.rule.String() != c.name || c.rule.Validate() != nil {
			t.Errorf("%q, %v", c.rule, c.rule.Validate())
		}
		ends := compute(t, model.NewStore(), func(_ *model.Scope, g *Graph) (list []*Node) {
			var nodes []*Node
			for step := range steps {
				nodes = append(nodes, Const(g, logP[step]))
				ends := c.rule.Ends(nodes)
				if ends == nil {
					ends = Const(g, make([]bool, places))
				}
				list = append(list, ConvertDType(ends, dtypes.Float64))
			}
			return list
		})
		count := 0
		for step := range steps {
			for i := range places {
				if got := ends[step][i] == 1; got != c.want(step, i) {
					t.Errorf("%s, step %d, place %d: ends %v", c.rule, step+1, i, got)
				}
				count += int(ends[step][i])
			}
		}
		if count == 0 || count == steps*places {
			t.Errorf("%s ended %d of %d: the case shows nothing", c.rule, count, steps*places)
		}
	}
}

func TestInvalidRules(t *testing.T) {
	for _, c := range []struct {
		rule halting.Rule
		want string
	}{
		{halting.Confidence{}, "exit confidence: the probability is 0"}, {halting.Confidence{Least: 1.01}, "exit confidence: the probability is 1.01"}, {halting.Confidence{Least: math.NaN()}, "exit confidence: the probability is NaN"},
		{halting.Unchanged{}, "exit unchanged: the number of steps is 0"}, {halting.Unchanged{Steps: 1001}, "exit unchanged: the number of steps is 1001"},
		{halting.Divergence{}, "exit divergence: the bound is 0"}, {halting.Divergence{Below: math.Inf(1)}, "exit divergence: the bound is +Inf"}, {halting.Divergence{Below: -1}, "exit divergence: the bound is -1"},
	} {
		err := halting.Exit{Rule: c.rule}.Validate()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%#v: %v, want %q", c.rule, err, c.want)
		}
	}
}

// Caught when planted: the decoder's steps called the encoder's.
func TestExitDescribesItself(t *testing.T) {
	for exit, want := range map[halting.Exit]string{
		{}: "", {Steps: 4, Threshold: 0.8}: "at most 4 steps, halting threshold 0.8", {Fixed: 3}: "3 fixed steps",
		{EncoderSteps: 2, DecoderSteps: 5, Rule: halting.Divergence{Below: 0.1}}: "2 encoder steps, 5 decoder steps, divergence below 0.1",
	} {
		if got := exit.String(); got != want || exit.Validate() != nil {
			t.Errorf("%q, want %q; %v", got, want, exit.Validate())
		}
	}
	for _, invalid := range []halting.Exit{{Fixed: 2, EncoderSteps: 1}, {Fixed: 2, DecoderSteps: 1}, {EncoderSteps: -1}, {DecoderSteps: 1001}} {
		if invalid.Validate() == nil {
			t.Errorf("%+v is valid", invalid)
		}
	}
}
