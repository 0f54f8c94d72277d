// Package capacity runs the graphs of adaptive models with only the capacity that their positions need. From the demand of earlier
// batches it plans how many positions run in each step, and builds a graph for that number. The graph reports an overflow if more are
// needed. In that case it has changed no variable, and the batch is run again with more capacity. Up to rounding, results do not
// depend on the plan, not even in training with dropout.
//
// A graph is compiled for one shape of batch and one plan, which takes about as long as an update, so there should be few plans. A
// plan that is too small is enlarged with some head room, because the demand of a model that learns to think longer keeps rising. It
// is also enlarged before a batch overflows if a batch of similar length needed more. A smaller plan is made only once it would have
// saved a multiple of the cost of compiling its graph (as in the ski rental problem). A new shape starts with the demand of the
// nearest shape.
//
// Savings and compile costs are counted in updates of positions times parameters, and stored in checkpoints. The plan of a batch
// affects the last bits of its results. It must therefore not depend on a clock, or on which graphs happen to be compiled; otherwise
// a resumed run would differ from an uninterrupted one. The cost of compiling is a constant per step; on a slower machine plans
// change somewhat early or late, but results stay the same.
//
// All runners of a model share one memory budget ([Graphs]), for any number of shapes. The graph that was unused for the longest time
// is freed, and compiled again when needed. That takes time but changes nothing.
//
// Positions are skipped only if [universal.Deep].SelectsPositions; otherwise only the number of steps is planned. The time of a
// training step is nearly proportional to the mean number of steps of a position (docs/log.md, 2026-11-21). Changing demand costs
// overflows and unused capacity.
package capacity

import (
	"fmt"
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/halting"
	"universal-transformer/universal"
)

// A GraphBuilder builds a graph from its inputs. It passes the capacities to the model, in universal.Inputs, and returns the model's
// result in addition to its outputs.
type GraphBuilder func(scope *model.Scope, nodes []*Node, c Capacities) (outputs []*Node, result universal.Result)

// Capacities holds the capacities of encoder and decoder; nil means full capacity.
type Capacities struct{ Source, Target halting.Capacities }

// A Runner calls a graph. It is not safe for concurrent use.
type Runner struct {
	graphs  *Graphs
	graph   GraphBuilder
	planner *Planner

	Overflows int // number of batches that were run twice
}

// NewRunner returns a runner over the variables of store, with its own compiled graphs. Without a planner it always uses full
// capacity.
func NewRunner(backend compute.Backend, store *model.Store, graph GraphBuilder, planner *Planner) *Runner {
	return NewGraphs(backend, store, Budget).Runner(graph, planner)
}

// Close frees the runner's compiled graphs.
func (r *Runner) Close() { r.graphs.free(func(c *compiled) bool { return c.runner == r }) }

// Plans reports whether capacities are planned.
func (r *Runner) Plans() bool { return r.planner != nil }

// Stats returns statistics of compilation, for all runners that share their graphs with this one.
func (r *Runner) Stats() Stats { return r.graphs.Stats() }

// Call runs the graph on a batch of the given shape.
func (r *Runner) Call(shape Shape, inputs ...any) ([]*tensors.Tensor, error) {
	out, demand, err := r.Run(r.Plan(shape), inputs...)
	if err == nil {
		r.Learn(shape, demand)
	}
	return out, err
}

// Plan returns the plan for the next batch of a shape. Call consists of Plan, Run and Learn; separately, they allow several batches to be
// planned before any of them runs, and demands to be learned in another order or from another process.
func (r *Runner) Plan(shape Shape) *ShapePlan {
	if r.planner == nil {
		return &ShapePlan{Shape: shape}
	}
	return r.planner.For(shape).clone()
}

