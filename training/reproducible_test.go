package training_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"universal-transformer/training"
)

// A finished run, for comparing bits.
type finished struct {
	metrics any
	step    int64
	tensors map[string]string
	report  training.Report
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
// Caught when planted: a dropout state, and data, that do not depend on the seed.
func TestSameSeedSameBits(t *testing.T) {
	first, second := finish(t, trainer(t, config(13))), finish(t, trainer(t, config(13)))
	if err := first.equal(second); err != nil {
		t.Error(err)
	}
	for what, change := range map[string]func(*training.Config, *training.Trainer){
		"all":     func(c *training.Config, _ *training.Trainer) { c.Seed++ },
		"dropout": func(_ *training.Config, tr *training.Trainer) { tr.Config.Seed++; tr.Positions.Max = 0 },
	} {
		c := config(13)
		change(&c, &training.Trainer{})
		tr := trainer(t, c)
		change(&training.Config{}, tr)
		other := finish(t, tr)
		if reflect.DeepEqual(first.metrics, other.metrics) || first.tensors["readout.weight"] == other.tensors["readout.weight"] {
			t.Errorf("%s: another seed gives the same run", what)
		}
	}
}

// A run that is interrupted, or dies between checkpoints, and goes on comes to the same bits as one that was left alone: with dropout,
// random positions, accumulation, clipping, and looks at held-out data in between.
// Caught when planted: a resume that draws the first batches again, or loses the random state, the optimiser's moments, the window
// of metrics or the best look so far.
func TestResumeIsExact(t *testing.T) {
	const steps = 17
	want := finish(t, trainer(t, config(steps)))
	rng := rand.New(rand.NewPCG(6, 6))
	for round := range 6 {
		tr := trainer(t, config(steps))
		what := ""
		for range 1 + round%2 { // some runs die twice
			stop := 1 + rng.Int64N(steps-1)
			what += fmt.Sprintf(" %d (dies: %v)", stop, round < 4)
			if round < 4 {
				die(t, tr, stop)
			} else {
				interrupt(t, tr, stop)
			}
			tr = resumed(t, tr)
		}
		if err := want.equal(finish(t, tr)); err != nil {
			t.Errorf("stopped after step%s: %v", what, err)
		}
	}
}

// die ends a run as a kill would, right after an update, with nothing more written.
func die(t *testing.T, tr *training.Trainer, after int64) {
	t.Helper()
	tr.Observe = func(p training.Progress) {
		if p.Step == after {
			panic("killed")
		}
	}
	defer func() { _ = recover() }()
	report, err := tr.Run(context.Background())
	if err != nil || report.Step >= after { // one that was resumed beyond that step is never killed
		return
	}
	t.Errorf("the run was not killed after step %d: %+v, %v", after, report, err)
}

// interrupt ends a run politely.
func interrupt(t *testing.T, tr *training.Trainer, after int64) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	tr.Observe = func(p training.Progress) {
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
