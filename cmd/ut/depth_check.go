package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/gomlx/compute"
	"github.com/spf13/cobra"
	"universal-transformer/pipeline"
)

// checkRuns returns an error, before any run is measured, if one is named twice, cannot be evaluated with the flags, or is measured by
// another metric than the others.
func (f *depthFlags) checkRuns(c *cobra.Command, dirs []string) error {
	first := ""
	for i, dir := range dirs {
		if err := differentRun(dirs[:i], dir); err != nil {
			return err
		}
		err := interruptible(c.Context(), func() error {
			return using(f.backend, func(backend compute.Backend) error {
				m, err := pipeline.Load(dir, backend)
				if err != nil {
					return err
				}
				defer m.Close()
				metric, err := f.tryOut(c, m)
				if first = cmp.Or(first, metric); err == nil && metric != first {
					err = fmt.Errorf("%s is measured by %s and %s by %s: give --metric, or compare them separately", dirs[0], first, dir, metric)
				}
				return err
			})
		})
		if err != nil {
			return withDataHint(err)
		}
	}
	return nil
}

// differentRun returns an error if a run is one of others, by the same name or another one.
func differentRun(others []string, dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return nil //nolint:nilerr // loading it says what is wrong
	}
	for _, other := range others {
		if known, err := os.Stat(other); err == nil && os.SameFile(known, info) {
			return usagef("%s and %s are the same run: name it once", other, dir)
		}
	}
	return nil
}

// tryOut evaluates a run on one example, with the flags, and returns the name of its metric.
func (f *depthFlags) tryOut(c *cobra.Command, m *pipeline.Model) (string, error) {
	if _, err := f.exits(c, m); err != nil {
		return "", err
	}
	p := f.Protocol
	p.Selection.Count = 1
	found, err := m.Evaluate(c.Context(), p)
	if err != nil {
		return "", err
	}
	return pipeline.DepthMetric(found.Metrics, f.metric)
}

// exits returns the exits at which a run is measured.
func (f *depthFlags) exits(c *cobra.Command, m *pipeline.Model) ([]pipeline.DepthExit, error) {
	exits, err := m.DepthExits(f.rules, f.steps)
	if err == nil && c.Flags().Changed("rules") {
		err = f.applies(m, exits)
	}
	if err == nil && f.File == "" {
		err = checkSelection(m.Run, f.Selection)
	}
	return exits, err
}

// applies returns an error if the model has no exit of a rule.
func (f *depthFlags) applies(m *pipeline.Model, exits []pipeline.DepthExit) error {
	of := func(exits []pipeline.DepthExit, rule string) bool {
		return slices.ContainsFunc(exits, func(e pipeline.DepthExit) bool { return e.Rule == rule })
	}
	for _, rule := range f.rules {
		if of(exits, rule) {
			continue
		}
		all, err := m.DepthExits(pipeline.DepthRuleNames(), f.steps)
		if err != nil {
			return err
		}
		others := slices.DeleteFunc(pipeline.DepthRuleNames(), func(r string) bool { return !of(all, r) })
		return usagef("--rules: %s does not apply to %s (%s): choose from %s", rule, m.Dir(), m.Describe(), strings.Join(others, ", "))
	}
	return nil
}
