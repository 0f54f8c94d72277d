package pipeline_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"universal-transformer/engine/enginetest"
	"universal-transformer/pipeline"
	"universal-transformer/runlog"
	"universal-transformer/training"
	"universal-transformer/training/schedule"
)

// lastCheckpoint is the newest checkpoint of a run.
func lastCheckpoint(t *testing.T, dir string) *runlog.Checkpoint {
	t.Helper()
	log, err := runlog.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	c, _, err := log.Latest()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A run that has ended and is given more updates comes to the weights of a run that had them from the start, bit for bit; what was
// changed is recorded, and resuming without a change afterwards does nothing.
// Caught when planted: a change that is not written, a stream that starts again.
func TestMoreSteps(t *testing.T) {
	dir, r := briefly(t)
	r.Training.Steps = 10
	straight := filepath.Join(t.TempDir(), "straight")
	if _, err := pipeline.Train(t.Context(), enginetest.Backend(t), r, straight, pipeline.Callbacks{}); err != nil {
		t.Fatal(err)
	}
	for _, sets := range [][]string{{"training.steps=10"}, nil} {
		var said []string
		summary, err := pipeline.Resume(t.Context(), enginetest.Backend(t), dir, pipeline.Callbacks{Log: func(line string) { said = append(said, line) }}, sets...)
		if changed := slices.Contains(said, "config.json is changed from update 6 on: training.steps=10"); changed != (len(sets) > 0) {
			t.Errorf("%v: it says %q", sets, said)
		}
		if err != nil || summary.Step != 10 || summary.Stopped != "done" {
			t.Fatalf("%v: %+v, %v", sets, summary, err)
		}
		want, got := lastCheckpoint(t, straight), lastCheckpoint(t, dir)
		if got.Step != 10 || len(got.Tensors) != len(want.Tensors) || got.Meta[training.ConfigurationKey] != want.Meta[training.ConfigurationKey] {
			t.Fatalf("%v: step %d, %d tensors, configuration %s", sets, got.Step, len(got.Tensors), got.Meta[training.ConfigurationKey])
		}
		for i := range want.Tensors {
			if want.Tensors[i].Name != got.Tensors[i].Name || string(want.Tensors[i].Data) != string(got.Tensors[i].Data) {
				t.Errorf("%v: %s differs", sets, want.Tensors[i].Name)
			}
		}
	}
	recorded, err := os.ReadFile(dir + "/changes.json")
	if err != nil || strings.Count(string(recorded), `"step": 6`) != 1 || !strings.Contains(string(recorded), "training.steps=10") {
		t.Errorf("recorded is %s, %v", recorded, err)
	}
	if m, err := pipeline.Load(dir, enginetest.Backend(t)); err != nil {
		t.Error(err)
	} else {
		m.Close()
	}
}

// A run that is killed between a change and its next checkpoint goes on under the changed configuration.
// Caught when planted: a change that is not recorded.
func TestKilledAfterAChange(t *testing.T) {
	dir, _ := briefly(t)
	before := filepath.Join(t.TempDir(), "before")
	if err := os.CopyFS(before, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	for i, set := range []string{"training.steps=8", "training.schedule.constant.rate=0.0005"} {
		if _, err := pipeline.Resume(t.Context(), enginetest.Backend(t), dir, pipeline.Callbacks{}, set); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"checkpoints", "metrics.jsonl", "best.json"} { // as they were when config.json had just been written
			if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.CopyFS(filepath.Join(dir, "checkpoints"), os.DirFS(filepath.Join(before, "checkpoints"))); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			continue
		}
		if summary, err := pipeline.Resume(t.Context(), enginetest.Backend(t), dir, pipeline.Callbacks{}); err != nil || summary.Step != 8 {
			t.Errorf("%+v, %v", summary, err)
		}
	}
}

// What a resumed run cannot change is refused by name, with the reason, and nothing is written.
// Caught when planted: a part that is let through.
func TestResumeRefusesChanges(t *testing.T) {
	dir, _ := briefly(t)
	config, err := os.ReadFile(dir + "/config.json")
	if err != nil {
		t.Fatal(err)
	}
	for set, want := range map[string]string{
		"model.heads=4": "model.heads cannot change", "seed=2": "seed cannot change", "name=x": "name cannot change", "task.table.max_length=5": "task.table.max_length cannot change",
		"training.beta2=0.9": "training.beta2 cannot change", "training.batch.rows=8": "training.batch.rows cannot change", "training.stepps=9": `did you mean "training.steps"?`,
		"training.steps=5": "update 6 is done already", "training.steps=-1": "training.steps is -1", "training.steps": "path=value",
		"training.schedule.cosine.start=6": "training.schedule.start is 6, but training.steps is 6, so that the warm-up would never begin",
	} {
		_, err := pipeline.Resume(t.Context(), enginetest.Backend(t), dir, pipeline.Callbacks{}, set)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", set, err, want)
		}
	}
	if after, err := os.ReadFile(dir + "/config.json"); err != nil || string(after) != string(config) {
		t.Errorf("config.json is now %s, %v", after, err)
	}
}