// Run runs the graph with the capacities of a plan, or with more if they are too small. It returns the demand of the batch, for Learn,
// which alone changes plans.
func (r *Runner) Run(plan *ShapePlan, inputs ...any) ([]*tensors.Tensor, Demand, error) {
	if r.planner == nil {
		out, err := r.graphs.call(r, key(plan.Shape, Capacities{}), Capacities{}, inputs)
		return out, nil, err
	}
	plan = plan.clone()
	out, first, err := r.call(plan, plan.capacities(), inputs)
	if err != nil || !first.overflow {
		return out, Demand{first}, err
	}
	r.Overflows++
	if r.planner.grow(plan, parameters(r.graphs.store), first) {
		finalize(out)
		second, err := needed{}, error(nil)
		if out, second, err = r.call(plan, plan.capacities(), inputs); err != nil || !second.overflow {
			return out, Demand{first, second}, err
		}
		r.Overflows++
	}
	finalize(out)
	out, last, err := r.call(plan, Capacities{}, inputs)
	return out, Demand{first, last}, err
}

// Learn updates the plans with the demand of a batch.
func (r *Runner) Learn(shape Shape, demand Demand) {
	if r.planner == nil || len(demand) == 0 {
		return
	}
	plan := r.planner.lookup(shape)
	if plan == nil {
		plan = r.planner.For(shape)
	}
	if len(demand) > 1 {
		r.planner.grow(plan, parameters(r.graphs.store), demand[0])
	}
	r.planner.observe(plan, parameters(r.graphs.store), demand[len(demand)-1])
}

func finalize(out []*tensors.Tensor) {
	for _, tensor := range out {
		_ = tensor.FinalizeAll()
	}
}

// key identifies a graph of a runner.
func key(shape Shape, c Capacities) string {
	if c.Source == nil && c.Target == nil {
		return fmt.Sprintf("of %d rows, %d and %d positions", shape.Rows, shape.Source, shape.Target)
	}
	return fmt.Sprintf("of %d rows, %d and %d positions, capacities %v and %v", shape.Rows, shape.Source, shape.Target, c.Source, c.Target)
}

// call runs the graph with the given capacities.
func (r *Runner) call(plan *ShapePlan, c Capacities, inputs []any) ([]*tensors.Tensor, needed, error) {
	out, err := r.graphs.call(r, key(plan.Shape, c), c, inputs)
	if err != nil {
		return out, needed{}, err
	}
	outputs := len(out) - 3
	n := needed{tensors.ToScalar[bool](out[outputs]), demandOf(out[outputs+1]), demandOf(out[outputs+2])}
	finalize(out[outputs:])
	return out[:outputs], n, nil
}

// parameters returns the number of trainable parameters.
func parameters(store *model.Store) (n int) {
	for v := range store.IterVariables() {
		if v.Trainable {
			n += v.Shape().Size()
		}
	}
	return n
}

// demandOf reads a demand [steps+1, 3].
func demandOf(t *tensors.Tensor) (demand [][3]int32) {
	for d := range slices.Chunk(tensors.MustCopyFlatData[int32](t), 3) {
		demand = append(demand, [3]int32(d))
	}
	return demand
}

// build adds the outputs that call reads: overflow, and the demand of both stacks.
func (r *Runner) build(scope *model.Scope, nodes []*Node, c Capacities) []*Node {
	outputs, result := r.graph(scope, nodes, c)
	if r.planner == nil {
		return outputs
	}
	g := outputs[0].Graph()
	overflow := LogicalOr(overflows(g, result.Encoder, c.Source), overflows(g, result.Decoder, c.Target))
	keepVariables(scope, overflow)
	return append(outputs, overflow, demand(g, result.Encoder), demand(g, result.Decoder))
}

func overflows(g *Graph, pass *universal.Pass, c halting.Capacities) *Node {
	if pass == nil {
		return Const(g, false)
	}
	return pass.Overflow(c)
}

// demand returns what a stack needed, [steps+1, 3]; one row of zeros for a stack that is missing or not adaptive.
func demand(g *Graph, pass *universal.Pass) *Node {
	if pass == nil || !pass.Weighted() {
		return Zeros(g, shapes.Make(dtypes.Int32, 1, 3))
	}
	return pass.Demand(len(pass.Weights))
}

// keepVariables leaves all variables unchanged if there was an overflow.
func keepVariables(scope *model.Scope, overflow *Node) {
	g := overflow.Graph()
	for v := range scope.Store().IterVariables() {
		if v.ChangedInGraph(g) {
			v.SetNodeValue(Where(overflow, g.GetParameterByName(v.Path()), v.NodeValue(g)))
		}
	}
}
