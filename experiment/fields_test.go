package experiment_test

import (
	"testing"

	"universal-transformer/experiment/recipes"
)

// Fields of a recipe, by hand. Caught when planted: the last key in place of the path.
func TestFields(t *testing.T) {
	r, err := recipes.Named("babi-10k-single/task02")
	if err != nil {
		t.Fatal(err)
	}
	fields := r.Run().Fields()
	for path, want := range map[string]any{
		"training.steps": 40_000.0, "task.babi.set": "en-10k", "model.classifier.pre_norm": true,
		"model.classifier.transition.separable_convolution.widths": "[3 1]", "training.batch.boundaries": nil,
	} {
		if got, ok := fields[path]; !ok || got != want {
			t.Errorf("%s is %v (%v), want %v", path, got, ok, want)
		}
	}
	submitted, err := r.Run().Set("model.pre_norm=false", "model.arrangement={\"submitted\": {}}")
	if err != nil {
		t.Fatal(err)
	}
	if got := submitted.Fields()["model.classifier.arrangement.submitted"]; got != "{}" {
		t.Errorf("a variant without fields is %v", got)
	}
}
