package universal_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"universal-transformer/halting"
	"universal-transformer/internal/seed"
	"universal-transformer/universal"
)

// uniform draws from -limit to limit with limit sqrt(6 / both sizes).
func uniform(inputs, outputs int) func(rng *rand.Rand, i int) float64 {
	return func(rng *rand.Rand, _ int) float64 {
		return (2*rng.Float64() - 1) * math.Sqrt(6/float64(inputs+outputs))
	}
}

func gaussian(mean, deviation float64) func(rng *rand.Rand, i int) float64 {
	return func(rng *rand.Rand, _ int) float64 { return mean + deviation*rng.NormFloat64() }
}

func always(v float64) func(*rand.Rand, int) float64 {
	return func(*rand.Rand, int) float64 { return v }
}

// Initial values are drawn in order from the stream of a parameter's name: the rules of the authors' code and of this package, one a
// line. They must not change, because published runs and their seeds depend on them.
func TestInitialValuesByName(t *testing.T) {
	c := small() // width 6
	c.Halting, c.LearnedSteps, c.ScaleSteps = halting.Graves{ACT: halting.ACT{MaxSteps: 3, Bias: 0.7, GlorotWeight: true}}, true, true
	factored := c
	factored.EmbeddingWidth, factored.ScaleSteps = 4, false
	factored.Transition = universal.SeparableConvolution{Filter: 5, Widths: [2]int{2, 4}}
	words := c
	words.TokensPerPosition = 2
	p := pointer()
	p.Config, p.Evidence = c, true
	p.SourceVocabulary, p.TargetVocabulary = 7, 7
	halves := func(own, channels int) func(rng *rand.Rand, i int) float64 {
		return func(rng *rand.Rand, i int) float64 {
			v := (rng.Float64() - 0.5) / 5
			if i/channels == own {
				v++
			}
			return v
		}
	}
	rules := map[string]func(rng *rand.Rand, i int) float64{
		"embedding.source": gaussian(0, 1/math.Sqrt(6)), "embedding.target": gaussian(0, 1/math.Sqrt(6)), "embedding.evidence": gaussian(0, 1/math.Sqrt(6)),
		"embedding.mask": gaussian(1, 1), "*.halting.weight": uniform(6, 1), "*.halting.bias": always(0.7), "*.step": gaussian(0, 1/math.Sqrt(6)),
		"*.gain": always(1), "*.bias": always(0), "*.query": uniform(6, 6), "*.key": uniform(6, 6), "*.value": uniform(6, 6), "*.output": uniform(6, 6),
		"*.inner.weight": uniform(6, 5), "*.outer.weight": uniform(5, 6), "readout.weight": uniform(6, 5), "pointer.weight": uniform(6, 6),
	}
	factoredRules := map[string]func(rng *rand.Rand, i int) float64{
		"embedding.source": gaussian(0, 0.5), "embedding.target": gaussian(0, 0.5), "embedding.projection": gaussian(0, 1/math.Sqrt(6)), "*.step": gaussian(0, 1),
		"encoder.*.first.depthwise": halves(0, 6), "encoder.*.second.depthwise": halves(1, 5), "decoder.*.first.depthwise": halves(1, 6), "decoder.*.second.depthwise": halves(3, 5),
		"*.first.pointwise": uniform(6, 5), "*.second.pointwise": uniform(5, 6),
	}
	for i, m := range []universal.Model{universal.EncoderDecoder{Config: c}, universal.Encoder{Config: words}, p, universal.EncoderDecoder{Config: factored}} {
		x := newMachineAsInitialised(t, m)
		for v := range x.store.IterVariables() {
			name := universal.Name(v.Path())
			if !v.Trainable {
				continue
			}
			rule := ruleOf(rules, name)
			if special := ruleOf(factoredRules, name); i == 3 && special != nil {
				rule = special
			}
			if rule == nil {
				t.Errorf("%s has no rule", name)
				continue
			}
			got := flat(v.MustValue())
			want := make([]float64, len(got))
			rng := seed.Rand(5, "parameter "+name, 0)
			for i := range want {
				want[i] = rule(rng, i)
			}
			if d := distance(got, want); !(d < 1e-6) {
				t.Errorf("%T: %s starts at %v, want %v", m, name, got[:1], want[:1])
			}
		}
	}
}

// ruleOf returns the rule of the longest pattern that a name matches, or nil.
func ruleOf(rules map[string]func(*rand.Rand, int) float64, name string) (rule func(*rand.Rand, int) float64) {
	longest := 0
	for pattern, r := range rules {
		parts := strings.Split(pattern, "*")
		if strings.HasPrefix(name, parts[0]) && strings.HasSuffix(name, parts[len(parts)-1]) && len(pattern) > longest {
			rule, longest = r, len(pattern)
		}
	}
	return rule
}

// The draws of published runs, recorded: a change would change the runs of every seed. A sequence that fills the range draws nothing.
// Caught when planted: a number drawn for nothing, or in another order.
func TestDrawsOfPublishedRuns(t *testing.T) {
	for _, c := range []struct {
		positions universal.Positions
		want      [][]int32
	}{
		{universal.RandomOffset{Max: 40}, [][]int32{{19, 20, 21, 22}, {6, 7, 8, 9}, {23, 24, 25, 26}, {34, 35, 36, 37}}},
		{universal.RandomSubset{Max: 40}, [][]int32{{9, 12, 13, 17, 20, 24}, {6, 16, 24, 30, 33, 38}, {10, 11, 15, 21, 26, 36}, {10, 15, 27, 35, 37, 39}}},
		{universal.RandomRuns{Max: 40}, [][]int32{{5, 6, 23, 24, 25, 26}, {1, 2, 3, 4, 5, 6}, {14, 15, 16, 17, 35, 36}, {7, 8, 13, 15, 16, 26}}},
		{universal.RandomRuns{Max: 200}, [][]int32{{27, 116, 117, 118, 119, 120, 182, 183, 184}, {1, 2, 3, 4, 5, 6, 7, 8, 198}, {34, 47, 48, 60, 61, 67, 68, 69, 122}, {4, 5, 6, 189, 190, 191, 192, 193, 194}}},
		{universal.FromOne{}, [][]int32{{1, 2, 3}}},
	} {
		rng := seed.Rand(3, "positions", 1)
		for i, want := range c.want {
			if got := c.positions.Draw(rng, len(want)); !slices.Equal(got, want) {
				t.Errorf("%T, draw %d: %v, want %v", c.positions, i, got, want)
			}
		}
	}
	for _, p := range []universal.Positions{universal.FromOne{}, universal.RandomOffset{Max: 5}, universal.RandomRuns{Max: 5}} {
		rng, untouched := seed.Rand(3, "positions", 1), seed.Rand(3, "positions", 1)
		if p.Draw(rng, 5); rng.Uint64() != untouched.Uint64() {
			t.Errorf("%T draws where there is one choice", p)
		}
	}
	rng, order := seed.Rand(3, "positions", 1), seed.Rand(3, "positions", 1)
	universal.RandomSubset{Max: 5}.Draw(rng, 5)
	if order.Perm(5); rng.Uint64() != order.Uint64() {
		t.Error("a subset of all positions is drawn otherwise than any other")
	}
}
