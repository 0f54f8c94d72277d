package halting_test

import (
	"math"
	"strings"
	"testing"

	"universal-transformer/halting"
)

// check compares an error with what it should contain, "" for none.
func check(t *testing.T, what any, err error, want string) {
	t.Helper()
	if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
		t.Errorf("%+v: %v, want %q", what, err, want)
	}
}

// Exits and rules at their bounds are valid, those beyond are not. One step is enough for two fields to contradict each other.
// Caught when planted: contradictions noticed from two steps on; another largest number of steps; thresholds below 1 refused.
func TestBoundsOfExits(t *testing.T) {
	for _, c := range []struct {
		exit halting.Exit
		want string
	}{
		{halting.Exit{Steps: 1}, ""}, {halting.Exit{Steps: 1000}, ""}, {halting.Exit{Steps: 1001}, "exit steps is 1001: at most 1000 steps"},
		{halting.Exit{Fixed: 1}, ""}, {halting.Exit{Fixed: 1000}, ""}, {halting.Exit{Fixed: 1001}, "exit fixed is 1001"},
		{halting.Exit{EncoderSteps: 1, DecoderSteps: 1}, ""}, {halting.Exit{EncoderSteps: 1000, DecoderSteps: 1000}, ""},
		{halting.Exit{EncoderSteps: 1001}, "exit encoder_steps is 1001"}, {halting.Exit{DecoderSteps: 1001}, "exit decoder_steps is 1001"},
		{halting.Exit{EncoderSteps: -1}, "exit encoder_steps is -1: give at least 1"}, {halting.Exit{DecoderSteps: -1}, "exit decoder_steps is -1"},
		{halting.Exit{Threshold: 1e-9}, ""}, {halting.Exit{Threshold: 0.5}, ""}, {halting.Exit{Threshold: -1e-9}, "exit threshold is -1e-09"},
		{halting.Exit{Fixed: 1, Steps: 1}, "exit fixed is 1, but a limit"}, {halting.Exit{Fixed: 1, Threshold: 0.1}, "exit fixed is 1, but a limit"},
		{halting.Exit{Fixed: 1, EncoderSteps: 1}, "exit fixed is 1, but steps"}, {halting.Exit{Fixed: 1, DecoderSteps: 1}, "exit fixed is 1, but steps"},
		{halting.Exit{Steps: 1, EncoderSteps: 1, Threshold: 0.1}, ""},
		{halting.Exit{Rule: halting.Confidence{Least: 1}}, ""}, {halting.Exit{Rule: halting.Confidence{Least: 1e-9}}, ""},
		{halting.Exit{Rule: halting.Unchanged{Steps: 1}}, ""}, {halting.Exit{Rule: halting.Unchanged{Steps: 1000}}, ""},
		{halting.Exit{Rule: halting.Divergence{Below: 1e6}}, ""}, {halting.Exit{Rule: halting.Divergence{Below: 1e6 + 0.5}}, "exit divergence: the bound is 1.0000005e+06"},
		{halting.Exit{Rule: halting.Unchanged{}}, "exit unchanged: the number of steps is 0: it must be from 1 to 1000"},
	} {
		check(t, c.exit, c.exit.Validate(), c.want)
	}
	for exit, want := range map[halting.Exit]string{
		{Steps: 1}: "at most 1 step", {Fixed: 1}: "1 fixed step", {EncoderSteps: 1, DecoderSteps: 1}: "1 encoder step, 1 decoder step",
		{Threshold: 0.25}: "halting threshold 0.25",
	} {
		if got := exit.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Exits of a single step, and thresholds just below what was trained.
// Caught when planted: a limit of one step without effect; a threshold of what was trained accepted.
func TestExitsAtTheirBounds(t *testing.T) {
	act := halting.ACT{MaxSteps: 6, Epsilon: 0.25}
	for _, c := range []struct {
		exit        halting.Exit
		policy, got halting.Policy
	}{
		{halting.Exit{Steps: 1}, halting.Frozen{ACT: act}, halting.Frozen{ACT: halting.ACT{MaxSteps: 1, Epsilon: 0.25}}},
		{halting.Exit{Steps: 1}, halting.Fixed{Steps: 5}, halting.Fixed{Steps: 1}}, {halting.Exit{Fixed: 1}, halting.Fixed{Steps: 5}, halting.Fixed{Steps: 1}},
		{halting.Exit{Steps: 1}, halting.Length{Max: 1}, halting.Length{Max: 1}}, {halting.Exit{Steps: 1}, halting.Length{}, halting.Length{Max: 1}},
		{halting.Exit{Steps: 1}, halting.Random{MinSteps: 1, MaxSteps: 2}, halting.Fixed{Steps: 1}},
		{halting.Exit{Threshold: 0.5}, halting.Graves{ACT: act}, halting.Graves{ACT: halting.ACT{MaxSteps: 6, Epsilon: 0.5}}},
		{halting.Exit{}, halting.Listing{ACT: act}, halting.Listing{ACT: act}},
	} {
		if got, err := c.policy.WithExit(c.exit); err != nil || got != c.got {
			t.Errorf("%+v of %#v is %#v, %v; want %#v", c.exit, c.policy, got, err, c.got)
		}
	}
	for _, policy := range []halting.Policy{halting.Frozen{ACT: act}, halting.Graves{ACT: act}, halting.Listing{ACT: act}} {
		_, err := policy.WithExit(halting.Exit{Threshold: 0.75})
		check(t, policy, err, "exit threshold is 0.75: it must be below 0.75")
		_, err = policy.WithExit(halting.Exit{Threshold: 0.749})
		check(t, policy, err, "")
	}
	for policy, want := range map[halting.Policy]string{
		halting.Fixed{Steps: 3}: "of fixed depth", halting.Random{MinSteps: 1, MaxSteps: 2}: "of fixed depth", halting.Length{}: "of depth by length",
	} {
		_, err := policy.WithExit(halting.Exit{Steps: 1, Threshold: 0.5})
		check(t, policy, err, "a model "+want+" does not halt by itself")
	}
}

// Policies at their bounds are valid, those beyond are not; and how they are described.
// Caught when planted: another largest number of steps; an epsilon of 0 refused.
func TestBoundsOfPolicies(t *testing.T) {
	for _, c := range []struct {
		policy halting.Policy
		want   string
		says   string
	}{
		{halting.Fixed{Steps: 1000}, "", "1000 steps"}, {halting.Fixed{Steps: 1001}, "steps is 1001: it must be at most 1000", "1001 steps"},
		{halting.Random{MinSteps: 1, MaxSteps: 1000}, "", "1000 steps, in training drawn from 1"}, {halting.Random{MinSteps: 1, MaxSteps: 1001}, "max_steps is 1001", ""},
		{halting.Length{Max: 1000}, "", "as many steps as source tokens"}, {halting.Length{Max: 1001}, "max is 1001", ""}, {halting.Length{Max: 1}, "", ""},
		{halting.Frozen{ACT: halting.ACT{MaxSteps: 1000}}, "", "adaptive (ACT, halted states copied), at most 1000 steps"},
		{halting.Graves{ACT: halting.ACT{MaxSteps: 1, Epsilon: 0.999}}, "", "adaptive (ACT, halted positions computed on), at most 1 steps"},
		{halting.Listing{ACT: halting.ACT{MaxSteps: 1001}}, "max_steps is 1001", "adaptive (ACT as listed in appendix B), at most 1001 steps"},
		{halting.Frozen{ACT: halting.ACT{MaxSteps: 1, Epsilon: -1e-9}}, "epsilon is -1e-09", ""},
		{halting.Frozen{ACT: halting.ACT{MaxSteps: 1, Bias: math.Inf(-1)}}, "bias is -Inf", ""}, {halting.Graves{ACT: halting.ACT{MaxSteps: 1, Bias: math.Inf(1)}}, "bias is +Inf", ""},
		{halting.Graves{ACT: halting.ACT{MaxSteps: 1, Bias: math.NaN()}}, "bias is NaN: it must be a finite number", ""},
	} {
		check(t, c.policy, c.policy.Validate(), c.want)
		if got := c.policy.Describe(); c.says != "" && got != c.says {
			t.Errorf("%q, want %q", got, c.says)
		}
	}
	for limit, want := range map[int]int{0: 5, 1: 1, 5: 5, 6: 5} {
		if got := (halting.Length{Max: limit}).Limit(5); got != want {
			t.Errorf("max %d: %d steps for 5 tokens, want %d", limit, got, want)
		}
	}
}
