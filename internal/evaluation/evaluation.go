// Package evaluation runs a trained model over examples: it decodes, scores given targets, or classifies. The results are plain slices,
// from which the measure of a task ([task.Measure]) computes metrics.
package evaluation

import (
	"context"
	"fmt"

	"github.com/gomlx/compute"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/decoding"
	"universal-transformer/internal/batch"
	"universal-transformer/internal/capacity"
	"universal-transformer/internal/feed"
	"universal-transformer/task"
	"universal-transformer/universal"
)

// An Evaluator applies a model to examples. It is the [task.Model] of measures.
type Evaluator struct {
	Backend compute.Backend
	Store   *model.Store
	Model   universal.Model
	Plan    batch.Plan // size of batches

	// ComputeHalted also computes halted positions when scoring and classifying, instead of skipping them. Results are equal up to
	// rounding. Decoding always computes them, so that an answer depends on the others of its batch by rounding alone.
	ComputeHalted bool
	Beam          decoding.Beam                 // beam search, unless it is zero: greedy decoding
	Limit         func(source int) int          // maximum length of an answer to a source of that length; nil means [SourceLimit]
	Progress      func(done, total int)         // called with numbers of examples; may be nil
	Steps         func(encoder, decoder *Steps) // called after every batch with the steps of the positions so far, nil for a stack that does not exist or is not adaptive; may be nil
	Pause         func()                        // called after every batch, and between two tokens that are decoded, so that others may compute meanwhile; may be nil
	Failed        func(example int, err error)  // called with each example that cannot be computed alone, in place of an error that ends everything; may be nil
	Kept          *Kept                         // graphs of earlier calls of Score, Probabilities and Tag; nil: every call compiles its own
	Cache         *Cache                        // a continuous cache for Score; nil: none
	CountSteps    bool                          // Steps also reports stacks of fixed depth and decoded answers, which are run once more for it

	computedHalted bool // halted positions were computed, whatever ComputeHalted says, because of the backend
}

var _ task.Model = (*Evaluator)(nil)

// Method describes how Decode decodes.
func (e *Evaluator) Method() string {
	if e.Beam.Width > 1 {
		return fmt.Sprintf("beam search of width %d, alpha %v", e.Beam.Width, e.Beam.Alpha)
	}
	return "greedy decoding"
}

// each runs a graph over all examples, batch by batch, passes its outputs to read, and frees them.
func (e *Evaluator) each(ctx context.Context, examples []task.Example, graph capacity.GraphBuilder, read func(b batch.Batch, out []*tensors.Tensor)) error {
	var planner *capacity.Planner
	if !e.ComputeHalted {
		planner = capacity.NewPlanner(e.Model)
	}
	runner := capacity.NewRunner(e.Backend, e.Store, graph, planner)
	defer runner.Close()
	e.computedHalted = e.computedHalted || planner != nil && !runner.Plans()
	return e.run(ctx, runner, examples, read)
}

// run is each with a runner.
func (e *Evaluator) run(ctx context.Context, runner *capacity.Runner, examples []task.Example, read func(b batch.Batch, out []*tensors.Tensor)) error {
	done := 0
	for _, b := range batch.Chunk(examples, e.Plan) {
		if err := e.batch(ctx, runner, examples, b, read); err != nil {
			return err
		}
		e.report(&done, b.Examples, len(examples))
	}
	return nil
}

// batch computes a batch. If that fails and Failed is set, it computes each half by itself.
func (e *Evaluator) batch(ctx context.Context, runner *capacity.Runner, examples []task.Example, b batch.Batch, read func(batch.Batch, []*tensors.Tensor)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var out []*tensors.Tensor
	err := e.checkSteps(examples, b)
	if err == nil {
		out, err = runner.Call(capacity.ShapeOf(b), feed.Tensors(b, nil)...)
	}
	if err == nil {
		read(b, out)
		for _, tensor := range out {
			_ = tensor.FinalizeAll()
		}
	}
	if e.Pause != nil {
		e.Pause()
	}
	switch {
	case err == nil || e.Failed == nil:
		return err
	case b.Examples == 1:
		e.Failed(b.Index[0], err)
		return nil
	}
	for _, half := range [][]int{b.Index[:b.Examples/2], b.Index[b.Examples/2:]} {
		for _, smaller := range e.chunk(examples, half) {
			if err := e.batch(ctx, runner, examples, smaller, read); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkSteps returns an error if the longest source of a batch needs more steps than can be run, as in decoding.
func (e *Evaluator) checkSteps(examples []task.Example, b batch.Batch) error {
	steps, ok := e.Model.(interface{ CheckSteps(positions int) error })
	if !ok {
		return nil
	}
	longest := 0
	for _, at := range b.Index {
		longest = max(longest, len(examples[at].Source)/max(b.TokensPerPosition, 1))
	}
	if err := steps.CheckSteps(longest); err != nil {
		return fmt.Errorf("the source has %d tokens, and %w", longest, err)
	}
	return nil
}

// chunk arranges some of the examples in batches.
func (e *Evaluator) chunk(examples []task.Example, which []int) []batch.Batch {
	some := make([]task.Example, len(which))
	for i, at := range which {
		some[i] = examples[at]
	}
	batches := batch.Chunk(some, e.Plan)
	for i := range batches {
		index := make([]int, len(batches[i].Index))
		for k, at := range batches[i].Index {
			index[k] = which[at]
		}
		batches[i].Index = index
	}
	return batches
}

// forward runs the model in inference mode on the inputs listed by feed.Tensors.
func (e *Evaluator) forward(scope *model.Scope, nodes []*Node, c capacity.Capacities) (universal.Inputs, universal.Result) {
	scope.Store().SetTraining(nodes[0].Graph(), false)
	in, _ := feed.Inputs(nodes, len(nodes) == 2, false)
	in.SourceCapacities, in.TargetCapacities = c.Source, c.Target
	return in, e.Model.Forward(scope, in, universal.Options{})
}

func (e *Evaluator) report(done *int, more, total int) {
	*done += more
	if e.Progress != nil {
		e.Progress(*done, total)
	}
}
