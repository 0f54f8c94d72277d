package sweep_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/gomlx/compute"
	"universal-transformer/engine"
	"universal-transformer/experiment"
	"universal-transformer/halting"
	"universal-transformer/sweep"
	"universal-transformer/task"
	"universal-transformer/task/generated"
)

// Twice is a halting policy of the program's own.
type Twice struct{ halting.Fixed }

// copying is a task of the program's own: a string of zeros and ones, to be repeated.
var copying = generated.Task{Name: "copying", Vocabulary: []string{"0", "1"}, MaxLength: 4, Draw: func(rng *rand.Rand, length int) (source, target []string) {
	for range length {
		source = append(source, fmt.Sprint(rng.IntN(2)))
	}
	return source, source
}}

// Two widths with two seeds each, of a task and a policy that the program defines. Cells without Measure are measured by the measure of their task, on
// the examples of Protocol.
func Example() {
	dir, err := os.MkdirTemp("", "sweep")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	base := experiment.Defaults()
	base.Name, base.Task = "copying", experiment.Task{Value: copying}
	base = base.WithPolicy(Twice{halting.Fixed{Steps: 2}})
	var cells []sweep.Cell
	for seed := range uint64(2) {
		for _, width := range []int{16, 24} {
			run, err := base.Set(fmt.Sprintf("model.width=%d", width), "model.heads=2", "training.steps=4", "training.evaluate_every=4", "training.validation=20", "training.batch.rows=4")
			if err != nil {
				log.Fatal(err)
			}
			run.Seed = seed + 1
			cells = append(cells, sweep.Cell{
				Recipe: fmt.Sprintf("width-%d", width), Run: run, Runs: dir, Results: filepath.Join(dir, "results"),
				Protocol: sweep.Protocol{Selection: task.Selection{Count: 20}},
			})
		}
	}
	runner := sweep.Runner{
		Backend: func() (compute.Backend, error) { return engine.New("cpu:threads=1") },
		Finished: func(o sweep.Outcome) {
			if o.Err == nil {
				fmt.Printf("%s: %d updates, %d examples\n", o.Cell.Name(), o.Result.Step, o.Measured.(*sweep.Metrics).Examples)
			}
		},
	}
	if err := runner.Run(context.Background(), cells); err != nil {
		log.Fatal(err)
	}
	summaries, err := sweep.Summarize(cells)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range summaries {
		fmt.Printf("%s: %d seeds\n", s.Cell, len(s.Seeds))
	}
	// Output:
	// width-16-seed1: 4 updates, 20 examples
	// width-24-seed1: 4 updates, 20 examples
	// width-16-seed2: 4 updates, 20 examples
	// width-24-seed2: 4 updates, 20 examples
	// width-16: 2 seeds
	// width-24: 2 seeds
}
