package training_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"universal-transformer/training"
	"universal-transformer/training/schedule"
)

// A learning rate that throws the weights away ends the run in one line that names step, cause, remedy, and the checkpoint that is kept; that
// one, from before, is whole.
// Caught when planted: a loss that is not looked at.
func TestBrokenLossStopsTheRun(t *testing.T) {
	for _, test := range []struct {
		name     string
		after    int64 // the rate is absurd in this step
		rate     float64
		wantKept string
		wantWhat string
	}{
		{"with a checkpoint", 7, 1e30, "the checkpoint of update 4 is kept: continue from it with a lower learning rate, training.schedule.rate=", "the loss is NaN"},
		{"before the first checkpoint", 2, 1e30, "there is no checkpoint: resume the run, which begins it again, with a lower learning rate, training.schedule.rate=", "the loss is NaN"},
		{"at a validation", 8, 1e30, "the checkpoint of update 4 is kept: continue from it with a lower learning rate, training.schedule.rate=", "the loss of the validation is NaN"},
		{"just before a checkpoint", 8, 1e5, "step-000000008.safetensors, which must be removed; the checkpoint of update 4 is kept: continue from it with a lower", "the cross entropy has exploded to "},
		{"just before the only checkpoint", 4, 1e5, "step-000000004.safetensors, which must be removed; there is no other checkpoint: start again in another directory with a lower", "the cross entropy has exploded to "},
		{"finite, but beyond all bounds", 7, 1e5, "the checkpoint of update 4 is kept: continue from it with a lower learning rate, training.schedule.rate=", "the cross entropy has exploded to "},
	} {
		c := config(40)
		c.EvaluateEvery, c.Keep = 100, 2
		if test.name == "at a validation" {
			c.EvaluateEvery = 8
		}
		c.Schedule = spike{test.after, test.rate}
		tr := trainer(t, c)
		_, err := tr.Run(context.Background())
		if err == nil {
			t.Fatalf("%s: nothing happened", test.name)
		}
		line := err.Error()
		var diverged *training.DivergedError
		if !errors.As(err, &diverged) || diverged.Dir != tr.Log.Dir() || diverged.Saved != map[bool]int64{true: 4, false: -1}[test.after >= 7] {
			t.Fatalf("%s: %+v", test.name, err)
		}
		if diverged.Broken != "" {
			if err := os.Remove(diverged.Broken); err != nil {
				t.Error(err)
			}
		}
		if strings.Contains(line, "\n") || !strings.HasPrefix(line, "training stopped at update ") || !strings.Contains(line, test.wantKept) ||
			!strings.Contains(line, test.wantWhat) || !strings.HasSuffix(line, "training.schedule.rate=0.0005") {
			t.Errorf("%s: %q", test.name, line)
		}
		c4, _, err := tr.Log.Latest()
		switch {
		case test.after >= 7 && (err != nil || c4.Step != 4):
			t.Errorf("%s: the newest checkpoint is %v, %v", test.name, c4, err)
		case test.after < 7 && err == nil:
			t.Errorf("%s: there is a checkpoint of step %d", test.name, c4.Step)
		}
	}
}

// Training ends at the first look that reaches the accuracy, or at the last of a row of looks without a new best, with a checkpoint; and stays
// ended when it is resumed.
// Caught when planted: looks that count twice, an end or a best look that a resume forgets, token accuracy for sequence accuracy.
func TestEarlyStop(t *testing.T) {
	for _, test := range []struct {
		name     string
		stop     schedule.Stop
		rate     float64
		stopped  string
		step     int64
		bestStep int64
	}{
		{"accuracy that any model has", schedule.Stop{Accuracy: 1e-9}, 0, "done", 30, 5},
		{"patience, nothing learned", schedule.Stop{Patience: 3}, 0, "patience", 20, 5},
		{"patience, always better", schedule.Stop{Patience: 3}, 1e-3, "done", 30, 30},
	} {
		c := config(30)
		c.Average = 0 // so that nothing changes while nothing is learned
		c.Schedule, c.Stop, c.Accumulate = unchecked(test.rate), test.stop, 0
		tr := trainer(t, c)
		report := run(t, tr)
		if report.Stopped != test.stopped || report.Step != test.step || report.BestStep != test.bestStep {
			t.Errorf("%s: stopped at step %d because of %s, best at %d; want %d, %s, %d", test.name, report.Step, report.Stopped, report.BestStep, test.step, test.stopped, test.bestStep)
		}
		if step, _ := tensorsOf(t, tr); step != test.step {
			t.Errorf("%s: the last checkpoint is of step %d", test.name, step)
		}
		if again := run(t, resumed(t, tr)); again.Stopped != test.stopped || again.Step != test.step || again.BestStep != test.bestStep {
			t.Errorf("%s: resumed, it ends at step %d because of %s, best at %d", test.name, again.Step, again.Stopped, again.BestStep)
		}
	}
}

// spike is a schedule with one rate that is out of line.
type spike struct {
	at   int64
	rate float64
}

func (s spike) Rate(step, _ int64, _ int) float64 {
	return map[bool]float64{true: s.rate, false: 1e-3}[step == s.at]
}

func (spike) Validate() error { return nil }

func (spike) Halved() (string, float64) { return "rate", 5e-4 }

// unchecked is a constant rate that may be 0: nothing is learned.
type unchecked float64

func (u unchecked) Rate(int64, int64, int) float64 { return float64(u) }

func (unchecked) Validate() error { return nil }

func (u unchecked) Halved() (string, float64) { return "rate", float64(u) / 2 }
