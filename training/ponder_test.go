package training

import (
	"strings"
	"testing"

	"universal-transformer/halting"
	"universal-transformer/internal/objective"
	"universal-transformer/universal"
)

// A model whose positions all halt at once, never halt before the limit, or all take the same number of steps, is warned of once, at the
// second validation in a row. Ten positions of the encoder and five of the decoder; the decoder of "even" takes 1, 3, 2, 2 and 2 steps.
// Caught when planted: a warning at every validation, at the first one, of models of fixed depth, of a stack that is not there, of a
// variance computed without the mean.
func TestWarnsOfPonderTimes(t *testing.T) {
	adaptive := halting.Frozen{ACT: halting.ACT{MaxSteps: 4}}
	type seen struct {
		tally  objective.Tally
		depths objective.Depths
	}
	// of makes a validation with variances of the numbers of steps and mean weights of the last step.
	of := func(encoder, decoder, variance, last float64) seen {
		return seen{
			objective.Tally{EncoderUpdates: 10 * encoder, EncoderPositions: 10, DecoderUpdates: 5 * decoder, DecoderPositions: 5},
			depths(10*(encoder*encoder+0.2), 5, 5*(decoder*decoder+variance), 5*last),
		}
	}
	even := seen{objective.Tally{EncoderUpdates: 25, EncoderPositions: 10, DecoderUpdates: 10, DecoderPositions: 5}, depths(65, 5, 1+9+4+4+4, 1)}
	noDecoder := of(2, 0, 0, 0)
	noDecoder.tally.DecoderPositions = 0
	for name, c := range map[string]struct {
		policy halting.Policy
		seen   []seen
		want   string
	}{
		"halts at once":         {adaptive, []seen{of(2, 1.05, 0.1, 0), of(2, 1, 0, 0), of(2, 1, 0, 0)}, "the decoder runs 1.00 steps per position"},
		"never halts":           {adaptive, []seen{of(3.95, 2, 1, 1), of(4, 2, 1, 1)}, "the encoder runs 4.00 of 4 steps per position"},
		"always two":            {adaptive, []seen{of(2.4, 2, 0, 0.4), of(2.4, 2.005, 0.005, 0.4)}, "every position of the decoder takes 2 steps: "},
		"two, the second empty": {adaptive, []seen{of(2.4, 2, 0, 0.01), of(2.4, 2, 0, 0.01)}, "every position of the decoder takes 2 steps, the last with a weight of 0.01: "},
		"two on average":        {adaptive, []seen{even, even}, ""},
		"once only":             {adaptive, []seen{of(1, 2, 1, 1), of(2, 2, 1, 1), of(1, 2, 1, 1)}, ""},
		"well":                  {adaptive, []seen{of(2, 1.2, 0.2, 0.5), of(2, 1.2, 0.2, 0.5)}, ""},
		"without a decoder":     {adaptive, []seen{noDecoder, noDecoder}, ""},
		"of fixed depth":        {halting.Fixed{Steps: 4}, []seen{of(4, 4, 0, 0), of(4, 4, 0, 0)}, ""},
		"with one step alone":   {halting.Frozen{ACT: halting.ACT{MaxSteps: 1}}, []seen{of(1, 1, 0, 1), of(1, 1, 0, 1)}, ""},
	} {
		var said []string
		tr := &Trainer{Model: universal.EncoderDecoder{Config: universal.Config{Halting: c.policy}}, Notify: func(line string) { said = append(said, line) }}
		for _, seen := range c.seen {
			tr.warnOfPonder(seen.tally, seen.depths)
		}
		switch {
		case c.want == "" && len(said) > 0, c.want != "" && (len(said) != 1 || !strings.HasPrefix(said[0], "warning: "+c.want)):
			t.Errorf("%s: said %q, want %q", name, said, c.want)
		}
	}
}

// depths makes sums of encoder and decoder.
func depths(squares, last, decoderSquares, decoderLast float64) objective.Depths {
	return objective.Depths{EncoderSquares: squares, EncoderRemainders: last, DecoderSquares: decoderSquares, DecoderRemainders: decoderLast}
}

