package pipeline

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"universal-transformer/halting"
	"universal-transformer/universal"
)

// A DepthRule is a way to run a trained model with fewer or more steps that has one setting. [DepthRules] lists all: flags, requests,
// evaluation at many depths and help texts are made from that table.
type DepthRule struct {
	Name   string // in flags, requests and results: "confidence"
	Legend string // in figures and tables: "answer unchanged"
	// Effect says when a position ends, with the unit of a whole setting as `N`: "end a position once its most probable token has not
	// changed for `N` steps".
	Effect  string
	Measure string // what the setting is: "the probability of the most probable token"
	Whole   bool   // whether a setting is a number of steps, at least 1 and at most [halting.MaxSteps]; others are above 0
	// Settings are those at which a model is evaluated, from few steps to many; nil for "fixed", whose number of steps the caller chooses.
	Settings func(universal.Deep) []float64
	// Exit returns the exit with a setting, which may be invalid: [halting.Exit.Validate] says so.
	Exit func(setting float64) halting.Exit
}

// IsExitRule reports whether the rule is a [halting.Rule], which ends a position by what the model would answer.
func (r DepthRule) IsExitRule() bool { return r.Exit(1).Rule != nil }

// DepthRules are the rules along which a model is evaluated: numbers of fixed steps, limits and thresholds of adaptive halting, and every
// [halting.Rule].
var DepthRules = []DepthRule{
	{
		Name: "fixed", Legend: "fixed steps", Effect: "run exactly `N` steps at every position, whatever the model learned", Measure: "the exact number of steps of every position", Whole: true,
		Exit: func(s float64) halting.Exit { return halting.Exit{Fixed: int(s)} },
	},
	{
		Name: "limit", Legend: "step limit", Effect: "run at most `N` steps at each position", Measure: "the maximum number of steps of a position", Whole: true,
		Settings: belowLimit,
		Exit:     func(s float64) halting.Exit { return halting.Exit{Steps: int(s)} },
	},
	{
		Name: "threshold", Legend: "halting threshold", Measure: "the sum of halting probabilities",
		Effect:   "halt a position once its halting probabilities sum to more than this; below the trained threshold",
		Settings: always(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95), // those that the model cannot take are left out
		Exit:     func(s float64) halting.Exit { return halting.Exit{Threshold: s} },
	},
	{
		Name: "confidence", Legend: "confidence", Measure: "the probability of the most probable token",
		Effect:   "end a position once the probability of its most probable token is at least this",
		Settings: always(0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999),
		Exit:     func(s float64) halting.Exit { return halting.Exit{Rule: halting.Confidence{Least: s}} },
	},
	{
		Name: "unchanged", Legend: "answer unchanged", Measure: "steps without a change of the most probable token", Whole: true,
		Effect:   "end a position once its most probable token has not changed for `N` steps",
		Settings: always(1, 2, 3),
		Exit:     func(s float64) halting.Exit { return halting.Exit{Rule: halting.Unchanged{Steps: int(s)}} },
	},
	{
		Name: "divergence", Legend: "divergence", Measure: "the change of the distribution by a step, in nats",
		Effect:   "end a position once a step changes its distribution by less than this many nats",
		Settings: always(3, 1, 0.3, 0.1, 0.03, 0.01, 0.001),
		Exit:     func(s float64) halting.Exit { return halting.Exit{Rule: halting.Divergence{Below: s}} },
	},
}

// always returns the same settings for every model.
func always(settings ...float64) func(universal.Deep) []float64 {
	return func(universal.Deep) []float64 { return settings }
}

// belowLimit returns the step limits below the trained one. A model of fixed depth has none: limits would be the same as fixed steps.
func belowLimit(m universal.Deep) []float64 {
	if !m.Adaptive() {
		return nil
	}
	return upTo(m.StepLimit() - 1)
}

// DepthRuleNames returns the names of [DepthRules].
func DepthRuleNames() (names []string) {
	for _, r := range DepthRules {
		names = append(names, r.Name)
	}
	return names
}

// depthRule returns the rule with a name.
func depthRule(name string) (DepthRule, error) {
	i := slices.IndexFunc(DepthRules, func(r DepthRule) bool { return r.Name == name })
	if i < 0 {
		return DepthRule{}, fmt.Errorf("rule %q is unknown: choose from %s", name, strings.Join(DepthRuleNames(), ", "))
	}
	return DepthRules[i], nil
}

// NewDepthExit returns the exit of one of [DepthRules] with a setting: a whole number of steps if the rule is Whole, and a number above 0
// otherwise. An error names the rule or the setting.
func NewDepthExit(name string, setting float64) (DepthExit, error) {
	rule, err := depthRule(name)
	switch {
	case err != nil:
		return DepthExit{}, err
	case rule.Whole && !(setting >= 1 && setting == math.Trunc(setting)):
		return DepthExit{}, fmt.Errorf("setting is %v: %s needs a number of steps, at least 1", setting, name)
	case rule.Whole && setting > halting.MaxSteps:
		return DepthExit{}, fmt.Errorf("setting is %v: at most %d steps can be run", setting, halting.MaxSteps)
	case !(setting > 0):
		return DepthExit{}, fmt.Errorf("setting is %v: it must be above 0", setting)
	}
	e := rule.Exit(setting)
	if e.Rule != nil {
		if err := e.Rule.Validate(); err != nil {
			return DepthExit{}, fmt.Errorf("setting of %s: %w", name, err)
		}
	}
	return DepthExit{name, setting, e}, e.Validate()
}
