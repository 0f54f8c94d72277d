// Package capacity runs the graphs of adaptive models with no more capacity than positions need. It plans, from the demand of
// earlier batches, how many positions will still run in each step, and builds the graph for so many. The graph tells whether
// they were more: an overflow. It has then changed no variable, and the batch is run again with more. Results do not depend on
// the plan beyond rounding, in training with dropout neither.
//
// A graph is made for one shape of batch and one plan, and making it takes about as long as an update. So plans are few. One that is too
// small gets head room when it is made larger, because the demand of a model that comes to think longer goes on rising; and it is made larger
// before a batch overflows, if one of similar lengths needed more. A smaller plan is fine, but is made only once it would have saved
// some times what compiling its graph costs (as skis are bought once renting them has cost as much). A shape that comes for the first time
// starts with what the nearest shape needed. What is saved and what compiling costs is counted, in updates of positions times parameters,
// and kept in checkpoints: which plan a batch gets decides the last bits of what it gives, so a clock, or what happens to be compiled,
// must not decide it, or a resumed run would not be the run that was left alone. The cost of compiling is a constant a step, measured once;
// on a slower machine plans come somewhat early or late, and no result changes.
//
// All runners of a model share one budget of memory ([Graphs]), whatever the number of shapes. What was not used for longest is freed, and
// compiled again if it comes again; that takes time but changes nothing.
//
// Positions are left out only where [universal.Deep].SelectsPositions; elsewhere the plan is how many steps are run.
//
// What it saves: a step of training and an encoding, relative to the same model forced to all 12 steps, against the share of the 12 that
// positions ran on average (both stacks). Two cores of a Zen 3 server, float32, frozen halting, halting bias set for the mean:
//
//	                 width 128, batch 32, length 64         width 512, batch 8, length 128
//	training         0.22: 0.25   0.50: 0.48   0.81: 0.83   0.18: 0.20   0.32: 0.36   0.49: 0.59   0.80: 0.80 (Zen 4)
//	encoding         0.26: 0.32   0.49: 0.55   0.76: 0.83   0.22: 0.24   0.36: 0.42   0.57: 0.64
//
// Commands: ut bench train --steps 12, ut bench act --halting-bias B, ut bench encode --adaptive --halting-bias B, and for the other
// shape --width 512 --filter 2048 --batch 8 --length 128. Demand that changes, as that of a model that learns fast does, costs overflows
// and capacity that is not used; a fresh model at a learning rate of 1e-4 took 0.66 of the time at 0.51 of the updates.
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

// GraphBuilder builds a graph from its inputs. It hands the capacities to the model, in universal.Inputs, and returns the model's
// result beside its outputs.
type GraphBuilder func(scope *model.Scope, nodes []*Node, c Capacities) (outputs []*Node, result universal.Result)

// Capacities is the capacities of encoder and decoder; nil is full capacity.
type Capacities struct{ Source, Target halting.Capacities }

// Runner calls a graph. Not safe for concurrent use.
type Runner struct {
	graphs  *Graphs
	graph   GraphBuilder
	planner *Planner

	Overflows int // batches that were run twice
}

// NewRunner makes a runner over the variables of store, with compiled graphs of its own. Without a planner there is always full capacity.
func NewRunner(backend compute.Backend, store *model.Store, graph GraphBuilder, planner *Planner) *Runner {
	return NewGraphs(backend, store, Budget).Runner(graph, planner)
}

// Close frees what was compiled for the runner.
func (r *Runner) Close() { r.graphs.free(func(c *compiled) bool { return c.runner == r }) }

// Plans tells whether there may be less than full capacity.
func (r *Runner) Plans() bool { return r.planner != nil }

// Stats is what was compiled for all runners that share their graphs with this one.
func (r *Runner) Stats() Stats { return r.graphs.Stats() }

// Call runs the graph on a batch of the given shape.
func (r *Runner) Call(shape Shape, inputs ...any) ([]*tensors.Tensor, error) {
	out, demand, err := r.Run(r.Plan(shape), inputs...)
	if err == nil {
		r.Learn(shape, demand)
	}
	return out, err
}

// Plan is the plan for the next batch of a shape. Call is Plan, Run and Learn; apart they let several batches be planned before any of them
// is run, and what was learned of them come in another order than they were run in, or from another process.
func (r *Runner) Plan(shape Shape) *ShapePlan {
	if r.planner == nil {
		return &ShapePlan{Shape: shape}
	}
	return r.planner.For(shape).clone()
}

// Run runs the graph with the capacities of a plan, or with more if they are too small. What the batch needed is for Learn; until then
// nothing is planned differently.
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

// Learn plans from what a batch needed.
func (r *Runner) Learn(shape Shape, demand Demand) {
	if r.planner == nil || len(demand) == 0 {
		return
	}
	plan := r.planner.known(shape)
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

// key tells graphs of a runner apart.
func key(shape Shape, c Capacities) string {
	if c.Source == nil && c.Target == nil {
		return fmt.Sprintf("of %d rows, %d and %d positions", shape.Rows, shape.Source, shape.Target)
	}
	return fmt.Sprintf("of %d rows, %d and %d positions, capacities %v and %v", shape.Rows, shape.Source, shape.Target, c.Source, c.Target)
}

// call runs the graph with some capacities.
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

// parameters counts the numbers that are trained.
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

// build adds to the outputs what call reads: overflow, and the demand of both stacks.
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

// demand is what a stack needed, [steps+1, 3]; one row of zeros of a stack that is not there or not adaptive.
func demand(g *Graph, pass *universal.Pass) *Node {
	if pass == nil || !pass.Adaptive() {
		return Zeros(g, shapes.Make(dtypes.Int32, 1, 3))
	}
	return pass.Demand(len(pass.Weights))
}

// keepVariables leaves all variables as they were if there was an overflow.
func keepVariables(scope *model.Scope, overflow *Node) {
	g := overflow.Graph()
	for v := range scope.Store().IterVariables() {
		if v.ChangedInGraph(g) {
			v.SetNodeValue(Where(overflow, g.GetParameterByName(v.Path()), v.NodeValue(g)))
		}
	}
}
