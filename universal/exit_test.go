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
	trained := universal.Decoder{Config: universal.Config{
		TargetVocabulary: 5, Width: 4, Heads: 2, LearnedSteps: true, Transition: universal.FeedForward{Filter: 4},
		Halting: halting.Graves{ACT: halting.ACT{MaxSteps: 6, Epsilon: 0.01}},
	}}
	for _, exit := range []halting.Exit{{Steps: 2}, {Threshold: 0.3}, {Fixed: 6}, {Fixed: 1}} {
		m, err := trained.WithExit(exit)
		if err != nil {
			t.Fatal(err)
		}
		if m, err = m.WithExit(exit); exit.Fixed > 0 && err != nil { // once more changes nothing
			t.Fatal(err)
		}
		once := m.(universal.Decoder)
		once.Halting = halting.Fixed{Steps: 1}
		if shape := shapesOf(t, once)["decoder.step"]; shape != "[6 4]" {
			t.Errorf("%+v: the table is %s, it was trained with 6 steps", exit, shape)
		}
	}
	if _, err := trained.WithExit(halting.Exit{Fixed: 7}); err == nil || !strings.Contains(err.Error(), "give at most 6") {
		t.Errorf("more steps than were learned: %v", err)
	}
	trained.LearnedSteps = false
	if m, err := trained.WithExit(halting.Exit{Fixed: 7}); err != nil || m.(universal.Decoder).Halting != (halting.Fixed{Steps: 7}) {
		t.Errorf("more steps than trained without a table: %v, %v", m, err)
	}
}

// All three models stop where they are told to, and say whether they are adaptive.
func TestModelsWithExit(t *testing.T) {
	c := small()
	c.Halting = halting.Frozen{ACT: halting.ACT{MaxSteps: 5, Epsilon: 0.01}}
	for _, m := range []universal.Deep{universal.EncoderDecoder{Config: c}, universal.Encoder{Config: c, Pool: universal.Last}, universal.Decoder{Config: c}} {
		exited, err := m.WithExit(halting.Exit{Fixed: 2})
		if err != nil {
			t.Fatal(err)
		}
		if !m.Adaptive() || exited.Adaptive() {
			t.Errorf("%T: adaptive %v, with a fixed exit %v", m, m.Adaptive(), exited.Adaptive())
		}
		for name, n := range newMachine(t, exited).run([][]int32{{3, 2}}, [][]int32{{2, 3}}) {
			if strings.HasSuffix(name, ".updates") && (n[0] != 2 || n[1] != 2) {
				t.Errorf("%T: %s are %v, want 2", m, name, n)
			}
		}
	}
}
