package paper

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"universal-transformer/pipeline"
	"universal-transformer/task"
	"universal-transformer/task/babi"
)

// trainedCell does a cell and gives its result and its model.
func trainedCell(t *testing.T, r Request) (Cell, Result, *pipeline.Model) {
	t.Helper()
	c := r.cells(t)[0]
	run, got := runner(1)
	if err := run.Run(context.Background(), []Cell{c}); err != nil {
		t.Fatal(err)
	}
	b, err := backend()
	if err != nil {
		t.Fatal(err)
	}
	m, err := pipeline.Load(c.Dir(), b)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close(); b.Finalize() })
	return c, got[c.Name()].Result, m
}

// A result counts what single questions come to: answers, attention on the supporting fact in the first step, and steps. Of 120 test stories
// with two questions each, every question has two facts, so 3 positions; a tenth of the training stories is for validation.
// Caught when planted: validation questions tested; attention of the first position; ponder times of fixed models; the figure of
// another task; facts in another order.
func TestMeasureBabi(t *testing.T) {
	data := distribution(t)
	for _, name := range []string{"babi-1k-single", "babi-1k-single-adaptive", "babi-1k-single-transformer"} {
		c, r, m := trainedCell(t, request(name, data, t.TempDir()))
		got := r.Measured.(*babiMeasured)
		if got.TrainingQuestions != 216 || got.Validation.Questions != 24 || got.StandIn != "" || len(got.Tests) != 1 || got.Tests[0].Questions != 240 || got.Tests[0].Task != 1 {
			t.Errorf("%s: %+v", name, got)
		}
		if r.Model != m.Describe() || r.Data != "bAbI en task 1" || r.BestStep != m.Step || r.Step != 60 || r.Stopped != "done" || r.ChosenBy != byAccuracy || r.Threads != 1 {
			t.Errorf("%s: %+v", name, r.Header)
		}
		wrong, share, steps := byHand(t, m)
		test := got.Tests[0]
		if test.Wrong != wrong || wrong == 240 {
			t.Errorf("%s: %d are wrong, one by one %d", name, test.Wrong, wrong)
		}
		first := test.Attention[0]
		if first.Stories != 240 || math.Abs(first.Uniform-1./3) > 1e-9 || math.Abs(first.Share-share) > 1e-6 {
			t.Errorf("%s: %+v, one by one %v", name, first, share)
		}
		if p := test.PonderTimes; strings.HasSuffix(name, "adaptive") {
			if len(p) != 1 || p[0].SupportingFacts != 1 || p[0].Stories != 240 || !slices.Equal(p[0].Positions, steps) {
				t.Errorf("%s: %+v, one by one %v", name, p, steps)
			}
		} else if p != nil {
			t.Errorf("%s: a model of fixed depth has ponder times: %v", name, p)
		}
		row, err := m.Evaluate(context.Background(), pipeline.Protocol{Selection: task.Selection{}})
		if err != nil || row.Metrics[0].Value != float64(240-wrong)/240 {
			t.Errorf("%s: evaluation says %+v, %v", name, row.Metrics, err)
		}
		svg, err := os.ReadFile(filepath.Join(c.Results, name, "task01-seed1-figure5.svg"))
		if others, _ := filepath.Glob(filepath.Join(c.Results, name, "*.svg")); err != nil || len(others) != 1 || !strings.Contains(string(svg), "john travelled to the hallway .") {
			t.Errorf("%s: %v, %v", name, others, err)
		}
	}
}

// byHand asks a model the test questions one by one: wrong answers, attention of the first step on the supporting fact, and how many
// positions ran for 1 step, 2 steps, ...
func byHand(t *testing.T, m *pipeline.Model) (wrong int, share float64, steps []int) {
	t.Helper()
	opened, err := babi.OpenTask(m.Run.Task.Value.(babi.Babi))
	if err != nil {
		t.Fatal(err)
	}
	var all ponderTimes
	for _, q := range opened.Test() {
		a, err := m.Classify(t.Context(), strings.Join(q.Facts, "\n")+"\n"+q.Text)
		if err != nil {
			t.Fatal(err)
		}
		if a.Answer != q.Answer {
			wrong++
		}
		for head := range 4 {
			share += a.Trace.Encoder.Attention[0][head][2][q.Supports[0]] / 4 / 240
		}
		for _, n := range a.Trace.Encoder.Updates {
			for len(all.Positions) < int(n) {
				all.Positions = append(all.Positions, 0)
			}
			all.Positions[int(n)-1]++
		}
	}
	return wrong, share, all.Positions
}

// The model is really trained: with the answer in one of two facts, a small one is right far more often than a third of the time
// (chance) on the test. A stand-in is counted.
func TestCellLearnsFromAStandIn(t *testing.T) {
	data := distribution(t)
	standIn := filepath.Join(t.TempDir(), "qa1_partial.txt")
	if err := os.Rename(filepath.Join(data, "en", "qa1_train.txt"), standIn); err != nil {
		t.Fatal(err)
	}
	r := request("babi-1k-single", data, t.TempDir())
	r.Data["stand-in"] = standIn
	r.Set = append(slices.Clone(small), "model.width=32", "training.steps=500", "training.schedule.cosine.peak=0.003", "training.stop.accuracy=1")
	_, result, _ := trainedCell(t, r)
	got := result.Measured.(*babiMeasured)
	if e := got.Tests[0].percent(); e > 10 {
		t.Errorf("test error %.1f %%", e)
	}
	if got.StandIn != "qa1_partial.txt" || got.StandInQuestions != 240 || !strings.Contains(result.Data, "stand-in qa1_partial.txt") {
		t.Errorf("%+v of %s", got, result.Data)
	}
}
