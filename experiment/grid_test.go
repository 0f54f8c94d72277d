package experiment_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"universal-transformer/engine/enginetest"
	"universal-transformer/experiment"
	"universal-transformer/report"
	"universal-transformer/task/babi"
	"universal-transformer/training"
)

// distribution is a folder with task 1 of en, whose stories say in two facts where two people are.
func distribution(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	people, rooms := strings.Fields("Mary John Fred Bill"), strings.Fields("kitchen garden office")
	for part, from := range map[string]int{"train": 0, "test": 1000} {
		var b strings.Builder
		for i := range 120 {
			n := from + i
			one, two := rooms[n%3], rooms[n/3%3]
			fmt.Fprintf(&b, "1 %s went back to the %s.\n2 %s went back to the %s.\n", people[n%2], one, people[2+n/2%2], two)
			fmt.Fprintf(&b, "3 Where is %s?\t%s\t1\n4 Where is %s?\t%s\t2\n", people[n%2], one, people[2+n/2%2], two)
		}
		path := filepath.Join(root, "en", "qa1_"+part+".txt")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// tiny is a cell that trains within a second.
func tiny(t *testing.T, grid, data, root string) experiment.Cell {
	t.Helper()
	g, err := experiment.GridNamed(grid)
	if err != nil {
		t.Fatal(err)
	}
	c := g.Cell(filepath.Join(root, "runs"), filepath.Join(root, "results"), data, "", 1, 1)
	c.Run, err = c.Run.Set("model.width=16", "training.steps=60", "training.evaluate_every=20", "training.checkpoint_every=20",
		"training.batch.rows=16", "training.stop.accuracy=0", "training.schedule.cosine.warmup=5", "training.log_every=20")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A cell that was interrupted goes on and comes to what it would have come to; one that is done has its result in a file; and the
// result says what the task's files say.
// Caught when planted: a result that is not written; a cell that starts afresh; the validation questions tested.
func TestCellsResumeAndAreDoneOnce(t *testing.T) {
	data, backend := distribution(t), enginetest.Backend(t)
	for _, grid := range []string{"babi-1k-single", "babi-1k-single-adaptive", "babi-1k-single-transformer"} {
		whole := tiny(t, grid, data, t.TempDir())
		if _, done, err := whole.Done(); done || err != nil {
			t.Fatalf("done before it began: %v", err)
		}
		want, err := whole.Do(context.Background(), backend, experiment.Watcher{})
		if err != nil {
			t.Fatal(err)
		}
		if want.TrainedOn != 216 || want.Validation.Questions != 24 || len(want.Tests) != 1 || want.Tests[0].Questions != 240 || want.Tests[0].Task != 1 {
			t.Errorf("%s: trained on %d, validated on %d, %+v", grid, want.TrainedOn, want.Validation.Questions, want.Tests)
		}
		if read, done, err := whole.Done(); err != nil || !done || !reflect.DeepEqual(read.Tests, want.Tests) {
			t.Errorf("%s: what is read again is %+v, %v", grid, read, err)
		}
		broken := tiny(t, grid, data, t.TempDir())
		ctx, cancel := context.WithCancel(context.Background())
		first, last := int64(0), int64(0)
		_, err = broken.Do(ctx, backend, experiment.Watcher{Progress: func(p training.Progress) {
			if p.Step == 33 {
				cancel()
			}
		}})
		if !errors.Is(err, experiment.ErrInterrupted) {
			t.Fatalf("%s: interrupted: %v", grid, err)
		}
		got, err := broken.Do(context.Background(), backend, experiment.Watcher{Progress: func(p training.Progress) {
			if first == 0 {
				first = p.Step
			}
			last = p.Step
		}})
		if err != nil {
			t.Fatal(err)
		}
		if first != 34 || last != 60 {
			t.Errorf("%s: went on with updates %d to %d, want 34 to 60", grid, first, last)
		}
		if !reflect.DeepEqual(got.Tests, want.Tests) || got.Validation != want.Validation || got.BestStep != want.BestStep {
			t.Errorf("%s: interrupted it comes to %+v, without to %+v", grid, got.Tests, want.Tests)
		}
	}
}

// Ponder times are there where the model chooses them, for every position of the test: 240 questions with two facts, so 3 positions each.
func TestPonderTimesAreCounted(t *testing.T) {
	backend := enginetest.Backend(t)
	c := tiny(t, "babi-1k-single-adaptive", distribution(t), t.TempDir())
	r, err := c.Do(context.Background(), backend, experiment.Watcher{})
	if err != nil {
		t.Fatal(err)
	}
	looks := r.Tests[0].Looks
	if len(looks) < 1 || len(looks) > 6 || looks[0].Stories != 240 {
		t.Fatalf("looks are %+v", looks)
	}
	for step, l := range looks {
		if math.Abs(l.Uniform-1./3) > 1e-9 || l.Share <= 0 || l.Share >= 1 || step > 0 && l.Stories > looks[step-1].Stories {
			t.Errorf("step %d: %+v", step+1, l)
		}
	}
	trained, err := experiment.Load(c.Dir, backend)
	if err != nil {
		t.Fatal(err)
	}
	opened, err := babi.OpenTask(*c.Run.Task.Babi)
	if err != nil {
		t.Fatal(err)
	}
	want := 0.0 // of the first step, from single stories
	for _, q := range opened.Test() {
		a, err := trained.Answer(strings.Join(q.Facts, " ") + " " + q.Text)
		if err != nil {
			t.Fatal(err)
		}
		for head := range 4 {
			want += a.Trace.Encoder.Attention[0][head][2][q.Supports[0]] / 4 / 240
		}
	}
	if math.Abs(looks[0].Share-want) > 1e-6 {
		t.Errorf("in the first step %v of the attention is on the supporting fact, want %v", looks[0].Share, want)
	}
	if p := r.Tests[0].Ponder; len(p) != 1 || p[0].Supports != 1 || p[0].Stories != 240 {
		t.Fatalf("%+v", p)
	} else if n, mean, _ := p[0].Moments(); n != 720 || mean < 1 || mean > 6 {
		t.Errorf("%d positions, %v steps each", n, mean)
	}
}

// The model is really trained: with the answer in one of two facts, a small one is right far more often than a third of the time
// (chance) on the test.
func TestCellLearns(t *testing.T) {
	c := tiny(t, "babi-1k-single", distribution(t), t.TempDir())
	var err error
	if c.Run, err = c.Run.Set("model.width=32", "training.steps=500", "training.schedule.cosine.peak=0.003", "training.stop.accuracy=1"); err != nil {
		t.Fatal(err)
	}
	r, err := c.Do(context.Background(), enginetest.Backend(t), experiment.Watcher{})
	if err != nil {
		t.Fatal(err)
	}
	if e := r.Tests[0].Percent(); e > 10 {
		t.Errorf("test error %.1f %%", e)
	}
}

func TestCellsRefuse(t *testing.T) {
	data, root := distribution(t), t.TempDir()
	c := tiny(t, "babi-1k-single", data, root)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := c.Do(ctx, enginetest.Backend(t), experiment.Watcher{}); !errors.Is(err, experiment.ErrInterrupted) {
		t.Fatal(err)
	}
	other := c
	other.Run.Training.Steps = 61
	if _, err := other.Do(ctx, enginetest.Backend(t), experiment.Watcher{}); err == nil || !strings.Contains(err.Error(), "of another configuration") {
		t.Errorf("another configuration: %v", err)
	}
	g, _ := experiment.GridNamed("babi-10k-single")
	missing := g.Cell(root, root, data, "", 1, 1)
	if _, err := missing.Do(ctx, enginetest.Backend(t), experiment.Watcher{}); err == nil || !strings.Contains(err.Error(), "en-10k/qa1_train.txt is missing") {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := experiment.GridNamed("babi-10k-singel"); err == nil || !strings.Contains(err.Error(), `did you mean "babi-10k-single"`) {
		t.Errorf("a name: %v", err)
	}
	path := report.File(filepath.Join(root, "results"), "babi-1k-single", 1, 1)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("{"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.Done(); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a damaged result: %v", err)
	}
}
