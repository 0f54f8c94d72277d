package paper

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/gomlx/compute"
)

// timeless is a result without what depends on the machine.
func timeless(r Result) Result {
	r.Seconds, r.ExamplesPerSecond, r.PositionsPerSecond = 0, 0, 0
	r.Config = nil
	return r
}

// A cell that was interrupted goes on where it stood and comes to what it would have come to; one that is done is skipped; and the
// result is what its file says.
// Caught when planted: a result that is not written; a cell that starts afresh; a result that is not looked for.
func TestCellsResumeAndAreDoneOnce(t *testing.T) {
	data := distribution(t)
	for _, experiment := range []string{"babi-1k-single", "babi-1k-single-adaptive", "babi-1k-single-transformer"} {
		cells := request(experiment, data, t.TempDir()).cells(t)
		name := experiment + "/task01-seed1"
		run, whole := runner(1)
		if err := run.Run(context.Background(), cells); err != nil || whole[name].Before || whole[name].Err != nil {
			t.Fatalf("%v, %+v", err, whole)
		}
		want := whole[name].Result
		run, again := runner(1)
		run.Backend = func() (compute.Backend, error) { return nil, errors.New("nothing is to be done") }
		if err := run.Run(context.Background(), cells); err != nil || !again[name].Before || !reflect.DeepEqual(timeless(again[name].Result), timeless(want)) {
			t.Errorf("%s: again: %v, %+v, want %+v", experiment, err, again, want)
		}
		broken := request(experiment, data, t.TempDir()).cells(t)
		ctx, cancel := context.WithCancel(context.Background())
		run, first := runner(1)
		run.Progress = func(p Progress) {
			if p.Updates == 33 {
				cancel()
			}
		}
		if err := run.Run(ctx, broken); !errors.Is(err, ErrInterrupted) || !errors.Is(first[name].Err, ErrInterrupted) {
			t.Fatalf("%s: interrupted: %v, %+v", experiment, err, first)
		}
		updates := int64(0)
		run, second := runner(1)
		run.Progress = func(p Progress) { updates = p.Updates }
		if err := run.Run(context.Background(), broken); err != nil || updates != 27 {
			t.Fatalf("%s: goes on: %v, with %d updates, want 27", experiment, err, updates)
		}
		if got := second[name].Result; !reflect.DeepEqual(timeless(got), timeless(want)) {
			t.Errorf("%s: interrupted it comes to %+v, without to %+v", experiment, got, want)
		}
	}
}

// Side by side cells come to what they come to one after the other, each with a backend of its own, also if all were interrupted
// in between; and callbacks do not run at the same time.
// Caught when planted: jobs that share a backend or a cell; cells at work that are not saved; counts without a lock.
func TestJobs(t *testing.T) {
	data := distribution(t)
	all := func(root string) []Cell {
		r := request("babi-1k-single", data, root)
		r.Tasks, r.Seeds = []string{"1", "2"}, []uint64{4, 6}
		return r.cells(t)
	}
	one, want := runner(1)
	if err := one.Run(context.Background(), all(t.TempDir())); err != nil || len(want) != 4 {
		t.Fatalf("%v, %d cells", err, len(want))
	}
	cells := all(t.TempDir())
	ctx, cancel := context.WithCancel(context.Background())
	two, broken := runner(2)
	var both sync.Mutex
	made, logged := 0, map[string]bool{}
	two.Backend = func() (compute.Backend, error) {
		both.Lock()
		defer both.Unlock()
		made++
		return backend()
	}
	two.Log = func(line string) { logged[strings.SplitN(line, ":", 2)[0]] = true }
	two.Progress = func(Progress) {
		if len(logged) == 2 {
			cancel()
		}
	}
	if err := two.Run(ctx, cells); !errors.Is(err, ErrInterrupted) || made != 2 || len(broken) != 2 {
		t.Fatalf("%v, %d backends, %d cells begun, want 2 of each", err, made, len(broken))
	}
	two, got := runner(2)
	if err := two.Run(context.Background(), cells); err != nil || len(got) != 4 {
		t.Fatalf("%v, %d cells", err, len(got))
	}
	for name, o := range want {
		if !reflect.DeepEqual(timeless(got[name].Result), timeless(o.Result)) {
			t.Errorf("%s: side by side %+v, alone %+v", name, got[name].Result, o.Result)
		}
	}
}

// A cell that fails does not keep the others from being done. Its error names it.
func TestFailuresStayAlone(t *testing.T) {
	data, root := distribution(t), t.TempDir()
	r := request("babi-1k-single", data, root)
	r.Tasks = []string{"1", "2"}
	cells := r.cells(t)
	ctx, cancel := context.WithCancel(context.Background())
	run, _ := runner(1)
	run.Progress = func(Progress) { cancel() }
	if err := run.Run(ctx, cells[:1]); !errors.Is(err, ErrInterrupted) {
		t.Fatal(err)
	}
	cells[0].Run.Training.Steps = 61
	run, got := runner(1)
	err := run.Run(context.Background(), cells)
	if err == nil || !strings.Contains(err.Error(), "babi-1k-single/task01-seed1: ") || !strings.Contains(err.Error(), "a run of another configuration") || got[cells[1].Name()].Err != nil {
		t.Errorf("%v, %+v", err, got)
	}
	path := filepath.Join(root, "results", "babi-1k-single", "task02-seed1.json")
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run.Run(context.Background(), cells[1:]); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a damaged result: %v", err)
	}
	cells = request("babi-1k-single", data, t.TempDir()).cells(t)
	cells[0].Table = &Table{}
	if err := run.Run(context.Background(), cells); err == nil || !strings.Contains(err.Error(), "internal error") {
		t.Errorf("a panic: %v", err)
	}
}

// A result of another configuration is known as such, wherever its data were; one whose configuration cannot be read is not called
// changed.
func TestChanged(t *testing.T) {
	data, root := distribution(t), t.TempDir()
	cells := request("babi-1k-single", data, root).cells(t)
	run, got := runner(1)
	if err := run.Run(context.Background(), cells); err != nil {
		t.Fatal(err)
	}
	c := cells[0]
	result := got[c.Name()].Result
	if strings.Contains(string(result.Config), filepath.Dir(data)) {
		t.Errorf("the result says where the data lie: %s", result.Config)
	}
	elsewhere := request("babi-1k-single", distribution(t), root).cells(t)[0]
	if c.Changed(result) || elsewhere.Changed(result) {
		t.Error("the same configuration is called another one")
	}
	c.Run.Training.WeightDecay = 0.3
	if !c.Changed(result) {
		t.Error("another configuration is not noticed")
	}
	result.Config = []byte(`{"model": {"words": 7}, "training": {"weight_decay": 0}}`)
	if c.Changed(result) {
		t.Error("a configuration that cannot be read is called another one")
	}
}

// Without a backend no run begins, and the error is told once, not once a run. A backend that was made before is finalized.
// Caught when planted: an error of each run; the first backend is not finalized.
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
	r := request("babi-1k-single", distribution(t), t.TempDir())
	r.Seeds = []uint64{1, 2, 3}
	if err := run.Run(context.Background(), r.cells(t)); fmt.Sprint(err) != "no such processor" || len(got) != 0 || first.times != 1 {
		t.Errorf("%v, %d outcomes, finalized %d times", err, len(got), first.times)
	}
}

// finalized is a backend that counts how often it was finalized.
type finalized struct {
	compute.Backend
	times int
}

func (f *finalized) Finalize() { f.times++ }
