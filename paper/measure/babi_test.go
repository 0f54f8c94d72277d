package measure

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gomlx/compute"
	"universal-transformer/engine"
	"universal-transformer/engine/enginetest"
	"universal-transformer/paper"
	"universal-transformer/pipeline"
	"universal-transformer/sweep"
	"universal-transformer/task"
	"universal-transformer/task/babi"
)

// distribution is a folder with tasks 1 and 2 of en, whose stories say in two facts where two people are.
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
		for task := 1; task <= 2; task++ {
			path := filepath.Join(root, "en", fmt.Sprintf("qa%d_%s.txt", task, part))
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(b.String()), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return root
}

// small changes runs so that one trains within a second.
var small = []string{
	"model.width=16", "training.steps=60", "training.evaluate_every=20", "training.checkpoint_every=20", "training.batch.rows=16",
	"training.stop.accuracy=0", "training.schedule.cosine.warmup=5", "training.log_every=20",
}

// request asks for the first column, seed 1, of a row of table 1 in small, below root.
func request(family, data, root string) Request {
	return Request{
		Table: paper.Table1(), Rows: []string{family}, Columns: []string{"1"}, Seeds: []uint64{1}, Set: small, Data: map[string]string{"data": data},
		Runs: filepath.Join(root, "runs"), Results: filepath.Join(root, "results"),
	}
}

func (r Request) cells(t *testing.T) []sweep.Cell {
	t.Helper()
	cells, leftOut, err := r.Cells()
	if err != nil || len(leftOut) > 0 || len(cells) == 0 {
		t.Fatalf("%d cells, left out %v, %v", len(cells), leftOut, err)
	}
	return cells
}

// backend makes the backend under test, with one thread if it is the default.
func backend() (compute.Backend, error) {
	if name := os.Getenv(enginetest.Variable); name != "" {
		return engine.New(name)
	}
	return engine.New("cpu:threads=1")
}

// runner keeps the outcomes of its cells by name.
func runner() (sweep.Runner, map[string]sweep.Outcome) {
	outcomes := map[string]sweep.Outcome{}
	return sweep.Runner{
		Jobs: 1, Threads: 1, Backend: backend, Now: time.Now, Finished: func(o sweep.Outcome) { outcomes[o.Cell.Name()] = o },
	}, outcomes
}

// trainedCell runs a cell and returns its outcome and its model.
func trainedCell(t *testing.T, r Request) (sweep.Cell, sweep.Outcome, *pipeline.Model) {
	t.Helper()
	c := r.cells(t)[0]
	run, got := runner()
	if err := run.Run(context.Background(), []sweep.Cell{c}); err != nil {
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
	return c, got[c.Name()], m
}

// A result counts what single questions come to: answers, attention on the supporting fact in the first step, and steps. Of 120 test stories
// with two questions each, every question has two facts, so 3 positions; a tenth of the training stories is for validation.
// Caught when planted: validation questions tested; attention of the first position; ponder times of fixed models; the figure of
// another task; facts in another order; an interrupt that only leaves out the figures.
func TestMeasureBabi(t *testing.T) {
	data := distribution(t)
	for _, name := range []string{"babi-1k-single", "babi-1k-single-adaptive", "babi-1k-single-transformer"} {
		c, o, m := trainedCell(t, request(name, data, t.TempDir()))
		r, got := o.Result, o.Measured.(*Babi)
		if got.TrainingQuestions != 216 || got.Validation.Questions != 24 || got.StandIn != "" || len(got.Tests) != 1 || got.Tests[0].Questions != 240 || got.Tests[0].Task != 1 {
			t.Errorf("%s: %+v", name, got)
		}
		if r.Model != m.Describe() || r.Data != "bAbI en task 1" || r.BestStep != m.Step || r.Step != 60 || r.Stopped != "done" || r.ChosenBy != sweep.ByAccuracy || r.Threads != 1 {
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
		stopped, stop := context.WithCancel(t.Context())
		stop()
		if err := drawStories(stopped, m, c, func(line string) { t.Error(line) }); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: an interrupt while stories are drawn: %v", name, err)
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
	var all PonderTimes
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
	_, o, _ := trainedCell(t, r)
	result, got := o.Result, o.Measured.(*Babi)
	if e := got.Tests[0].Percent(); e > 10 {
		t.Errorf("test error %.1f %%", e)
	}
	if got.StandIn != "qa1_partial.txt" || got.StandInQuestions != 240 || !strings.Contains(result.Data, "stand-in qa1_partial.txt") {
		t.Errorf("%+v of %s", got, result.Data)
	}
}

// A stand-in is trained on where its name says and the training file is missing, and only there. Caught when planted: a stand-in of the set that has
// the file; one of all tasks.
func TestStandIn(t *testing.T) {
	data := distribution(t)
	standIn := filepath.Join(t.TempDir(), "qa2_partial.txt")
	if err := os.Rename(filepath.Join(data, "en", "qa2_train.txt"), standIn); err != nil {
		t.Fatal(err)
	}
	r := request("babi-1k-single", data, t.TempDir())
	r.Columns, r.Data["stand-in"] = []string{"1", "2"}, standIn
	cells := r.cells(t)
	for i, want := range []string{"bAbI en task 1", "bAbI en task 2, task 2 trained on the stand-in qa2_partial.txt"} {
		if got := cells[i].Run.Task.Value.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if err := os.WriteFile(filepath.Join(data, "en", "qa2_train.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := r.cells(t)[1].Run.Task.Value.String(); got != "bAbI en task 2" {
		t.Errorf("with the file: %q", got)
	}
}

// Moments by hand: steps 1, 1, 3 have mean 5/3 and deviation sqrt(8/9).
func TestPonderTimes(t *testing.T) {
	var p PonderTimes
	p.add([]int{1, 3})
	p.add([]int{1})
	if n, mean, deviation := p.Moments(); n != 3 || p.Stories != 2 || math.Abs(mean-5./3) > 1e-12 || math.Abs(deviation-math.Sqrt(8./9)) > 1e-12 {
		t.Errorf("%+v: %d, %v, %v", p, n, mean, deviation)
	}
	if steps, share := p.Mode(); steps != 1 || math.Abs(share-2./3) > 1e-12 {
		t.Errorf("%+v: most take %d steps, %v of all", p, steps, share)
	}
	if sum := p.Plus(PonderTimes{Stories: 1, Positions: []int{0, 5, 0, 1}}); !reflect.DeepEqual(sum.Positions, []int{2, 5, 1, 1}) || sum.Stories != 3 {
		t.Errorf("%+v", sum)
	}
}
