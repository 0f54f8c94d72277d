// Program extend uses Universal Transformers in a module of its own. It defines a task and a halting policy, trains a model with them,
// loads it, and asks it questions.
package main

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	ut "universal-transformer"
	"universal-transformer/halting"
	"universal-transformer/task"
	"universal-transformer/task/generated"
)

// sorting is a task: the digits of the source in order, 3 1 2 -> 1 2 3. Held-out sources do not occur in training, as far
// as their length has enough different ones.
var sorting = generated.Task{
	Name:       "sorting",
	Vocabulary: strings.Split("0123", ""),
	MaxLength:  6,
	Draw: func(rng *rand.Rand, length int) (source, target []string) {
		for range length {
			source = append(source, strconv.Itoa(rng.IntN(4)))
		}
		return source, slices.Sorted(slices.Values(source))
	},
}

// Settled is a halting policy: a position is no longer revised once a step changes its state by less than Tolerance. It has no weights.
type Settled struct {
	MaxSteps  int     `json:"max_steps"`
	Tolerance float64 `json:"tolerance"` // root mean square over the channels
}

// Unroll repeats the step and copies the state [B, M, D] of positions that have settled.
func (s Settled) Unroll(_ *model.Scope, r halting.Recurrence) halting.Outcome {
	state, running := r.State, r.Mask // running: [B, M]
	g, whole := state.Graph(), shapes.Make(dtypes.Bool, state.Shape().Dimensions...)
	updates := ZerosLike(ReduceMean(state, -1)) // [B, M]
	for t := 1; t <= s.MaxSteps; t++ {
		revised := r.Revise(t, r.AddCoordinates(t, state))
		change := ReduceMean(Square(Sub(revised, state)), -1) // [B, M]
		state = Where(BroadcastToShape(InsertAxes(running, -1), whole), revised, state)
		updates = Add(updates, ConvertDType(running, state.DType()))
		running = LogicalAnd(running, GreaterThan(change, Scalar(g, state.DType(), s.Tolerance*s.Tolerance)))
		if r.After == nil {
			continue
		}
		if ended := r.After(t, state, state); ended != nil { // by an exit rule
			running = LogicalAnd(running, LogicalNot(ended))
		}
	}
	return halting.Outcome{State: state, Updates: StopGradient(updates)}
}

// Weighted is false: positions differ in depth, but there are no halting probabilities, and so no weights of steps and no ponder cost.
func (s Settled) Weighted() bool { return false }

// SkipsHalted is false: settled positions are computed and not used.
func (s Settled) SkipsHalted() bool { return false }

// Limit returns s.MaxSteps.
func (s Settled) Limit(int) int { return s.MaxSteps }

// Describe describes the depth of a model.
func (s Settled) Describe() string {
	return fmt.Sprintf("until states settle, at most %d steps", s.MaxSteps)
}

// WithExit returns the policy with a lower limit.
func (s Settled) WithExit(e halting.Exit) (halting.Policy, error) {
	return e.Limited(s, s.MaxSteps, func(limit int) halting.Policy { return Settled{limit, s.Tolerance} })
}

// Validate checks the fields.
func (s Settled) Validate() error {
	if s.MaxSteps < 1 || s.MaxSteps > halting.MaxSteps || s.Tolerance < 0 {
		return fmt.Errorf("max_steps is %d and tolerance %v: give 1 to %d steps and a tolerance of at least 0", s.MaxSteps, s.Tolerance, halting.MaxSteps)
	}
	return nil
}

// configuration returns a small model that halts by Settled and learns to sort.
func configuration() (ut.Run, error) {
	run := ut.Defaults()
	run.Name = "sorting"
	run.Task = ut.Task{Value: sorting}
	run = run.WithPolicy(Settled{MaxSteps: 3, Tolerance: 0.05})
	return run.Set("model.width=32", "model.transition.feedforward.filter=64", "training.steps=400", "training.schedule.cosine.peak=0.01",
		"training.batch.rows=32", "training.evaluate_every=200", "training.validation=100")
}

func run(ctx context.Context) error {
	folder, err := os.MkdirTemp("", "extend")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	dir := filepath.Join(folder, "run")
	configured, err := configuration()
	if err != nil {
		return err
	}
	summary, err := ut.Train(ctx, configured, dir, ut.TrainOptions{})
	if err != nil {
		return err
	}
	fmt.Printf("trained %d parameters for %d updates in %.0f s\n", summary.Parameters, summary.Step, summary.Seconds)

	// The run directory names the types of this program; whoever loads it passes values of them.
	if _, err := ut.Load(dir, ut.LoadOptions{}); err != nil {
		fmt.Println("without them:", err)
	}
	mine := ut.Extensions{Tasks: []task.Definition{sorting}, Halting: []halting.Policy{Settled{}}}
	model, err := ut.Load(dir, ut.LoadOptions{Extensions: mine})
	if err != nil {
		return err
	}
	defer model.Close()
	fmt.Println(model)
	answers, err := model.Decode(ctx, []string{"3120", "20 13", "33221100"}, ut.DecodeOptions{})
	if err != nil {
		return err
	}
	for _, a := range answers {
		fmt.Println("answer:", a.Text, a.Err)
	}
	evaluation, err := model.Evaluate(ctx, ut.EvaluateOptions{Selection: ut.Selection{Length: 6, Count: 200}})
	fmt.Println(evaluation.Metrics)
	return err
}

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}
