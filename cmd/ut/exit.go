package main

import (
	"strings"

	"github.com/spf13/cobra"
	"universal-transformer/halting"
	"universal-transformer/pipeline"
)

// exitHelp names the flags of exitFlags in the help of commands, and exitText describes them.
const exitHelp = `--exit-*, --fixed-steps, --encoder-steps and --decoder-steps make the model stop earlier than it was
trained to, or run longer: see ut help exits.`

const exitText = `--exit-steps, --exit-threshold, --fixed-steps, --encoder-steps and --decoder-steps make the model
stop earlier than it was trained to, or run longer. --exit-confidence, --exit-unchanged and
--exit-divergence end a position by what the model would answer after each step; they apply to the
decoder or, in a classifier, to all positions together.`

// exitFlags holds the flags that end the computation of a position earlier or later than in training.
type exitFlags struct {
	exit                   halting.Exit
	confidence, divergence float64
	unchanged              int
}

func (f *exitFlags) add(c *cobra.Command) {
	flags, e := c.Flags(), &f.exit
	flags.IntVar(&e.Steps, "exit-steps", 0, "run at most `N` steps at each position")
	flags.Float64Var(&e.Threshold, "exit-threshold", 0, "halt a position once its halting probabilities sum to more than this; below the trained threshold")
	flags.IntVar(&e.Fixed, "fixed-steps", 0, "run exactly `N` steps at every position, whatever the model learned")
	flags.IntVar(&e.EncoderSteps, "encoder-steps", 0, "run exactly `N` steps in the encoder")
	flags.IntVar(&e.DecoderSteps, "decoder-steps", 0, "run exactly `N` steps in the decoder")
	flags.Float64Var(&f.confidence, "exit-confidence", 0, "end a position once the probability of its most probable token is at least this")
	flags.IntVar(&f.unchanged, "exit-unchanged", 0, "end a position once its most probable token has not changed for `N` steps")
	flags.Float64Var(&f.divergence, "exit-divergence", 0, "end a position once a step changes its distribution by less than this many nats")
}

// check rejects values that no model supports, and sets the rule.
func (f *exitFlags) check(c *cobra.Command) error {
	for _, name := range []string{"exit-steps", "fixed-steps", "encoder-steps", "decoder-steps", "exit-unchanged"} {
		if err := between(c, name, halting.MaxSteps); err != nil {
			return err
		}
	}
	e := &f.exit
	if c.Flags().Changed("exit-threshold") && !(e.Threshold > 0 && e.Threshold < 1) {
		return usagef("--exit-threshold is %v: it must be above 0 and below 1", e.Threshold)
	}
	if e.Fixed > 0 && (e.Steps > 0 || e.Threshold > 0) {
		return usagef("--fixed-steps leaves no choice to --exit-steps or --exit-threshold: give only one of them")
	}
	if e.Fixed > 0 && (e.EncoderSteps > 0 || e.DecoderSteps > 0) {
		return usagef("--fixed-steps is for encoder and decoder: leave out --encoder-steps and --decoder-steps, or give both instead")
	}
	return f.checkRule(c)
}

// checkRule sets the rule, of which there is at most one.
func (f *exitFlags) checkRule(c *cobra.Command) error {
	var given []string
	for _, r := range []struct {
		name string
		rule halting.Rule
	}{
		{"exit-confidence", halting.Confidence{Least: f.confidence}}, {"exit-unchanged", halting.Unchanged{Steps: f.unchanged}},
		{"exit-divergence", halting.Divergence{Below: f.divergence}},
	} {
		if !c.Flags().Changed(r.name) {
			continue
		}
		if err := r.rule.Validate(); err != nil {
			return usagef("--exit-%w", err)
		}
		f.exit.Rule, given = r.rule, append(given, "--"+r.name)
	}
	if len(given) > 1 {
		return usagef("%s are given: choose one rule", strings.Join(given, " and "))
	}
	return nil
}

// apply makes a model stop as the flags say.
func (f *exitFlags) apply(m *pipeline.Model) error {
	if err := m.SetExit(f.exit); err != nil {
		return usageError{err}
	}
	return nil
}
