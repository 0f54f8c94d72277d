package training

import (
	"testing"

	"universal-transformer/internal/objective"
	"universal-transformer/internal/score"
	"universal-transformer/training/schedule"
)

// What is best: by cross entropy alone, or by correct sequences and among equals by cross entropy, against the targets of training:
// against the true tokens what is better is worse here. Ponder times have no say: they are published as a finding.
// Caught when planted: the two rules exchanged, equals that replace each other, the shorter ponder time preferred, cross entropy
// against the true tokens.
func TestBetter(t *testing.T) {
	tally := func(nats, right, ponder float64) objective.Tally {
		return objective.Tally{Smoothed: nats, Nats: 1 - nats, Tokens: 1, CorrectSequences: right, Sequences: 10, EncoderUpdates: 8 * ponder, EncoderPositions: 8}
	}
	for _, c := range []struct {
		nats, right, ponder float64
		byNats, byAccuracy  bool
	}{
		{0.5, 7, 3, false, false}, {0.4, 7, 3, true, true}, {0.6, 8, 3, false, true}, {0.4, 6, 3, true, false}, {0.6, 7, 3, false, false},
		{0.6, 7, 2, false, false}, {0.4, 7, 4, true, true}, {0.6, 8, 4, false, true}, {0.4, 6, 2, true, false},
	} {
		best := state{BestStep: 10, BestSmoothed: 0.5, BestCorrect: 7}
		for byAccuracy, want := range map[bool]bool{false: c.byNats, true: c.byAccuracy} {
			tr := &Trainer{Config: schedule.Config{BestByAccuracy: byAccuracy}, state: best}
			if got := tr.better(tally(c.nats, c.right, c.ponder), nil); got != want {
				t.Errorf("%v nats, %v right, %v steps, by accuracy %v: better is %v", c.nats, c.right, c.ponder, byAccuracy, got)
			}
		}
	}
	for _, c := range []struct {
		measure, nats float64
		want          bool
	}{{31, 0.6, true}, {30, 0.4, true}, {30, 0.6, false}, {29, 0.1, false}} {
		tr := &Trainer{Config: schedule.Config{BestByMeasure: true}, state: state{BestStep: 10, BestSmoothed: 0.5, BestMeasure: 30}}
		if got := tr.better(tally(c.nats, 9, 1), []score.Metric{score.Figure("BLEU", c.measure), score.Figure("chrF2", 99)}); got != c.want {
			t.Errorf("%v BLEU and %v nats after 30 and 0.5: better is %v", c.measure, c.nats, got)
		}
	}
	if !(&Trainer{}).better(tally(9, 0, 1), nil) {
		t.Error("the first validation is not the best so far")
	}
}
