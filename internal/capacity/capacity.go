// Package capacity runs the graphs of adaptive models with no more capacity than positions need. It plans, from the demand of
// earlier batches, how many positions will still run in each step, and builds the graph for so many. The graph tells whether
// they were more: an overflow. It has then changed no variable, and the batch is run again with full capacity. Results do not depend on
// the plan beyond rounding, in training with dropout neither.
//
// Positions are left out only where [universal.Model].SelectsPositions; elsewhere the plan is how many steps are run.
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
	backend compute.Backend
	store   *model.Store
	graph   GraphBuilder
	planner *Planner
	full    *model.Exec          // with full capacity, whatever the shape
	planned map[Shape][]compiled // the last used stands last

	Overflows int // batches that were run twice
	Compiled  int // plans that a graph was made for
}

// compiled is an executor for one plan.
type compiled struct {
	plan string
	exec *model.Exec
}

// plansPerShape is how many plans of a shape stay compiled.
const plansPerShape = 4

// NewRunner makes a runner over the variables of store. Without a planner there is always full capacity.
func NewRunner(backend compute.Backend, store *model.Store, graph GraphBuilder, planner *Planner) *Runner {
	return &Runner{backend: backend, store: store, graph: graph, planner: planner, planned: map[Shape][]compiled{}}
}

// Close frees what was compiled.
func (r *Runner) Close() {
	if r.full != nil {
		r.full.Finalize()
	}
	for _, list := range r.planned {
		for _, c := range list {
			c.exec.Finalize()
		}
	}
	r.full, r.planned = nil, map[Shape][]compiled{}
}

// Call runs the graph on a batch of the given shape.
func (r *Runner) Call(shape Shape, inputs ...any) ([]*tensors.Tensor, error) {
	if r.planner == nil {
		exec, err := r.fullExec()
		if err != nil {
			return nil, err
		}
		return exec.Call(inputs...)
	}
	plan := r.planner.For(shape)
	exec, err := r.plannedExec(plan)
	if err != nil {
		return nil, err
	}
	out, overflow, err := r.call(exec, plan, inputs)
	if err != nil || !overflow {
		return out, err
	}
	r.Overflows++
	for _, tensor := range out {
		_ = tensor.FinalizeAll()
	}
	if exec, err = r.fullExec(); err != nil {
		return nil, err
	}
	out, _, err = r.call(exec, plan, inputs)
	return out, err
}

// call runs the graph and, unless it overflows, records the demand in the plan.
func (r *Runner) call(exec *model.Exec, plan *ShapePlan, inputs []any) (out []*tensors.Tensor, overflow bool, err error) {
	if out, err = exec.Call(inputs...); err != nil {
		return out, false, err
	}
	outputs := len(out) - 3
	if overflow = tensors.ToScalar[bool](out[outputs]); !overflow {
		if d := demandOf(out[outputs+1]); len(d) > 1 {
			r.planner.observeEncoder(plan, d)
		}
		if d := demandOf(out[outputs+2]); len(d) > 1 {
			r.planner.observeDecoder(plan, d)
		}
	}
	for _, tensor := range out[outputs:] {
		_ = tensor.FinalizeAll()
	}
	return out[:outputs], overflow, nil
}

// demandOf reads a demand [steps+1, 3].
func demandOf(t *tensors.Tensor) (demand [][3]int32) {
	for d := range slices.Chunk(tensors.MustCopyFlatData[int32](t), 3) {
		demand = append(demand, [3]int32(d))
	}
	return demand
}

// fullExec is the executor with full capacity.
func (r *Runner) fullExec() (*model.Exec, error) {
	if r.full != nil {
		return r.full, nil
	}
	exec, err := r.compile(Capacities{})
	r.full = exec
	return exec, err
}

// plannedExec finds or makes the executor of a plan.
func (r *Runner) plannedExec(plan *ShapePlan) (*model.Exec, error) {
	if plan.Encoder.Units == nil && plan.Decoder.Units == nil {
		return r.fullExec()
	}
	key, list := fmt.Sprint(plan.Encoder.Units, plan.Decoder.Units), r.planned[plan.Shape]
	if i := slices.IndexFunc(list, func(c compiled) bool { return c.plan == key }); i >= 0 {
		c := list[i]
		r.planned[plan.Shape] = append(slices.Delete(list, i, i+1), c)
		return c.exec, nil
	}
	exec, err := r.compile(plan.capacities())
	if err != nil {
		return nil, err
	}
	r.Compiled++
	if len(list) == plansPerShape {
		list[0].exec.Finalize()
		list = slices.Delete(list, 0, 1)
	}
	r.planned[plan.Shape] = append(list, compiled{key, exec})
	return exec, nil
}

// compile makes an executor for some capacities.
func (r *Runner) compile(c Capacities) (*model.Exec, error) {
	exec, err := model.NewExec(r.backend, r.store, func(scope *model.Scope, nodes []*Node) []*Node {
		return r.build(scope, nodes, c)
	})
	if err == nil {
		exec.SetMaxCache(-1)
	}
	return exec, err
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
