package paper

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gomlx/compute"
	"universal-transformer/engine"
	"universal-transformer/engine/enginetest"
	"universal-transformer/sweep"
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

// request asks for task 1, seed 1, of an experiment in small, below root.
func request(name, data, root string) Request {
	return Request{
		Name: name, Tasks: []string{"1"}, Seeds: []uint64{1}, Set: small, Data: Data{"data": data},
		Runs: filepath.Join(root, "runs"), Results: filepath.Join(root, "results"),
	}
}

func (r Request) cells(t *testing.T) []Cell {
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

// outcome is an outcome whose result is decoded.
type outcome struct {
	Result Result
	Before bool
	Err    error
}

// runner keeps the outcomes of its cells by name.
func runner(jobs int) (sweep.Runner, map[string]outcome) {
	outcomes := map[string]outcome{}
	return sweep.Runner{
		Jobs: jobs, Threads: 1, Backend: backend, Now: time.Now,
		Finished: func(o sweep.Outcome) {
			kept := outcome{Before: o.Before, Err: o.Err}
			if o.Err == nil {
				kept.Result, kept.Err = Decode(o.Result)
			}
			outcomes[o.Cell.Name()] = kept
		},
	}, outcomes
}

// save writes a result as the runner does.
func save(r Result, root string) error {
	measured, err := json.Marshal(r.Measured)
	if err != nil {
		return err
	}
	version, commit, _ := strings.Cut(r.Version, "+")
	return sweep.Result{
		Header: sweep.Header{
			Recipe: r.Experiment + "/" + r.Task, Model: r.Model, Seed: r.Seed, Data: r.Data, Parameters: r.Parameters, Step: r.Step, BestStep: r.BestStep,
			Validation: r.Validation, ChosenBy: r.ChosenBy, Stopped: r.Stopped, Seconds: r.Seconds, ExamplesPerSecond: r.ExamplesPerSecond,
			PositionsPerSecond: r.PositionsPerSecond, Threads: r.Threads, MeasuredBy: sweep.Provenance{Version: version, Commit: commit},
		},
		Measured: measured, Config: r.Config,
	}.Save(root)
}
