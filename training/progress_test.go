package training_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/halting"
	"universal-transformer/training"
	"universal-transformer/training/schedule"
	"universal-transformer/universal"
)

// sizes is a transition that records the number of rows that it gets.
type sizes struct {
	universal.FeedForward
	rows *[]int
}

func (s sizes) Apply(scope *model.Scope, x *Node, c universal.TransitionContext) *Node {
	*s.rows = append(*s.rows, x.Shape().Dimensions[0])
	return s.FeedForward.Apply(scope, x, c)
}

// A run counts its parameters by the closed form of the paper's equations, tells its progress, and computes fewer positions once a plan
// says so: selected positions are one row.
// Caught when planted: parameters of Adam counted; capacities that the model does not get; a rate or a step of another update.
func TestProgressOfARun(t *testing.T) {
	var rows []int
	config3 := tiny()
	config3.Transition = sizes{universal.FeedForward{Filter: 16}, &rows}
	config3.Halting = halting.Frozen{ACT: halting.ACT{MaxSteps: 3, Epsilon: 0.01, Bias: 0.5}}
	c := config(16)
	tr := trainerOf(t, c, universal.EncoderDecoder{Config: config3}, copying(c.Seed), copyingPlan)
	tr.PlanFreely()
	var seen []training.Progress
	tr.OnProgress = func(p training.Progress) { seen = append(seen, p) }
	summary := run(t, tr)
	const d, f, v = 8, 16, 6
	const attention, transition, norm, unit = 4 * d * d, d*f + f + f*d + d, 2 * d, d + 1
	if want := 3*v*d + 3*attention + 2*transition + 5*norm + 2*unit; summary.Parameters != want || summary.Step != 16 || summary.Stopped != "done" || summary.Seconds <= 0 {
		t.Errorf("%d parameters, want %d; step %d, %s, %v s", summary.Parameters, want, summary.Step, summary.Stopped, summary.Seconds)
	}
	if !slices.Contains(rows, 4) || !slices.Contains(rows, 1) {
		t.Errorf("steps computed rows %v, want all 4 and later selected positions, 1", rows)
	}
	for i, p := range seen {
		if p.Step != int64(i+1) || p.Steps != 16 || !p.Adaptive || p.Rate != 3e-3 || p.TokensPerSecond <= 0 || p.Graphs < 2 || p.Compiled < p.Graphs || !(p.Compiling > 0 && p.Compiling <= 1) || p.Tally.Tokens == 0 {
			t.Errorf("update %d: %+v", i+1, p)
		}
	}
	if len(seen) != 16 {
		t.Errorf("progress of %d updates", len(seen))
	}
}

// A run that is resumed and diverges names the checkpoint that it was resumed from. Caught when planted: a resumed run without one.
func TestResumedRunNamesItsCheckpoint(t *testing.T) {
	c := config(4)
	c.EvaluateEvery = 100
	tr := trainer(t, c)
	run(t, tr)
	tr.Config.Steps, tr.Config.Schedule = 8, spike{5, 1e30}
	_, err := resumed(t, tr).Run(context.Background())
	var diverged *training.DivergedError
	if !errors.As(err, &diverged) || diverged.Saved != 4 || diverged.Step > 7 {
		t.Errorf("%v", err)
	}
}

// A run whose context has ended is interrupted before its next update, with a checkpoint. One that is resumed beyond its steps is an error.
func TestInterruptedAtOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	tr := trainer(t, config(4))
	summary, err := tr.Run(ctx)
	if err != nil || summary.Step != 0 || summary.Stopped != "interrupted" {
		t.Errorf("%+v, %v", summary, err)
	}
	if step, _ := tensorsOf(t, tr); step != 0 {
		t.Errorf("the checkpoint is of step %d", step)
	}
	again := resumed(t, tr)
	run(t, again)
	for steps, want := range map[int64]string{4: "", 3: "the checkpoint of step 4 is beyond training.steps, 3"} {
		again = resumed(t, again)
		again.Config.Steps = steps
		if _, err := again.Run(context.Background()); (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("resumed with %d steps: %v, want %q", steps, err, want)
		}
	}
	bad := trainer(t, schedule.Config{})
	if _, err := bad.Run(context.Background()); err == nil {
		t.Error("a configuration of nothing is trained")
	}
}