// Advice names settings and values that differ from the run's own. Caught when planted: a bias recommended that is set, a warm-up for a
// cost of 0, the fixed depth of a step without weight; pre_norm for an arrangement.
func TestPonderAdviceChangesSomething(t *testing.T) {
	two := func(last float64) (objective.Tally, objective.Depths) {
		return objective.Tally{EncoderUpdates: 20, EncoderPositions: 10}, depths(40, 10*last, 0, 0)
	}
	for _, c := range []struct {
		name       string
		bias, last float64
		ponder     objective.PonderSchedule
		preNorm    bool
		order      universal.Arrangement
		cost       objective.PonderCost
		want       string
	}{
		{"the authors' settings", 1, 0.01, objective.PonderSchedule{Weight: 0.01}, false, nil, nil,
			"start with more steps (model.halting.bias=-2), let the ponder cost grow later (training.ponder.warmup=500), lower the ponder cost (training.ponder.weight=0.001), " +
				"normalize before the sub-layers (model.pre_norm=true), or use a fixed depth, which takes less time (model.halting.fixed.steps=1)"},
		{"all of it done", -3, 0.4, objective.PonderSchedule{}, true, nil, nil, "use a fixed depth, which takes less time (model.halting.fixed.steps=2)"},
		{"a cost that grows", -2, 0.4, objective.PonderSchedule{Weight: 0.001, Steps: 500}, true, nil, objective.Graves{},
			"lower the ponder cost (training.ponder.weight=0.0001), or use a fixed depth, which takes less time (model.halting.fixed.steps=2)"},
		{"a cost that comes late", -2, 0.4, objective.PonderSchedule{Weight: 0.001, Steps: 100, Delay: 400}, true, nil, nil,
			"lower the ponder cost (training.ponder.weight=0.0001), or use a fixed depth, which takes less time (model.halting.fixed.steps=2)"},
		{"a prior", -2, 0.4, objective.PonderSchedule{Weight: 0.01}, true, nil, objective.GeometricPrior{Lambda: 0.5},
			"expect more steps (training.ponder_cost.geometric_prior.lambda=0.25), or use a fixed depth, which takes less time (model.halting.fixed.steps=2)"},
		{"branches", -3, 0.4, objective.PonderSchedule{}, false, universal.Branched{}, nil,
			"normalize before the sub-layers (model.arrangement.branched.pre_norm=true), or use a fixed depth, which takes less time (model.halting.fixed.steps=2)"},
		{"an arrangement that says where the norms are", -3, 0.4, objective.PonderSchedule{}, false, universal.Submitted{}, nil,
			"use a fixed depth, which takes less time (model.halting.fixed.steps=2)"},
	} {
		var said string
		config := universal.Config{Halting: halting.Graves{ACT: halting.ACT{MaxSteps: 4, Bias: c.bias}}, PreNorm: c.preNorm, Arrangement: c.order}
		tr := &Trainer{Model: universal.Encoder{Config: config}, Notify: func(line string) { said = line }}
		tr.Config.Steps, tr.Config.Ponder, tr.Config.PonderCost = 1000, c.ponder, c.cost
		for range 2 {
			tr.warnOfPonder(two(c.last))
		}
		if _, advice, _ := strings.Cut(strings.TrimPrefix(said, "warning: "), ": "); advice != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.name, advice, c.want)
		}
	}
}

// deepest is an adaptive policy of another module, whose limit and bias have other names.
type deepest struct {
	halting.Policy `json:"-"`
	Deepest        int `json:"deepest"`
}

func (deepest) Weighted() bool       { return true }
func (deepest) InitialBias() float64 { return 1 }
func (d deepest) Limit(int) int      { return d.Deepest }

// Advice about a policy of another module names fields that it has. Caught when planted: the fields of ACT named for all.
func TestPonderAdviceForOtherPolicies(t *testing.T) {
	for steps, want := range map[float64]string{
		4: "raise the ponder cost (training.ponder.weight=0.001) or the limit of the halting policy, or use",
		2: "every position of the encoder takes 2 steps: normalize before",
	} {
		var said string
		tr := &Trainer{Model: universal.Encoder{Config: universal.Config{Halting: deepest{Deepest: 4}}}, Notify: func(line string) { said = line }}
		for range 2 {
			tr.warnOfPonder(objective.Tally{EncoderUpdates: 10 * steps, EncoderPositions: 10}, depths(10*steps*steps, 5, 0, 0))
		}
		if !strings.Contains(said, want) {
			t.Errorf("%v steps: %q, want %q", steps, said, want)
		}
	}
}
