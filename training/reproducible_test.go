package training_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"testing"

	"universal-transformer/training"
	"universal-transformer/training/schedule"
	"universal-transformer/universal"
)

// A finished run, for comparing bits.
type finished struct {
	metrics any
	step    int64
	tensors map[string]string
	report  training.Summary
}

func finish(t *testing.T, tr *training.Trainer) finished {
	t.Helper()
	f := finished{report: run(t, tr)}
	f.metrics = metrics(t, tr)
	f.step, f.tensors = tensorsOf(t, tr)
	f.report.Seconds = 0
	return f
}

// equal says what differs between two runs, if anything does.
func (f finished) equal(other finished) error {
	switch {
	case f.step != other.step:
		return fmt.Errorf("last checkpoints are of steps %d and %d", f.step, other.step)
	case !reflect.DeepEqual(f.report, other.report):
		return fmt.Errorf("reports differ: %+v and %+v", f.report, other.report)
	case !reflect.DeepEqual(f.metrics, other.metrics):
		return fmt.Errorf("metrics differ:\n%v\n%v", f.metrics, other.metrics)
	case len(f.tensors) != len(other.tensors):
		return fmt.Errorf("there are %d and %d tensors", len(f.tensors), len(other.tensors))
	}
	for name, data := range f.tensors {
		if other.tensors[name] != data {
			return fmt.Errorf("%s differs", name)
		}
	}
	return nil
}

// One seed gives the same bits twice, in metrics, weights, moments and random state; another seed gives others.
func TestSameSeedSameBits(t *testing.T) {
	first, second := finish(t, trainer(t, config(13))), finish(t, trainer(t, config(13)))
	if err := first.equal(second); err != nil {
		t.Error(err)
	}
	c := config(13)
	c.Seed++
	if other := finish(t, trainer(t, c)); reflect.DeepEqual(first.metrics, other.metrics) || first.tensors["readout.weight"] == other.tensors["readout.weight"] {
		t.Error("another seed gives the same run")
	}
}

// Dropout and positions each follow the trainer's seed, where weights and data are the same.
// Caught when planted: either drawn from a seed of its own.
func TestSeedReachesDropoutAndPositions(t *testing.T) {
	for what, change := range map[string]func(*universal.Config){
		"dropout":   func(c *universal.Config) { c.Positions = nil },
		"positions": func(c *universal.Config) { c.Dropout = universal.Dropout{} },
	} {
		var readout []string
		for _, trainerSeed := range []uint64{11, 12} {
			m := universal.EncoderDecoder{Config: tiny()}
			change(&m.Config)
			tr := trainerOf(t, config(4), m, copying(11), copyingPlan)
			tr.Config.Seed = trainerSeed
			readout = append(readout, finish(t, tr).tensors["readout.weight"])
		}
		if readout[0] == readout[1] {
			t.Errorf("%s does not depend on the seed", what)
		}
	}
}

// A run that is interrupted, or dies between checkpoints, and goes on comes to the same bits as one that was left alone: with dropout,
// random positions, accumulation, clipping, and looks at held-out data in between; with Muon too. Caught when planted: a resume that draws
// the first batches again, keeps lines of metrics from after its checkpoint, or loses the random state, the optimiser's moments, Muon's
// momenta or the window of metrics; a norm summed in the order of the store; an interruption without checkpoint.
func TestResumeIsExact(t *testing.T) {
	c := config(17)
	withMuon := c
	withMuon.Muon = 0.9
	want := map[float64]finished{0: finish(t, trainer(t, c)), 0.9: finish(t, trainer(t, withMuon))}
	for _, test := range []struct {
		config schedule.Config
		stop   func(*testing.T, *training.Trainer, int64)
		steps  []int64 // some runs are stopped twice
	}{
		// Checkpoints are written at 4, 8, ... and with each best look at 5, 10, ...; lines of metrics at 3, 6, 9, ...
		{c, die, []int64{1}}, {c, die, []int64{7}}, {c, die, []int64{10, 11}}, {c, die, []int64{15, 17}},
		{c, interrupt, []int64{2}}, {c, interrupt, []int64{9, 13}}, {withMuon, die, []int64{7}},
		{c, interrupt, []int64{5}}, {c, interrupt, []int64{10, 15, 17}}, {withMuon, interrupt, []int64{15}}, // before validations
	} {
		tr := trainer(t, test.config)
		for _, step := range test.steps {
			test.stop(t, tr, step)
			tr = resumed(t, tr)
		}
		if err := want[test.config.Muon].equal(finish(t, tr)); err != nil {
			t.Errorf("muon %v, stopped in steps %v: %v", test.config.Muon, test.steps, err)
		}
	}
}

