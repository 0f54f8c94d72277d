package paper

import (
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

// runner keeps the outcomes of its cells by name.
func runner(jobs int) (Runner, map[string]Outcome) {
	outcomes := map[string]Outcome{}
	return Runner{
		Jobs: jobs, Threads: 1, Backend: backend, Now: time.Now,
		Finished: func(o Outcome) { outcomes[o.Cell.Name()] = o },
	}, outcomes
}
