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
	// rounding. Decoding always computes them, so that an answer does not depend on the others of its batch.
	ComputeHalted bool
	Beam          decoding.Beam                 // beam search if Width is not 0; otherwise greedy decoding
	Limit         func(source int) int          // maximum length of an answer to a source of that length; nil means [SourceLimit]
	Progress      func(done, total int)         // called with numbers of examples; may be nil
	Steps         func(encoder, decoder *Steps) // called after every batch with the steps of the positions so far, nil for a stack that does not exist or is not adaptive; may be nil
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
	done := 0
	for _, b := range batch.Chunk(examples, e.Plan) {
		if err := ctx.Err(); err != nil {
			return err
		}
		out, err := runner.Call(capacity.ShapeOf(b), feed.Tensors(b, nil)...)
		if err != nil {
			return err
		}
		read(b, out)
		for _, tensor := range out {
			_ = tensor.FinalizeAll()
		}
		e.report(&done, b.Examples, len(examples))
	}
	return nil
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
