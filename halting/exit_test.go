package halting_test

import (
	"math"
	"strings"
	"testing"

	"universal-transformer/halting"
)

// Exits change what they are for and nothing else.
// Caught when planted: a limit that replaces a smaller one; a threshold taken for an epsilon; a limit forgotten where there is a threshold.
func TestExits(t *testing.T) {
	act := halting.ACT{MaxSteps: 6, Epsilon: 0.01, Bias: -1}
	for _, c := range []struct {
		exit        halting.Exit
		policy, got halting.Policy
	}{
		{halting.Exit{}, halting.Length{Max: 3}, halting.Length{Max: 3}},
		{halting.Exit{Steps: 2}, halting.Fixed{Steps: 5}, halting.Fixed{Steps: 2}},
		{halting.Exit{Steps: 9}, halting.Fixed{Steps: 5}, halting.Fixed{Steps: 5}},
		{halting.Exit{Fixed: 9}, halting.Fixed{Steps: 5}, halting.Fixed{Steps: 9}},
		{halting.Exit{Steps: 2}, halting.Random{MinSteps: 1, MaxSteps: 3}, halting.Fixed{Steps: 2}},
		{halting.Exit{Steps: 4}, halting.Length{}, halting.Length{Max: 4}},
		{halting.Exit{Steps: 4}, halting.Length{Max: 3}, halting.Length{Max: 3}},
		{halting.Exit{Steps: 4}, halting.Frozen{ACT: act}, halting.Frozen{ACT: halting.ACT{MaxSteps: 4, Epsilon: 0.01, Bias: -1}}},
		{halting.Exit{Threshold: 0.75}, halting.Graves{ACT: act}, halting.Graves{ACT: halting.ACT{MaxSteps: 6, Epsilon: 0.25, Bias: -1}}},
		{halting.Exit{Threshold: 0.75, Steps: 8}, halting.Listing{ACT: act}, halting.Listing{ACT: halting.ACT{MaxSteps: 6, Epsilon: 0.25, Bias: -1}}},
		{halting.Exit{Threshold: 0.75, Steps: 5}, halting.Listing{ACT: act}, halting.Listing{ACT: halting.ACT{MaxSteps: 5, Epsilon: 0.25, Bias: -1}}},
		{halting.Exit{Fixed: 3}, halting.Listing{ACT: act}, halting.Fixed{Steps: 3}},
	} {
		if got, err := c.policy.WithExit(c.exit); err != nil || got != c.got {
			t.Errorf("%+v of %#v is %#v, %v; want %#v", c.exit, c.policy, got, err, c.got)
		}
	}
}

func TestExitErrors(t *testing.T) {
	act := halting.Frozen{ACT: halting.ACT{MaxSteps: 6, Epsilon: 0.25}}
	for _, c := range []struct {
		exit   halting.Exit
		policy halting.Policy
		want   string
	}{
		{halting.Exit{Steps: -1}, act, "exit steps is -1"},
		{halting.Exit{Fixed: -2}, act, "exit fixed is -2"},
		{halting.Exit{Threshold: math.NaN()}, act, "exit threshold is NaN"},
		{halting.Exit{Threshold: -0.5}, act, "exit threshold is -0.5"},
		{halting.Exit{Threshold: 0.75}, act, "must be below 0.75"},
		{halting.Exit{Threshold: 1e-30}, act, "exit threshold is 1e-30: give at least 1e-09"},
		{halting.Exit{Rule: halting.Divergence{Below: 1e7}}, act, "exit divergence: the bound is 1e+07: it must be above 0 and at most 1e+06"},
		{halting.Exit{Threshold: 0.5}, halting.Fixed{Steps: 3}, "fixed depth does not halt"},
		{halting.Exit{Threshold: 0.5, Steps: 2}, halting.Length{}, "depth by length does not halt"},
		{halting.Exit{Fixed: 2, Steps: 3}, act, "only one of them"},
		{halting.Exit{Fixed: 2, Threshold: 0.3}, act, "only one of them"},
	} {
		if _, err := c.policy.WithExit(c.exit); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v of %T: %v, want %q", c.exit, c.policy, err, c.want)
		}
	}
}

// A policy of another package gets the rules that all policies without a threshold have.
func TestLimited(t *testing.T) {
	policy := func(limit int) halting.Policy { return halting.Length{Max: limit} }
	for exit, want := range map[halting.Exit]halting.Policy{
		{}: policy(5), {Steps: 3}: policy(3), {Steps: 9}: policy(5), {Fixed: 7}: halting.Fixed{Steps: 7},
		{Threshold: 0.5}: nil, {Steps: -1}: nil, {Fixed: 2, Steps: 2}: nil,
	} {
		got, err := exit.Limited(policy(5), 5, policy)
		if want == nil && err == nil || want != nil && (err != nil || got != want) {
			t.Errorf("%+v: %v, %v, want %v", exit, got, err, want)
		}
	}
}
