package training_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
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
	var said []string
	tr.Notify = func(line string) { said = append(said, line) }
	summary := run(t, tr)
	const d, f, v = 8, 16, 6
	const attention, transition, norm, unit = 4 * d * d, d*f + f + f*d + d, 2 * d, d + 1
	if want := 3*v*d + 3*attention + 2*transition + 5*norm + 2*unit; summary.Parameters != want || summary.Step != 16 || summary.Stopped != "done" || summary.Seconds <= 0 {
		t.Errorf("%d parameters, want %d; step %d, %s, %v s", summary.Parameters, want, summary.Step, summary.Stopped, summary.Seconds)
	}
	if !slices.Contains(rows, 4) || !slices.Contains(rows, 1) {
		t.Errorf("steps computed rows %v, want all 4 and later selected positions, 1", rows)
	}
	seconds := 0.0
	for i, p := range seen {
		seconds += p.Tally.Tokens / p.TokensPerSecond
		if p.Step != int64(i+1) || p.Steps != 16 || !p.Adaptive || p.Rate != 3e-3 || p.TokensPerSecond <= 0 || p.Graphs < 2 || p.Compiled < p.Graphs || !(p.Compiling > 0 && p.Compiling <= 1) || p.Tally.Tokens == 0 {
			t.Errorf("update %d: %+v", i+1, p)
		}
	}
	if !(seconds < summary.Seconds) { // without validations
		t.Errorf("the updates took %v seconds, all %v", seconds, summary.Seconds)
	}
	if len(seen) != 16 || seen[0].Compiling < 0.01 { // nearly all of the first update
		t.Errorf("progress of %d updates, %v of the first was compiling", len(seen), seen[0].Compiling)
	}
	validations := regexp.MustCompile(`^validation at update (5|10|15|16): cross entropy \d\.\d{1,3} nats, token accuracy 0\.\d{4}, sequence accuracy 0\.\d{4} \(teacher-forced, 24 sequences\), ponder [123]\.\d\d$`)
	if n := len(slices.DeleteFunc(said, func(line string) bool { return !validations.MatchString(line) })); n != 4 {
		t.Errorf("%d validations are reported: %q", n, said)
	}
	checkRows(t, tr, seen)
	for _, row := range metrics(t, tr) {
		if nats, _ := row.Number("cross_entropy"); row["split"] == "validation" {
			want := fmt.Sprintf("validation at update %d: cross entropy %s nats,", row.Step(), strconv.FormatFloat(nats, 'g', 4, 64))
			if !slices.ContainsFunc(said, func(line string) bool { return strings.HasPrefix(line, want) }) {
				t.Errorf("no line begins with %q: %q", want, said)
			}
		}
	}
}

// checkRows compares the rows of training with its progress: each holds the updates since the row before.
// Caught when planted: sums that go on from row to row; a rate or a norm left out; training time that counts validation alone.
func checkRows(t *testing.T, tr *training.Trainer, seen []training.Progress) {
	t.Helper()
	first := 0
	for _, row := range metrics(t, tr) {
		if row["split"] != "training" {
			continue
		}
		tokens, want := 0.0, 0.0
		for ; first < int(row.Step()); first++ {
			want += seen[first].Tally.Tokens
		}
		tokens, _ = row.Number("tokens")
		rate, _ := row.Number("learning_rate")
		norm, _ := row.Number("gradient_norm")
		if tokens != want || math.Abs(rate-3e-3) > 1e-9 || !(norm > 0) {
			t.Errorf("step %d: %v tokens, want %v; rate %v, norm %v", row.Step(), tokens, want, rate, norm)
		}
	}
	if first != len(seen) {
		t.Errorf("rows of %d updates", first)
	}
}

// A resumed run says from where it goes on, and that lines of its metrics are missing; its time goes on from that of the checkpoint.
// Caught when planted: nothing said; a size of the metrics that is not kept; time of updates that is not counted.
func TestResumedRunSaysWhatChanged(t *testing.T) {
	c := config(4)
	c.EvaluateEvery, c.LogEvery, c.CheckpointEvery = 100, 1, 2
	tr := trainer(t, c)
	run(t, tr)
	two, err := tr.Log.Load(2)
	if err != nil {
		t.Fatal(err)
	}
	saved, err := training.SavedIn(two)
	if err != nil || saved.Seconds <= 0 {
		t.Errorf("%+v before the first validation, %v", saved, err)
	}
	path := filepath.Join(tr.Log.Dir(), "metrics.jsonl")
	for _, lines := range []int{0, 2} { // removed behind the first
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if lines > 0 {
			data = []byte(strings.Join(slices.Delete(strings.SplitAfter(string(data), "\n"), 1, 1+lines), ""))
			_ = tr.Log.Close()
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		again, said := resumed(t, tr), ""
		again.Notify = func(line string) { said += line + "\n" }
		run(t, again)
		if !strings.Contains(said, "training has already finished, with all 4 updates of training.steps: ") || strings.Contains(said, "metrics.jsonl has ") != (lines > 0) {
			t.Errorf("%d lines removed: %q", lines, said)
		}
		tr = again
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
	for steps, want := range map[int64]string{4: "", 3: "the checkpoint of update 4 is beyond training.steps, 3"} {
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
