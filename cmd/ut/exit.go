package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"universal-transformer/halting"
	"universal-transformer/pipeline"
)

// exitHelp names the flags of exitFlags in the help of commands, and exitText describes them.
const exitHelp = `--exit-*, --fixed-steps, --encoder-steps and --decoder-steps make the model stop earlier than it was
trained to, or run longer: see ut help exits.`

// exitText returns what the flags do, with a line for each of pipeline.DepthRules.
func exitText() string {
	var steps, rules string
	for _, r := range pipeline.DepthRules {
		if line := fmt.Sprintf("  --%-16s %s\n", ruleFlag(r), r.Measure); r.IsExitRule() {
			rules += line
		} else {
			steps += line
		}
	}
	return "These flags make the model stop earlier than it was trained to, or run longer:\n\n" + steps +
		"\n--encoder-steps and --decoder-steps are --fixed-steps for one of the two. These flags end a position by\n" +
		"what the model would answer after each step; they apply to the decoder or, in a classifier, to all\n" +
		"positions together:\n\n" + strings.TrimSuffix(rules, "\n")
}

// ruleFlag returns the name of the flag of a rule.
func ruleFlag(r pipeline.DepthRule) string {
	switch r.Name {
	case "fixed":
		return "fixed-steps"
	case "limit":
		return "exit-steps"
	}
	return "exit-" + r.Name
}

// exitFlags holds the flags that end the computation of a position earlier or later than in training. check sets exit.
type exitFlags struct {
	exit     halting.Exit
	settings []func() float64 // of pipeline.DepthRules
}

func (f *exitFlags) add(c *cobra.Command) {
	flags, e := c.Flags(), &f.exit
	for _, r := range pipeline.DepthRules {
		if r.Whole {
			n := flags.Int(ruleFlag(r), 0, r.Effect)
			f.settings = append(f.settings, func() float64 { return float64(*n) })
		} else {
			x := flags.Float64(ruleFlag(r), 0, r.Effect)
			f.settings = append(f.settings, func() float64 { return *x })
		}
	}
	flags.IntVar(&e.EncoderSteps, "encoder-steps", 0, "run exactly `N` steps in the encoder")
	flags.IntVar(&e.DecoderSteps, "decoder-steps", 0, "run exactly `N` steps in the decoder")
}

// check rejects values that no model supports, and sets the exit.
func (f *exitFlags) check(c *cobra.Command) error {
	for _, name := range append(wholeRuleFlags(), "encoder-steps", "decoder-steps") {
		if err := between(c, name, halting.MaxSteps); err != nil {
			return err
		}
	}
	if err := f.set(c); err != nil {
		return err
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
	return nil
}

// wholeRuleFlags returns the flags of rules whose setting is a number of steps.
func wholeRuleFlags() (names []string) {
	for _, r := range pipeline.DepthRules {
		if r.Whole {
			names = append(names, ruleFlag(r))
		}
	}
	return names
}

// set sets what the given flags of pipeline.DepthRules say. There is at most one exit rule.
func (f *exitFlags) set(c *cobra.Command) error {
	var given []string
	for i, r := range pipeline.DepthRules {
		if !c.Flags().Changed(ruleFlag(r)) {
			continue
		}
		one, e := r.Exit(f.settings[i]()), &f.exit
		e.Fixed, e.Steps, e.Threshold = cmp.Or(one.Fixed, e.Fixed), cmp.Or(one.Steps, e.Steps), cmp.Or(one.Threshold, e.Threshold)
		if one.Rule == nil {
			continue
		}
		if err := one.Rule.Validate(); err != nil {
			return usagef("--%s: %w", ruleFlag(r), err)
		}
		e.Rule, given = one.Rule, append(given, "--"+ruleFlag(r))
	}
	if len(given) > 1 {
		return usagef("%s are given: choose one rule", strings.Join(given, " and "))
	}
	return nil
}

// ruleLegend returns the name of a rule in legends.
func ruleLegend(name string) string {
	if i := slices.IndexFunc(pipeline.DepthRules, func(r pipeline.DepthRule) bool { return r.Name == name }); i >= 0 {
		return pipeline.DepthRules[i].Legend
	}
	return "as trained"
}

// apply makes a model stop as the flags say.
func (f *exitFlags) apply(m *pipeline.Model) error {
	if err := m.SetExit(f.exit); err != nil {
		return usageError{err}
	}
	return nil
}