// A second run of the same trainer begins anew and repeats the first one.
// Caught when planted: a step kept; a state kept; a stream that goes on.
func TestRunTwice(t *testing.T) {
	tr := trainer(t, config(7))
	if err := finish(t, tr).equal(finish(t, tr)); err != nil {
		t.Error(err)
	}
}

// A run that leaves positions out comes to the same plans, and so to the same bits, after it was stopped: what decides on a plan is counted, kept in
// checkpoints, and never measured by a clock.
// Caught when planted: a plan that is made smaller when this process has run for 16 batches.
func TestResumePlansTheSame(t *testing.T) {
	const steps = 40
	freely := func(tr *training.Trainer) *training.Trainer {
		tr.PlanFreely()
		return tr
	}
	plans := func(tr *training.Trainer) string {
		t.Helper()
		c, _, err := tr.Log.Latest()
		if err != nil {
			t.Fatal(err)
		}
		var state struct {
			Plan json.RawMessage `json:"capacity_plan"`
		}
		if err := json.Unmarshal([]byte(c.Meta["training"]), &state); err != nil {
			t.Fatal(err)
		}
		return string(state.Plan)
	}
	alone := freely(trainer(t, config(steps)))
	want := finish(t, alone)
	if !regexp.MustCompile(`"units":\[\[`).MatchString(plans(alone)) {
		t.Fatalf("nothing was planned: %s", plans(alone))
	}
	for _, stops := range [][]int64{{7}, {21, 33}} {
		tr := freely(trainer(t, config(steps)))
		for _, step := range stops {
			interrupt(t, tr, step)
			tr = freely(resumed(t, tr))
		}
		if err := want.equal(finish(t, tr)); err != nil {
			t.Errorf("stopped in steps %v: %v", stops, err)
		}
		if got := plans(tr); got != plans(alone) {
			t.Errorf("stopped in steps %v: the plans are %s, alone %s", stops, got, plans(alone))
		}
	}
}

// A backend that has too little memory gives one line that says what to lower; other errors stay as they are.
func TestTooLittleMemoryIsSaidOnce(t *testing.T) {
	short := tooMuch{errors.New("needs 3 GiB")}
	if got := training.Affordable(fmt.Errorf("compilation failed: %w", short)); got.Error() != "needs 3 GiB; lower training.batch.tokens or training.batch.rows, model.width or the length of sequences" {
		t.Errorf("%v", got)
	}
	if other := errors.New("another"); training.Affordable(other) != other {
		t.Error("another error was changed")
	}
}

type tooMuch struct{ error }

func (tooMuch) Memory() (need, have int) { return 3, 2 }

// die ends a run as a kill would, right after an update, with nothing more written.
func die(t *testing.T, tr *training.Trainer, after int64) {
	t.Helper()
	tr.OnProgress = func(p training.Progress) {
		if p.Step == after {
			panic("killed")
		}
	}
	defer func() { _ = recover() }()
	report, err := tr.Run(context.Background())
	t.Errorf("the run was not killed after step %d: %+v, %v", after, report, err)
}

// interrupt ends a run politely.
func interrupt(t *testing.T, tr *training.Trainer, after int64) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	tr.OnProgress = func(p training.Progress) {
		if p.Step >= after {
			cancel()
		}
	}
	report, err := tr.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if step, _ := tensorsOf(t, tr); report.Stopped != "interrupted" && report.Step != tr.Config.Steps || step != report.Step {
		t.Errorf("interrupted after step %d, the run says %q at step %d, its checkpoint is of step %d", after, report.Stopped, report.Step, step)
	}
}
