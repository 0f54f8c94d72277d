package training

import (
	"slices"
	"testing"

	"universal-transformer/internal/objective"
	"universal-transformer/internal/parallel"
)

// measured is a state with everything that validations leave in it.
var measured = state{
	BestStep: 2, BestNats: 0.1, BestSmoothed: 0.2, BestCorrect: 30, BestMeasure: 0.9, Waited: 3, Perfect: 1, Stopped: "patience",
	MaxCorrect: extreme{2, 30}, LowestSmoothed: extreme{2, 0.2},
}

// Validations on other data than now are forgotten, so that the next one is the best, whatever its figures: 3 of 4 sequences are fewer than 30.
// The best checkpoint stays marked until then, and training goes on. Data that are the same, or of which nothing is known, change nothing.
// Caught when planted: a best step that is kept; an end that is kept; an unknown digest taken for a change; an end that is said before it
// is forgotten.
func TestOtherValidationData(t *testing.T) {
	for _, c := range []struct {
		was, now string
		forgets  bool
	}{{"a", "b", true}, {"a", "a", false}, {"", "b", false}, {"a", "", false}} {
		log := newLog(t)
		if err := log.SaveBest(2, checkpointOf(t, 2, measured), 9); err != nil {
			t.Fatal(err)
		}
		checkpoint := checkpointOf(t, 3, measured)
		checkpoint.Meta["data_validation"] = c.was
		tr, said := restorable(t, log)
		tr.Seals.Data = map[string]string{"validation": c.now}
		if err := tr.resumeFrom(checkpoint); err != nil {
			t.Fatal(err)
		}
		const note = "the validation data have changed since that checkpoint: the best checkpoint is chosen anew, from the next validation on"
		if slices.Contains(*said, note) != c.forgets || (tr.state.Stopped == "") != c.forgets {
			t.Errorf("%+v: it says %q, and is stopped by %q", c, *said, tr.state.Stopped)
		}
		if first := "resuming from the checkpoint of update 3"; ((*said)[0] == first) != c.forgets {
			t.Errorf("%+v: it says %q", c, *said)
		}
		if step, marked, err := log.Marked(); err != nil || !marked || step != 2 {
			t.Errorf("%+v: step %d is marked: %v, %v", c, step, marked, err)
		}
		tr.Config.BestByAccuracy = true
		if best := tr.record(objective.Tally{Tokens: 4, Smoothed: 4, Nats: 4, Sequences: 4, CorrectSequences: 3}, nil); best != c.forgets {
			t.Errorf("%+v: the next validation is the best: %v", c, best)
		}
		if forgot := tr.state.MaxCorrect == (extreme{3, 3}) && tr.state.LowestSmoothed == (extreme{3, 1}); forgot != c.forgets {
			t.Errorf("%+v: extremes %v and %v", c, tr.state.MaxCorrect, tr.state.LowestSmoothed)
		}
	}
}

// All ranks forget, although only rank 0 knows the checkpoint's data: a rank that stopped would keep the others waiting.
// Caught when planted: a state that is not shared after a resume.
func TestAllRanksForget(t *testing.T) {
	checkpoint := checkpointOf(t, 3, measured)
	checkpoint.Meta["data_validation"] = "a"
	groups := parallel.Local(2)
	trainers, failed := make([]*Trainer, len(groups)), make(chan error, len(groups))
	for rank, group := range groups {
		with, _ := restorable(t, newLog(t))
		tr := startable(t)
		tr.Stream, tr.Log, tr.Group, tr.Seals.Data, tr.Config.Accumulate = with.Stream, with.Log, group, map[string]string{"validation": "b"}, len(groups)
		if trainers[rank] = tr; rank == 0 {
			tr.From = checkpoint
		}
	}
	for _, tr := range trainers {
		go func() { failed <- tr.prepare() }()
	}
	for range trainers {
		if err := <-failed; err != nil {
			t.Fatal(err)
		}
	}
	for rank, tr := range trainers {
		if tr.state.Stopped != "" || tr.state.BestStep != 0 || tr.step != 3 {
			t.Errorf("rank %d: step %d, stopped by %q, best step %d", rank, tr.step, tr.state.Stopped, tr.state.BestStep)
		}
	}
}
