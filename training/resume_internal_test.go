package training

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine/enginetest"
	"universal-transformer/halting"
	"universal-transformer/internal/batch"
	"universal-transformer/internal/objective"
	"universal-transformer/internal/parallel"
	"universal-transformer/internal/vocab"
	"universal-transformer/runlog"
	"universal-transformer/task"
	"universal-transformer/training/schedule"
	"universal-transformer/universal"
)

// restorable returns a trainer over a log, without a model, that can restore checkpoints, and what it says.
func restorable(t *testing.T, log *runlog.Run) (tr *Trainer, said *[]string) {
	t.Helper()
	same := func(int64) task.Example { return task.Example{Source: []vocab.ID{2}, Target: []vocab.ID{2, vocab.End}} }
	stream, err := batch.NewStream(same, batch.Plan{Rows: 2, MaxSource: 3, MaxTarget: 3, Window: 8}, 1)
	if err != nil {
		t.Fatal(err)
	}
	said = new([]string)
	return &Trainer{
		Store: model.NewStore(), Stream: stream, Log: log, Config: schedule.Config{Steps: 9}, group: parallel.Local(1)[0], Seals: Seals{Configuration: "one"},
		Notify: func(line string) { *said = append(*said, line) },
	}, said
}

// checkpointOf returns a checkpoint of a step with a state.
func checkpointOf(t *testing.T, step int64, s state) *runlog.Checkpoint {
	t.Helper()
	kept, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return &runlog.Checkpoint{Step: step, Meta: map[string]string{StateKey: string(kept), ConfigurationKey: "one"}}
}

