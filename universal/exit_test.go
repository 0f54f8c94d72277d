package universal_test

import (
	"strings"
	"testing"

	"universal-transformer/halting"
	"universal-transformer/universal"
)

// An exit leaves the table of learned steps as it is, whatever the new limit, and takes no more steps than it has.
// Caught when planted: a table as long as the new limit.
func TestExitKeepsLearnedSteps(t *testing.T) {
	trained := universal.Config{
		TargetVocabulary: 5, Width: 4, Heads: 2, LearnedSteps: true, Transition: universal.FeedForward{Filter: 4},
		Halting: halting.Graves{ACT: halting.ACT{MaxSteps: 6, Epsilon: 0.01}},
	}
	for _, exit := range []halting.Exit{{Steps: 2}, {Threshold: 0.3}, {Fixed: 6}, {Fixed: 1}} {
		c, err := trained.Exit(exit)
		if err != nil {
			t.Fatal(err)
		}
		if c, err = c.Exit(exit); exit.Fixed > 0 && err != nil { // once more changes nothing
			t.Fatal(err)
		}
		c.Halting = halting.Fixed{Steps: 1}
		if shape := shapesOf(t, universal.Decoder{Config: c})["decoder.step"]; shape != "[6 4]" {
			t.Errorf("%+v: the table is %s, it was trained with 6 steps", exit, shape)
		}
	}
	if _, err := trained.Exit(halting.Exit{Fixed: 7}); err == nil || !strings.Contains(err.Error(), "give at most 6") {
		t.Errorf("more steps than were learned: %v", err)
	}
	trained.LearnedSteps = false
	if c, err := trained.Exit(halting.Exit{Fixed: 7}); err != nil || c.Halting != (halting.Fixed{Steps: 7}) {
		t.Errorf("more steps than trained without a table: %v, %v", c.Halting, err)
	}
}