// After a loss that is no number, training goes on from the checkpoint before.
// Caught when planted: a field that the schedule does not have.
func TestGoOnAfterABrokenLoss(t *testing.T) {
	r := brief(t, pairs())
	r.Training.Schedule.Value = schedule.Constant{LearningRate: 1e30}
	dir := filepath.Join(t.TempDir(), "run")
	_, err := pipeline.Train(t.Context(), enginetest.Backend(t), r, dir, pipeline.Callbacks{})
	if err == nil {
		t.Fatal("nothing happened")
	}
	var diverged *training.DivergedError
	if !errors.As(err, &diverged) || diverged.Field != "rate" || diverged.Value != 5e29 {
		t.Fatalf("it says %v", err)
	}
	if _, err := pipeline.Resume(t.Context(), enginetest.Backend(t), dir, pipeline.Callbacks{}, "training.schedule.rate=1e-3"); err != nil {
		t.Error(err)
	}
	summary, err := pipeline.Resume(t.Context(), enginetest.Backend(t), dir, pipeline.Callbacks{})
	if err != nil || summary.Step != 6 {
		t.Errorf("%+v, %v", summary, err)
	}
}

// An extension of a finished cosine reports both learning rates and how to stay at the floor or to warm up again; with either of them, the run
// has these rates: the floor, or the warm-up from the step on. The rates are worked out by hand: 12 steps of which 6 are done are half way
// without a warm-up.
// Caught when planted: no report; an end that is not the floor; a start that warms up at once.
func TestExtendedCosine(t *testing.T) {
	finished := func() string {
		r, dir := brief(t, pairs()), filepath.Join(t.TempDir(), "run")
		r.Training.Schedule.Value = schedule.Cosine{Peak: 1e-3, Floor: 1e-5}
		r.Training.LogEvery = 1
		if _, err := pipeline.Train(t.Context(), enginetest.Backend(t), r, dir, pipeline.Callbacks{}); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	for _, c := range []struct {
		sets  []string
		rates []float64 // of steps 7 and 9
		says  string
	}{
		{nil, []float64{1e-5 + 9.9e-4*(1-math.Sin(math.Pi/12))/2, 1e-5 + 9.9e-4*(1-math.Sqrt(0.5))/2},
			"the learning rate was 1e-05 in update 6 and is 0.00038 in update 7\n" +
				"the cosine is stretched to update 12: set training.schedule.end=6 to stay at the floor, 1e-05, or training.schedule.start=6 to warm up again"},
		{[]string{"training.schedule.end=6"}, []float64{1e-5, 1e-5}, ""},
		{[]string{"training.schedule.start=6", "training.schedule.warmup=3"}, []float64{3.4e-4, 1e-3}, "the learning rate was 1e-05 in update 6 and is 0.00034 in update 7"},
	} {
		dir, said := finished(), []string{}
		log := pipeline.Callbacks{Log: func(line string) { said = append(said, line) }}
		if _, err := pipeline.Resume(t.Context(), enginetest.Backend(t), dir, log, append(c.sets, "training.steps=12")...); err != nil {
			t.Fatal(err)
		}
		run, err := runlog.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := run.Metrics()
		if err != nil {
			t.Fatal(err)
		}
		got := map[int64]float64{}
		for _, row := range rows {
			if rate, ok := row.Number("learning_rate"); ok {
				got[row.Step()] = rate
			}
		}
		if math.Abs(got[7]-c.rates[0]) > 1e-9 || math.Abs(got[9]-c.rates[1]) > 1e-9 {
			t.Errorf("%v: rates %v and %v, want %v", c.sets, got[7], got[9], c.rates)
		}
		if all := strings.Join(said, "\n"); !strings.Contains(all, c.says) || (c.says == "") == strings.Contains(all, "learning rate") {
			t.Errorf("%v: it says %q, want %q", c.sets, all, c.says)
		}
	}
}

// The advice for a cosine that is extended is one that can be set: in the warm-up, whose rate rises anyway, there is none; after a second
// warm-up it may be extended again. A higher peak stretches nothing.
func TestAdviceForACosine(t *testing.T) {
	for _, c := range []struct {
		cosine schedule.Cosine
		sets   []string
		says   string // after "the cosine is stretched to update 12: set "; empty: nothing
	}{
		{schedule.Cosine{Peak: 1e-3, Warmup: 5}, nil, "training.schedule.end=6 to stay at the floor, 0, or training.schedule.start=6 to warm up again"},
		{schedule.Cosine{Peak: 1e-3, Warmup: 7}, nil, ""},
		{schedule.Cosine{Peak: 1e-3, Warmup: 1, Start: 3}, nil, "training.schedule.end=6 to stay at the floor, 0, or training.schedule.start=6 to warm up again"},
		{schedule.Cosine{Peak: 1e-3}, []string{"training.schedule.peak=0.01"}, ""},
		{schedule.Cosine{Peak: 1e-3, Warmup: 1}, []string{"training.schedule.end=7"}, ""},
	} {
		r, dir := brief(t, pairs()), filepath.Join(t.TempDir(), "run")
		r.Training.Schedule.Value = c.cosine
		var said string
		log := pipeline.Callbacks{Log: func(line string) { said += line + "\n" }}
		if _, err := pipeline.Train(t.Context(), enginetest.Backend(t), r, dir, pipeline.Callbacks{}); err != nil {
			t.Fatal(err)
		}
		if _, err := pipeline.Resume(t.Context(), enginetest.Backend(t), dir, log, append(c.sets, "training.steps=12")...); err != nil {
			t.Fatal(err)
		}
		_, after, found := strings.Cut(said, "the cosine is stretched to update 12: set ")
		if line, _, _ := strings.Cut(after, "\n"); line != c.says || found != (c.says != "") {
			t.Errorf("%+v, %v: it says %q, want %q", c.cosine, c.sets, line, c.says)
		}
	}
}