func newLog(t *testing.T) *runlog.Run {
	t.Helper()
	log, err := runlog.Create(t.TempDir()+"/run", map[string]any{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	return log
}

// With another configuration a run waits anew for its end; nothing else is forgotten. Checkpoints of version 0.2.0 have no smoothed cross
// entropy, which is then the other one.
// Caught when planted: a wait of 1 at the beginning; a smoothed cross entropy of 1 taken for none.
func TestRestoreOfAnotherConfiguration(t *testing.T) {
	kept := state{BestStep: 3, BestNats: 0.25, BestSmoothed: 1, Waited: 4, Perfect: 5, Stopped: "patience", PonderProblems: 2}
	for _, c := range []struct {
		configuration string
		change, want  func(*state)
	}{
		{"one", func(*state) {}, func(*state) {}},
		{"", func(*state) {}, func(*state) {}}, // of a checkpoint that does not say
		{"two", func(*state) {}, func(s *state) { s.Waited, s.Perfect, s.Stopped = 0, 0, "" }},
		{"one", func(s *state) { s.BestSmoothed = 0 }, func(s *state) { s.BestSmoothed = 0.25 }},
	} {
		before := kept
		c.change(&before)
		want := before
		c.want(&want)
		tr, _ := restorable(t, nil)
		checkpoint := checkpointOf(t, 3, before)
		checkpoint.Meta[ConfigurationKey] = c.configuration
		if err := tr.restore(checkpoint); err != nil || tr.state != want || tr.step != 3 {
			t.Errorf("configuration %q: step %d, %v, state\n%+v, want\n%+v", c.configuration, tr.step, err, tr.state, want)
		}
	}
}

// Resuming names the step, unless nothing was trained before. Metrics are compared with their size in the checkpoint, if it has one.
// Caught when planted: step 1 taken for the beginning; a size of 0 compared.
func TestResumingIsSaid(t *testing.T) {
	for _, c := range []struct {
		step, size int64 // -1: the true one
		want       []string
	}{
		{0, -1, nil}, {1, -1, []string{"resuming from the checkpoint of update 1"}}, {2, 0, []string{"resuming from the checkpoint of update 2"}},
		{1, 1, []string{"resuming from the checkpoint of update 1", "metrics.jsonl has "}},
	} {
		log := newLog(t)
		for step := range c.step {
			if err := log.AppendMetrics(map[string]any{"step": step + 1, "split": "training"}); err != nil {
				t.Fatal(err)
			}
		}
		tr, said := restorable(t, log)
		size := c.size
		if size < 0 {
			size = log.MetricsSize()
		}
		if err := tr.resumeFrom(checkpointOf(t, c.step, state{Metrics: size})); err != nil {
			t.Fatal(err)
		}
		if !slices.EqualFunc(*said, c.want, strings.HasPrefix) {
			t.Errorf("step %d, size %d: it says %q, want %q", c.step, c.size, *said, c.want)
		}
	}
}

// A run that has nothing left to train says why, and what trains it further.
// Caught when planted: a run that is resumed all the same; the value of another criterion.
func TestFinishedRunSaysWhy(t *testing.T) {
	for stopped, want := range map[string]string{
		"":         "training has already finished, with all 2 updates of training.steps: set training.steps to a larger number to train further",
		"accuracy": "training has already finished: training.stop.accuracy=0.75 ended it at update 2 of 2; set training.stop.accuracy=0, or a larger number, to train further",
		"perfect":  "training has already finished: training.stop.perfect=3 ended it at update 2 of 2; set training.stop.perfect=0, or a larger number, to train further",
		"patience": "training has already finished: training.stop.patience=4 ended it at update 2 of 2; set training.stop.patience=0, or a larger number, to train further",
	} {
		tr, said := restorable(t, newLog(t))
		tr.Config.Steps, tr.Config.Stop = 2, schedule.Stop{Accuracy: 0.75, Perfect: 3, Patience: 4}
		if err := tr.resumeFrom(checkpointOf(t, 2, state{Stopped: stopped})); err != nil {
			t.Fatal(err)
		}
		if len(*said) == 0 || (*said)[0] != want {
			t.Errorf("stopped by %q: it says %q, want %q", stopped, *said, want)
		}
	}
}

// The mark of the best checkpoint is that of the state: made if it is missing, corrected if it is another, and absent before the first
// validation. A checkpoint that is gone is not marked.
// Caught when planted: the first checkpoint marked before a validation; a mark of another step kept.
func TestRestoreBestMark(t *testing.T) {
	const none = -1
	for _, c := range []struct{ marked, best, want int64 }{
		{none, 0, none}, {none, 1, 1}, {none, 2, 2}, {1, 1, 1}, {1, 2, 2}, {2, 1, 1}, {1, 7, 1}, {none, 7, none},
	} {
		log := newLog(t)
		for step := range int64(3) {
			if err := log.SaveCheckpoint(step, checkpointOf(t, step, state{}), 9); err != nil {
				t.Fatal(err)
			}
		}
		if c.marked != none {
			if err := log.MarkBest(c.marked); err != nil {
				t.Fatal(err)
			}
		}
		tr, said := restorable(t, log)
		tr.state.BestStep = c.best
		if err := tr.restoreBestMark(); err != nil || len(*said) != 0 {
			t.Errorf("%+v: %v, %q", c, err, *said)
		}
		step, marked, err := log.Marked()
		if !marked {
			step = none
		}
		if err != nil || step != c.want {
			t.Errorf("%+v: step %d is marked, %v", c, step, err)
		}
	}
}

// A run from the beginning keeps nothing of one that was there before, not even its first step.
// Caught when planted: metrics of step 1 kept; a step kept; a state kept.
func TestNewRunKeepsNothing(t *testing.T) {
	log := newLog(t)
	if err := log.AppendMetrics(map[string]any{"step": 1, "split": "training"}); err != nil {
		t.Fatal(err)
	}
	if err := log.SaveCheckpoint(1, checkpointOf(t, 1, state{}), 9); err != nil {
		t.Fatal(err)
	}
	with, _ := restorable(t, log)
	tr := startable(t)
	tr.Stream = with.Stream
	tr.Log, tr.eventsFailed, tr.window, tr.step, tr.state = log, true, speed{1, 2, 3}, 4, state{Seconds: 5, Stopped: "patience"}
	if err := tr.prepare(); err != nil {
		t.Fatal(err)
	}
	rows, err := log.Metrics()
	if steps, err := log.Steps(); err != nil || len(steps) != 0 {
		t.Errorf("checkpoints of steps %v, %v", steps, err)
	}
	if err != nil || len(rows) != 0 {
		t.Errorf("%d rows of metrics, %v", len(rows), err)
	}
	if tr.eventsFailed || tr.window != (speed{}) || tr.step != 0 || tr.state.Seconds != 0 || tr.state.Stopped != "" {
		t.Errorf("events failed: %v, %+v, step %d, stopped by %q of an earlier run", tr.eventsFailed, tr.window, tr.step, tr.state.Stopped)
	}
	if _, err := os.Stat(filepath.Join(log.Dir(), "best.json")); err == nil {
		t.Error("a best checkpoint is marked")
	}
}

// startable returns a trainer of a small adaptive model that can start.
func startable(t *testing.T) *Trainer {
	t.Helper()
	return &Trainer{
		Backend: enginetest.Backend(t), Model: universal.EncoderDecoder{Config: universal.Config{
			SourceVocabulary: 5, TargetVocabulary: 5, Width: 4, Heads: 2, Transition: universal.FeedForward{Filter: 4}, Halting: halting.Frozen{ACT: halting.ACT{MaxSteps: 3, Epsilon: 0.01}},
		}},
		Config: schedule.Config{
			Steps: 4, Schedule: schedule.Constant{LearningRate: 1e-3}, Beta1: 0.9, Beta2: 0.99, Epsilon: 1e-9, LogEvery: 1, EvaluateEvery: 4, CheckpointEvery: 4, Keep: 2, Seed: 1,
		},
	}
}

// The first validations with the most correct sequences and with the lowest cross entropy are kept, those of step 1 too.
// Caught when planted: step 1 taken for none.
func TestRecordOfTheFirstStep(t *testing.T) {
	tr := &Trainer{}
	for _, seen := range []objective.Tally{{Smoothed: 2, Tokens: 1, Sequences: 9, CorrectSequences: 3}, {Smoothed: 3, Tokens: 1, Sequences: 9, CorrectSequences: 2}} {
		tr.step++
		tr.record(seen, nil)
	}
	if s := tr.state; s.MaxCorrect != (extreme{1, 3}) || s.LowestSmoothed != (extreme{1, 2}) || s.BestStep != 1 {
		t.Errorf("%+v", s)
	}
}

// The share of a mean is an input only if there are means. Caught when planted: an input that no graph reads.
func TestRatesWithoutMeans(t *testing.T) {
	for average, want := range map[float64]int{0: 1, 0.5: 2} {
		tr := &Trainer{Config: schedule.Config{Average: average}, step: 1}
		if got := tr.rates(0.25); len(got) != want || got[0] != any(float32(0.25)) {
			t.Errorf("means with %v: inputs %v", average, got)
		}
	}
}
