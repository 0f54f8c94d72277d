package training

import (
	"testing"

	"universal-transformer/objective"
)

// What is best: by cross entropy alone, or by sequences right, and by cross entropy among equals.
// Caught when planted: the two rules exchanged, equals that replace each other.
func TestBetter(t *testing.T) {
	tally := func(nats, right float64) objective.Tally {
		return objective.Tally{Nats: nats, Symbols: 1, SequencesRight: right, Sequences: 10}
	}
	for _, c := range []struct {
		nats, right        float64
		byNats, byAccuracy bool
	}{
		{0.5, 7, false, false}, {0.4, 7, true, true}, {0.6, 8, false, true}, {0.4, 6, true, false}, {0.6, 7, false, false},
	} {
		best := state{BestStep: 10, BestNats: 0.5, BestRight: 7}
		for byAccuracy, want := range map[bool]bool{false: c.byNats, true: c.byAccuracy} {
			tr := &Trainer{Config: Config{BestByAccuracy: byAccuracy}, state: best}
			if got := tr.better(tally(c.nats, c.right)); got != want {
				t.Errorf("%v nats and %v right, by accuracy %v: better is %v", c.nats, c.right, byAccuracy, got)
			}
		}
	}
	if !(&Trainer{}).better(tally(9, 0)) {
		t.Error("the first look is not the best so far")
	}
}
