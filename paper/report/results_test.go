package report

import (
	"encoding/json"
	"strings"
	"testing"

	"universal-transformer/experiment"
	"universal-transformer/experiment/recipes"
	"universal-transformer/sweep"
)

// A result has today's version of its recipe wherever its data were, from whatever run it started, and with a stand-in for missing data. Any
// other field makes it an earlier version. Caught when planted: folders that are compared by name.
func TestRecipeVersion(t *testing.T) {
	for _, c := range []struct {
		recipe string
		set    []string
		today  bool
	}{
		{"lambada/reading", []string{"task.path=elsewhere", "task.prose=books"}, true},
		{"lambada/novels-pretrained", []string{"training.pretrained=runs/other-seed2"}, true},
		{"babi-10k-single/task03", []string{"task.stand_in=qa3_other_train.txt"}, true},
		{"babi-10k-single/task03", []string{"task.stand_in=qa3_other_train.txt", "model.width=48"}, false},
		{"lambada/reading", []string{"task.min_count=2"}, false},
		{"algorithmic/copy", []string{"training.steps=9999"}, false},
		{"algorithmic/copy", nil, true},
	} {
		recipe, err := recipes.Named(c.recipe)
		if err != nil {
			t.Fatal(err)
		}
		trained, err := recipe.Run().Set(c.set...)
		if err != nil {
			t.Fatal(err)
		}
		trained.Seed = 7
		config, err := json.Marshal(trained)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := experiment.Decode(config); err != nil {
			t.Fatal(err)
		}
		version := run{Result: sweep.Result{Header: sweep.Header{Recipe: c.recipe}, Config: config}}.recipeVersion()
		if (version == today) != c.today || !c.today && !strings.HasPrefix(version, "of ") {
			t.Errorf("%s %v: %q", c.recipe, c.set, version)
		}
	}
}
