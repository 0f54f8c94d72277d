package modeltest

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"universal-transformer/halting"
	"universal-transformer/universal"
)

// A Policy is a halting policy with its key in configurations.
type Policy struct {
	Name string
	halting.Policy
}

// Policies returns every halting policy. They run the given number of steps, or at most so many.
func Policies(steps int) []Policy {
	act := halting.ACT{MaxSteps: steps, Epsilon: 0.05}
	return []Policy{
		{"fixed", halting.Fixed{Steps: steps}}, {"length", halting.Length{Max: steps}},
		{"listing", halting.Listing{ACT: act}}, {"graves", halting.Graves{ACT: act}}, {"frozen", halting.Frozen{ACT: act}},
		{"random", halting.Random{MinSteps: (steps + 1) / 2, MaxSteps: steps}},
	}
}

// Transitions returns every transition, with a filter of the given size.
func Transitions(filter int) []universal.Transition {
	return []universal.Transition{universal.FeedForward{Filter: filter}, universal.SeparableConvolution{Filter: filter}}
}

// Arrangements returns every arrangement of the sub-layers besides the default.
func Arrangements() []universal.Arrangement {
	return []universal.Arrangement{universal.Submitted{}, universal.FirstVersion{}, universal.Branched{}}
}

// Coordinates returns all coordinates.
func Coordinates() []universal.Coordinates {
	return []universal.Coordinates{universal.Sinusoidal{}, universal.Tensor2Tensor{}}
}

// Countings returns every way to count source positions. The token 3 ends a segment.
func Countings() []universal.Counting {
	segments := universal.Segments{Separators: []string{"3"}}
	three := func(string) (int32, bool) { return 3, true }
	return []universal.Counting{
		universal.FromStart{}, universal.FromEnd{}, universal.Restarting{Segments: segments}.Resolve(three), universal.BothEnds{Segments: segments}.Resolve(three),
	}
}

// Positions returns all ways to draw positions in training.
func Positions() []universal.Positions {
	return []universal.Positions{universal.FromOne{}, universal.RandomOffset{Max: 50}, universal.RandomSubset{Max: 50}, universal.RandomRuns{Max: 50}}
}

// alone lists what changes a single field of a configuration, so that the outputs of a model with arbitrary weights change. A value of several
// kinds has a change for each.
var alone = map[string][]func(*universal.Config){
	"Width":        {func(c *universal.Config) { c.Width *= 2 }},
	"Heads":        {func(c *universal.Config) { c.Heads = 1 }},
	"Coordinates":  each(Coordinates()[1:], func(c *universal.Config, x universal.Coordinates) { c.Coordinates = x }),
	"UntiedLayers": {func(c *universal.Config) { c.UntiedLayers, c.Halting = true, halting.Fixed{Steps: 3} }},
	"Arrangement": append(each(Arrangements(), func(c *universal.Config, x universal.Arrangement) { c.Arrangement = x }),
		func(c *universal.Config) {
			c.Arrangement, c.UntiedLayers, c.Halting = universal.Branched{PreNorm: true}, true, halting.Fixed{Steps: 3}
		}),
	"PreNorm":      {func(c *universal.Config) { c.PreNorm = !c.PreNorm }},
	"LearnedSteps": {func(c *universal.Config) { c.LearnedSteps = true }},
	"ScaleSteps":   {func(c *universal.Config) { c.LearnedSteps, c.ScaleSteps = true, true }},

	"ScaleEmbedding":  {func(c *universal.Config) { c.ScaleEmbedding = true }},
	"SharedEmbedding": {func(c *universal.Config) { c.SharedEmbedding, c.TargetVocabulary = true, c.SourceVocabulary }},
	"TiedReadout":     {func(c *universal.Config) { c.TiedReadout = true }},
	"EmbeddingWidth":  {func(c *universal.Config) { c.EmbeddingWidth = 3 }},
	"Counting":        each(Countings()[1:], func(c *universal.Config, x universal.Counting) { c.Counting, c.Width = x, max(c.Width, 8) }),
}

// elsewhere lists the other fields, with the reason why no variant changes them alone.
var elsewhere = map[string]string{
	"SourceVocabulary": "a size", "TargetVocabulary": "a size",
	"TokensPerPosition": "sources have another shape: tests of their own",
	"Transition":        "Transitions", "Halting": "Policies",
	"Dropout": "training only: tests of their own", "Positions": "training only: tests of their own", "Seed": "initial weights", "Precision": "the caller's choice",
	"OwnSteps": "set by an Exit", "DecoderHalting": "set by an Exit", "Rule": "set by an Exit",
}

// each returns a change for each value.
func each[T any](values []T, set func(*universal.Config, T)) (changes []func(*universal.Config)) {
	for _, v := range values {
		changes = append(changes, func(c *universal.Config) { set(c, v) })
	}
	return changes
}

// A Variant is a configuration with a name that says in what it differs from others.
type Variant struct {
	Name   string
	Config universal.Config
}

// Variants returns configurations that differ from base in a single field, or in those that must change together: every field that the outputs
// of a trained model depend on, but for the halting policy and the transition, of which [Policies] and [Transitions] have all. Not all of them
// are valid for every kind of model. A field of [universal.Config] that is not considered here fails the test of this package.
func Variants(base universal.Config) (list []Variant) {
	for _, field := range slices.Sorted(maps.Keys(alone)) {
		for i, change := range alone[field] {
			c := base
			change(&c)
			name := field
			if value := reflect.ValueOf(c).FieldByName(field); value.Kind() == reflect.Interface {
				name = fmt.Sprintf("%s %d, %T", field, i+1, value.Interface())
			}
			list = append(list, Variant{name, c})
		}
	}
	return list
}
