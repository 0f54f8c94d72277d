package evaluation

import (
	"context"

	"github.com/gomlx/compute"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/decoding"
	"universal-transformer/halting"
	"universal-transformer/internal/batch"
	"universal-transformer/internal/capacity"
	"universal-transformer/task"
)

// Kept holds compiled graphs between calls of evaluators of one model, so that a request of a known shape compiles nothing. The graphs
// compute halted positions: no result depends on earlier calls. It is not safe for concurrent use.
type Kept struct {
	graphs  *capacity.Graphs
	runners map[keptGraph]*capacity.Runner
}

// A keptGraph is what a graph depends on besides the model.
type keptGraph struct {
	name       string
	countSteps bool
}

// keptBytes limits the memory of the graphs, as counted by [capacity.Graphs].
const keptBytes = 32 << 20

// NewKept returns no graphs of a model whose variables are in store.
func NewKept(backend compute.Backend, store *model.Store) *Kept {
	return &Kept{capacity.NewGraphs(backend, store, keptBytes), map[keptGraph]*capacity.Runner{}}
}

// Close frees the graphs.
func (k *Kept) Close() { k.graphs.Close() }

// Stats returns statistics of compilation.
func (k *Kept) Stats() capacity.Stats { return k.graphs.Stats() }

// eachKept is each with a graph that has a name, which is kept if there is Kept. The graph must use nothing of this call.
func (e *Evaluator) eachKept(ctx context.Context, examples []task.Example, name string, graph capacity.GraphBuilder, read func(b batch.Batch, out []*tensors.Tensor)) error {
	if e.Kept == nil {
		return e.each(ctx, examples, graph, read)
	}
	kind := keptGraph{name, e.CountSteps}
	runner := e.Kept.runners[kind]
	if runner == nil {
		runner = e.Kept.graphs.Runner(graph, nil)
		e.Kept.runners[kind] = runner
	}
	bounded := *e
	bounded.Plan.Partial = keptRows
	bounded.Plan.MaxSource, bounded.Plan.MaxTarget = keptLength*max(e.Plan.TokensPerPosition, 1), keptLength
	return bounded.run(ctx, runner, examples, read)
}

// keptRows returns the number of rows for n examples. It is at least 2: attention of a single query rounds in another way than that of
// several, and results should not depend on the other examples of a request.
func keptRows(n int) int { return max(2, decoding.Rows(n)) }

// keptLength is the length up to which lengths are rounded up to a few values. It is not above the largest number of steps, which models
// whose depth is the length of the source have.
const keptLength = halting.MaxSteps

// static returns what graphs need of the evaluator.
func (e *Evaluator) static() *Evaluator { return &Evaluator{Model: e.Model, CountSteps: e.CountSteps} }
