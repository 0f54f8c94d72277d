package serve

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"testing"

	"universal-transformer/pipeline"
)

// The page has a text for every rule of an exit, and the description lists the rules. Caught when planted: a rule that the page lacks; one
// that the description lacks.
func TestPageAndDescriptionHaveEveryRule(t *testing.T) {
	script, err := os.ReadFile("page/trace.js")
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Components struct {
			Schemas struct {
				Exit struct {
					Properties struct{ Rule struct{ Enum []string } }
				}
			}
		}
	}
	if err := json.Unmarshal(description, &d); err != nil {
		t.Fatal(err)
	}
	names := pipeline.DepthRuleNames()
	if listed := d.Components.Schemas.Exit.Properties.Rule.Enum; !slices.Equal(listed, names) {
		t.Errorf("openapi.json lists the rules %q, the server takes %q", listed, names)
	}
	for _, name := range names {
		if !regexp.MustCompile(`\b` + name + `: \["`).Match(script) {
			t.Errorf("page/trace.js has no text for the rule %s", name)
		}
	}
}
