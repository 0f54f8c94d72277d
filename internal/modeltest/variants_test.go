package modeltest

import (
	"reflect"
	"slices"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
	"universal-transformer/halting"
	"universal-transformer/universal"
)

func base() universal.Config {
	return universal.Config{
		SourceVocabulary: 7, TargetVocabulary: 5, Width: 6, Heads: 2, Seed: 5, Precision: dtypes.Float64,
		Transition: universal.FeedForward{Filter: 6}, Halting: halting.Frozen{ACT: halting.ACT{MaxSteps: 4, Epsilon: 0.05}},
	}
}

// Every field of a model's configuration is one of those that variants change, or is listed as one that they do not.
// Caught when planted: a new field; a field that is in neither list.
func TestEveryFieldIsConsidered(t *testing.T) {
	config := reflect.TypeFor[universal.Config]()
	for i := range config.NumField() {
		name := config.Field(i).Name
		if _, varied := alone[name]; varied == (elsewhere[name] != "") {
			t.Errorf("universal.Config.%s must be in one of the lists of internal/modeltest/variants.go: in alone, if the outputs of a trained model depend on it, "+
				"so that the tests of padding, causality, cache and selection run with it, or in elsewhere, with the reason", name)
		}
	}
	if listed := len(alone) + len(elsewhere); listed != config.NumField() {
		t.Errorf("internal/modeltest/variants.go lists %d fields, and universal.Config has %d", listed, config.NumField())
	}
}

// Every variant is a valid model that answers otherwise than the model without the change.
// Caught when planted: a change that changes nothing.
func TestVariantsDiffer(t *testing.T) {
	run := func(c universal.Config) []float64 {
		m := New(t, universal.EncoderDecoder{Config: c}, false, func(source, target *graph.Node) universal.Inputs {
			return universal.Inputs{Source: source, Target: target}
		})
		logits, _ := m.Run([][]int32{{3, 6, 2, 5}}, [][]int32{{2, 4, 1}})
		return logits
	}
	plain := run(base())
	for _, v := range Variants(base()) {
		if slices.Equal(run(v.Config), plain) {
			t.Errorf("%s changes nothing", v.Name)
		}
	}
}
