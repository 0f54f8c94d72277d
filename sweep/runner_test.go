package sweep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gomlx/compute"
	"universal-transformer/engine"
	"universal-transformer/engine/enginetest"
	"universal-transformer/experiment"
	"universal-transformer/pipeline"
	"universal-transformer/runlog"
)

// smallRun copies up to four symbols, and trains within a second.
const smallRun = `{
	"name": "g",
	"base": {
		"task": {"copy": {"max_length": 4}},
		"model": {"encoder_decoder": {"width": 16, "heads": 2, "halting": {"fixed": {"steps": 2}}}}
	},
	"set": ["training.steps=60", "training.evaluate_every=20", "training.checkpoint_every=20", "training.log_every=20", "training.batch.rows=8", "training.stop.patience=0", "training.stop.accuracy=0", "training.validation=20"],
	"variants": {"one": ["model.halting.fixed.steps=1"], "two": []},
	"seeds": [4, 6],
	"measure": {"length": 4, "count": 20}
}`

func smallCells(t *testing.T, root string) []Cell {
	t.Helper()
	f, err := ParseFile([]byte(smallRun))
	if err != nil {
		t.Fatal(err)
	}
	cells, err := f.Cells(root, func(string) (experiment.Run, error) { return experiment.Run{}, errors.New("no recipe is wanted") })
	if err != nil {
		t.Fatal(err)
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
func runner(jobs int) (Runner, map[string]Outcome) {
	outcomes := map[string]Outcome{}
	return Runner{
		Jobs: jobs, Threads: 1, Backend: backend, Now: time.Now,
		Finished: func(o Outcome) { outcomes[o.Cell.Name()] = o },
	}, outcomes
}

// timeless is a result without what depends on the machine, and on how often the run was stopped.
func timeless(r Result) Result {
	r.Seconds, r.ExamplesPerSecond, r.PositionsPerSecond = 0, 0, 0
	r.TrainedBy, r.MeasuredBy = Provenance{}, Provenance{}
	r.Curve = &Curve{Updates: r.Curve.Updates, Validation: r.Curve.Validation}
	return r
}

// A cell that was interrupted continues where it stopped and comes to what it would have come to; one that is done is skipped; side by side
// cells come to what they come to one after the other. Callbacks do not run at the same time.
func TestCellsResumeAndAreDoneOnce(t *testing.T) {
	cells := smallCells(t, t.TempDir())
	run, whole := runner(1)
	if err := run.Run(context.Background(), cells); err != nil || len(whole) != 4 {
		t.Fatalf("%v, %+v", err, whole)
	}
	run, again := runner(1)
	run.Backend = func() (compute.Backend, error) { return nil, errors.New("nothing is to be done") }
	if err := run.Run(context.Background(), cells); err != nil || !again["one-seed4"].Before || again["one-seed4"].Measured.Summary() != whole["one-seed4"].Measured.Summary() {
		t.Errorf("again: %v, %+v", err, again)
	}

	broken := smallCells(t, t.TempDir())
	ctx, cancel := context.WithCancel(context.Background())
	two, first := runner(2)
	var both sync.Mutex
	made, logged := 0, map[string]bool{}
	two.Backend = func() (compute.Backend, error) {
		both.Lock()
		defer both.Unlock()
		made++
		return backend()
	}
	two.Log = func(line string) { logged[strings.SplitN(line, ":", 2)[0]] = true }
	two.Progress = func(p Progress) {
		if len(logged) == 2 && p.Updates > 33 {
			cancel()
		}
	}
	if err := two.Run(ctx, broken); !errors.Is(err, ErrInterrupted) || made != 2 || len(first) != 2 {
		t.Fatalf("%v, %d backends, %d cells begun, want 2 of each", err, made, len(first))
	}
	two, second := runner(2)
	if err := two.Run(context.Background(), broken); err != nil || len(second) != 4 {
		t.Fatalf("%v, %d cells", err, len(second))
	}
	for name, o := range whole {
		if got := second[name].Result; !reflect.DeepEqual(timeless(got), timeless(o.Result)) {
			t.Errorf("%s: interrupted and side by side %+v, whole %+v", name, got, o.Result)
		}
	}
	interrupted, err := pipeline.ReadSessions(broken[0].Dir())
	if by := second["one-seed4"].Result.TrainedBy; err != nil || len(interrupted) != 2 || by.Updates != 60 || by.WallSeconds <= 0 || by.CPU == "" || by.Version == "" {
		t.Errorf("%+v of %+v, %v", by, interrupted, err)
	}
}

// An interrupt after the last cell has been measured interrupts nothing. Caught when planted: ErrInterrupted whenever ctx has ended.
func TestInterruptAfterTheLastCell(t *testing.T) {
	cells := smallCells(t, t.TempDir())[:1]
	ctx, cancel := context.WithCancel(context.Background())
	run, got := runner(1)
	keep := run.Finished
	run.Finished = func(o Outcome) {
		keep(o)
		cancel()
	}
	if err := run.Run(ctx, cells); err != nil || got["one-seed4"].Measured == nil {
		t.Errorf("%v, measured: %v", err, got["one-seed4"].Measured)
	}
}

// A cell that fails does not keep the others from being done, and its error names it; a run or a result of another configuration is
// noticed, before others are trained. Caught when planted: a run directory that is only looked at when the cell is run.
func TestFailuresStayAlone(t *testing.T) {
	root := t.TempDir()
	cells := smallCells(t, root)[:2]
	ctx, cancel := context.WithCancel(context.Background())
	run, _ := runner(1)
	run.Progress = func(Progress) { cancel() }
	if err := run.Run(ctx, cells[:1]); !errors.Is(err, ErrInterrupted) {
		t.Fatal(err)
	}
	cells[0].Run.Training.Steps = 61
	run, got := runner(1)
	var first string
	keep := run.Finished
	run.Finished = func(o Outcome) {
		first = cmp.Or(first, o.Cell.Name())
		keep(o)
	}
	err := run.Run(context.Background(), []Cell{cells[1], cells[0]})
	if first != "one-seed4" {
		t.Errorf("%s is finished before the other run is checked", first)
	}
	if err == nil || !strings.Contains(err.Error(), "one-seed4: ") || !strings.Contains(err.Error(), "a run of another configuration") || got["two-seed4"].Err != nil {
		t.Errorf("%v, %+v", err, got)
	}
	result := got["two-seed4"].Result
	if cells[1].Changed(result) {
		t.Error("the same configuration is called another one")
	}
	cells[1].Run.Training.WeightDecay = 0.3
	if !cells[1].Changed(result) {
		t.Error("another configuration is not noticed")
	}
	result.Config = []byte(`{"model": {"words": 7}}`)
	if cells[1].Changed(result) {
		t.Error("a configuration that cannot be read is called another one")
	}
	path := filepath.Join(root, "results", "two-seed4.json")
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run.Run(context.Background(), cells[1:]); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a damaged result: %v", err)
	}
	panics := smallCells(t, t.TempDir())[:1]
	panics[0].Measure = func(context.Context, *pipeline.Model, Cell, func(string)) (Measured, error) { panic("own measure") }
	if err := run.Run(context.Background(), panics); err == nil || !strings.Contains(err.Error(), "internal error") {
		t.Errorf("a panic: %v", err)
	}
}

// A cell that another process trains, also one that it begins at the same time, is an error that says so.
// Caught when planted: the error of a directory that holds a run.
func TestTrainedByAnotherProcess(t *testing.T) {
	for name, c := range map[string]struct {
		line  int // of the log, when the other process begins
		holds bool
		want  string
	}{
		"started":      {1, true, "is in use by process "},
		"meanwhile":    {2, true, "already holds a run, which is in use by process "},
		"ended before": {2, false, "another process has begun this run meanwhile: run this cell again to continue it"},
	} {
		root := t.TempDir()
		for _, file := range []string{"pairs.tsv", "test.tsv"} {
			pairs(t, filepath.Join(root, file), 0)
		}
		_, cells := pairsCells(t, root, 1)
		run, _ := runner(1)
		lines := 0
		run.Log = func(string) {
			if lines++; lines != c.line {
				return
			}
			other, err := runlog.Create(cells[0].Dir(), cells[0].Run)
			if err != nil {
				t.Fatal(err)
			}
			if !c.holds {
				other.Close()
			}
			t.Cleanup(func() { other.Close() })
		}
		if err := run.Run(t.Context(), cells); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// A cell whose result cannot be written is not trained.
func TestResultThatCannotBeWritten(t *testing.T) {
	cells := smallCells(t, t.TempDir())[:1]
	cells[0].Results = filepath.Join(t.TempDir(), "results")
	if err := os.Symlink(filepath.Join(t.TempDir(), "missing"), cells[0].Results); err != nil {
		t.Fatal(err)
	}
	run, _ := runner(1)
	if err := run.Run(context.Background(), cells); err == nil || !strings.Contains(err.Error(), "cannot be written") {
		t.Error(err)
	}
	if _, err := os.Stat(cells[0].Dir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it was trained: %v", err)
	}
}

// Training from the weights of another cell needs that cell to be done, and its run to be there.
func TestFromUnfinished(t *testing.T) {
	root := t.TempDir()
	cells := smallCells(t, root)[:2]
	cells[1].From = &cells[0]
	run, _ := runner(1)
	if err := run.Run(context.Background(), cells[1:]); err == nil || !strings.Contains(err.Error(), "weights of one-seed4, which is not finished") {
		t.Error(err)
	}
	r := example()
	r.Recipe, r.Seed = "one", 4
	r.Measured = []byte(`{"examples": 1, "lengths": "length 4", "metrics": [{"name": "accuracy", "value": 0.5}]}`)
	if err := r.Save(cells[0].Results); err != nil {
		t.Fatal(err)
	}
	if err := run.Run(context.Background(), cells[1:]); err == nil || !strings.Contains(err.Error(), "whose run is not in") {
		t.Error(err)
	}
}

// If no backend can be made, no run begins, and the error is reported once. A backend that was made before is finalized.
func TestBackendThatFails(t *testing.T) {
	run, got := runner(2)
	first := &finalized{}
	run.Backend = func() (compute.Backend, error) {
		if first.Backend == nil {
			var err error
			first.Backend, err = backend()
			return first, err
		}
		return nil, fmt.Errorf("no such processor")
	}
	run.Log = func(line string) { t.Error(line) }
	if err := run.Run(context.Background(), smallCells(t, t.TempDir())); fmt.Sprint(err) != "no such processor" || len(got) != 0 || first.times != 1 {
		t.Errorf("%v, %d outcomes, finalized %d times", err, len(got), first.times)
	}
}

// finalized is a backend that counts how often it was finalized.
type finalized struct {
	compute.Backend
	times int
}

func (f *finalized) Finalize() { f.times++ }
