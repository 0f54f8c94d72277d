package training

import (
	"strings"
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

// Training ends after consecutive validations without a wrong sequence; a wrong one starts the count anew. Correct sequences of 8.
// Caught when planted: a count that goes on after a wrong sequence, an end one validation late.
func TestPerfectStop(t *testing.T) {
	for perfect, want := range map[int]int{0: 0, 1: 2, 2: 3, 3: 7, 4: 0} {
		tr, ended := &Trainer{Config: schedule.Config{Stop: schedule.Stop{Perfect: perfect}}}, 0
		for i, correct := range []float64{7, 8, 8, 7, 8, 8, 8} {
			tr.record(objective.Tally{Sequences: 8, CorrectSequences: correct, Tokens: 8, Nats: 1, Smoothed: 1}, nil)
			if tr.state.Stopped == "perfect" && ended == 0 {
				ended = i + 1
			}
		}
		if ended != want {
			t.Errorf("after %d perfect validations: ends at validation %d, want %d", perfect, ended, want)
		}
	}
}

// The summary names the checkpoint that is kept, and the other one where the most correct sequences and the lowest cross entropy are in
// different validations. Step 20 has the lowest cross entropy, step 30 the most correct sequences: 6 of 8.
func TestSelectionNamesDisagreement(t *testing.T) {
	for _, c := range []struct {
		config schedule.Config
		seen   [][2]float64 // nats, correct
		want   string
	}{
		{schedule.Config{}, [][2]float64{{3, 2}, {1, 5}, {2, 6}},
			"the checkpoint of update 20 is kept: its cross entropy is the lowest; update 30 has more correct validation sequences, 0.7500 against 0.6250 (training.best_by_accuracy=true keeps that one)"},
		{schedule.Config{BestByAccuracy: true}, [][2]float64{{3, 2}, {1, 5}, {2, 6}},
			"the checkpoint of update 30 is kept: it has the largest share of correct validation sequences, 0.7500, and among equals the lowest cross entropy; the cross entropy was lowest at update 20"},
		{schedule.Config{}, [][2]float64{{3, 2}, {1, 6}, {2, 6}}, "the checkpoint of update 20 is kept: its cross entropy is the lowest"},
		{schedule.Config{BestByAccuracy: true}, [][2]float64{{3, 2}, {1, 6}, {2, 6}}, "the checkpoint of update 20 is kept: it has the largest share of correct validation sequences, 0.7500, and among equals the lowest cross entropy"},
		{schedule.Config{}, nil, ""},
	} {
		for tokens, unit := range map[float64]string{8: "examples", 16: "sequences"} { // a class each, or two tokens
			tr := &Trainer{Config: c.config}
			for _, v := range c.seen {
				tr.step += 10
				tr.record(objective.Tally{Sequences: 8, CorrectSequences: v[1], Tokens: tokens, Nats: v[0], Smoothed: v[0]}, nil)
			}
			if got, want := tr.selection(), strings.ReplaceAll(c.want, "sequences", unit); got != want {
				t.Errorf("%+v: %s\nwant %s", c.seen, got, want)
			}
		}
	}
	both := &Trainer{Config: schedule.Config{BestByAccuracy: true, BestByMeasure: true}, state: state{BestStep: 10, BestSmoothed: 0.5, BestCorrect: 7, BestMeasure: 30}}
	tally := objective.Tally{Smoothed: 0.6, Tokens: 1, CorrectSequences: 8, Sequences: 10}
	if !both.better(tally, []score.Metric{score.Figure("BLEU", 30)}) || both.better(tally, []score.Metric{score.Figure("BLEU", 29)}) {
		t.Error("among equal measures the correct sequences do not decide")
	}
}
