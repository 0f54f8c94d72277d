// Package capacity runs graphs of models with no more room than positions need. It foresees, from what earlier batches needed,
// how many positions will still run in each step, and builds the graph for so many. The graph tells whether they were more; if
// so, it has changed nothing, and the batch is run again with room for all. Results never depend on the forecast beyond rounding.
//
// What it saves: a step of training and an encoding, relative to the same model forced to all 12 steps, against the share of the 12 that
// positions ran on average (both stacks). Two cores of a Zen 3 server, float32, frozen halting, halting bias set for the mean:
//
//	                 width 128, batch 32, length 64         width 512, batch 8, length 128
//	training         0.22: 0.25   0.50: 0.48   0.81: 0.83   0.18: 0.20   0.32: 0.36   0.49: 0.59   0.80: 0.80 (Zen 4)
//	encoding         0.26: 0.32   0.49: 0.55   0.76: 0.83   0.22: 0.24   0.36: 0.42   0.57: 0.64
//
// Commands: ut bench train --steps 12, ut bench act --halting-bias B, ut bench encode --adaptive --halting-bias B, and for the other
// shape --width 512 --filter 2048 --batch 8 --length 128. Needs that change, as a model that learns fast makes them, cost overflows and more
// room than is used; a fresh model at a learning rate of 1e-4 took 0.66 of the time at 0.51 of the updates.
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
	"universal-transformer/batch"
	"universal-transformer/halting"
	"universal-transformer/universal"
)

// GraphBuilder builds a graph from its inputs. It gives the room to the model, in universal.Inputs, and returns the model's result beside
// its outputs.
type GraphBuilder func(scope *model.Scope, nodes []*Node, room Capacities) (outputs []*Node, result universal.Result)

// Capacities is the capacities of encoder and decoder; nil is room for everything.
type Capacities struct{ Source, Target halting.Capacities }

// Planner is what is foreseen of batches, each shape for itself: long sequences may need other shares of their room than short ones.
// It outlives a runner: checkpoints keep it.
type Planner struct {
	Shapes []*ShapePlan `json:"shapes"`
}

// ShapePlan is what is foreseen of both stacks for batches of one shape.
type ShapePlan struct {
	Shape
	Encoder halting.Forecast `json:"encoder"`
	Decoder halting.Forecast `json:"decoder"`
}

// Of gives what is foreseen of a shape. A shape that was not there yet begins with what is known of the one nearest to it.
func (f *Planner) Of(s Shape) *ShapePlan {
	fresh := &ShapePlan{}
	for i, known := range f.Shapes {
		if known.Shape == s {
			return known
		}
		if i == 0 || s.far(known.Shape) < s.far(fresh.Shape) {
			*fresh = *known
		}
	}
	fresh.Shape = s
	fresh.Encoder.Needs, fresh.Decoder.Needs = slices.Clone(fresh.Encoder.Needs), slices.Clone(fresh.Decoder.Needs)
	f.Shapes = append(f.Shapes, fresh)
	return fresh
}

// Shape is a batch's: B, M, N, counted in positions.
type Shape struct {
	Rows   int `json:"rows"`
	Source int `json:"source_length"`
	Target int `json:"target_length"`
}

// far is how much s differs from t.
func (s Shape) far(t Shape) int {
	return max(s.Rows-t.Rows, t.Rows-s.Rows) + max(s.Source-t.Source, t.Source-s.Source) + max(s.Target-t.Target, t.Target-s.Target)
}

// ShapeOf is the shape of b.
func ShapeOf(b batch.Batch) Shape {
	return Shape{Rows: b.Rows, Source: b.SourcePositions(), Target: b.TargetLength}
}

// NewPlanner is an empty foresight for models that choose their depth, nil for others: there is nothing to foresee.
func NewPlanner(m universal.Model) *Planner {
	if m.Adaptive() {
		return &Planner{}
	}
	return nil
}

// Runner calls a graph. Not safe for concurrent use.
type Runner struct {
	backend   compute.Backend
	store     *model.Store
	graph     GraphBuilder
	foresight *Planner
	roomy     *model.Exec          // with room for everything, whatever the shape
	recent    map[Shape][]compiled // with the room that is planned; the last used stands last
	Overflows int                  // batches that were run twice
}

// compiled is an executor for one plan.
type compiled struct {
	plan string
	exec *model.Exec
}

// kept is how many plans of a shape stay compiled.
const kept = 4

// NewRunner makes a runner over the variables of store. Without foresight there is always room for everything.
func NewRunner(backend compute.Backend, store *model.Store, graph GraphBuilder, foresight *Planner) *Runner {
	return &Runner{backend: backend, store: store, graph: graph, foresight: foresight, recent: map[Shape][]compiled{}}
}

// Close frees what was compiled.
func (r *Runner) Close() {
	if r.roomy != nil {
		r.roomy.Finalize()
	}
	for _, list := range r.recent {
		for _, c := range list {
			c.exec.Finalize()
		}
	}
	r.roomy, r.recent = nil, map[Shape][]compiled{}
}

// Call runs the graph on a batch of the given shape.
func (r *Runner) Call(shape Shape, inputs ...any) ([]*tensors.Tensor, error) {
	if r.foresight == nil {
		exec, err := r.withRoom()
		if err != nil {
			return nil, err
		}
		return exec.Call(inputs...)
	}
	foreseen := r.foresight.Of(shape)
	exec, err := r.planned(foreseen)
	if err != nil {
		return nil, err
	}
	out, overflow, err := call(exec, foreseen, inputs)
	if err != nil || !overflow {
		return out, err
	}
	r.Overflows++
	for _, tensor := range out {
		_ = tensor.FinalizeAll()
	}
	if exec, err = r.withRoom(); err != nil {
		return nil, err
	}
	out, _, err = call(exec, foreseen, inputs)
	return out, err
}

// call runs the graph with some room. If that was enough, it takes note of what was needed.
func call(exec *model.Exec, foreseen *ShapePlan, inputs []any) (out []*tensors.Tensor, overflow bool, err error) {
	if out, err = exec.Call(inputs...); err != nil {
		return out, false, err
	}
	outputs := len(out) - 3
	overflow = tensors.ToScalar[bool](out[outputs])
	if !overflow {
		observe(&foreseen.Encoder, out[outputs+1], foreseen.Rows, foreseen.Source)
		observe(&foreseen.Decoder, out[outputs+2], foreseen.Rows, foreseen.Target)
	}
	for _, tensor := range out[outputs:] {
		_ = tensor.FinalizeAll()
	}
	return out[:outputs], overflow, nil
}

// observe tells a forecast what was needed; there is nothing to tell of stacks that a model does not have.
func observe(f *halting.Forecast, demand *tensors.Tensor, rows, length int) {
	var list [][3]int32
	for d := range slices.Chunk(tensors.MustCopyFlatData[int32](demand), 3) {
		list = append(list, [3]int32(d))
	}
	if len(list) > 1 {
		f.Observe(list, rows, length)
	}
}

// withRoom is the executor that has room for everything.
func (r *Runner) withRoom() (*model.Exec, error) {
	if r.roomy != nil {
		return r.roomy, nil
	}
	exec, err := r.compile(nil)
	r.roomy = exec
	return exec, err
}

// planned finds or makes the executor with the room that is foreseen.
func (r *Runner) planned(foreseen *ShapePlan) (*model.Exec, error) {
	if foreseen.Encoder.Plan == nil && foreseen.Decoder.Plan == nil {
		return r.withRoom()
	}
	plan, list := fmt.Sprint(foreseen.Encoder.Plan, foreseen.Decoder.Plan), r.recent[foreseen.Shape]
	if i := slices.IndexFunc(list, func(c compiled) bool { return c.plan == plan }); i >= 0 {
		c := list[i]
		r.recent[foreseen.Shape] = append(slices.Delete(list, i, i+1), c)
		return c.exec, nil
	}
	exec, err := r.compile(foreseen)
	if err != nil {
		return nil, err
	}
	if len(list) == kept {
		list[0].exec.Finalize()
		list = slices.Delete(list, 0, 1)
	}
	r.recent[foreseen.Shape] = append(list, compiled{plan, exec})
	return exec, nil
}

// compile makes an executor with the room that is foreseen; nil: with room for everything.
func (r *Runner) compile(foreseen *ShapePlan) (*model.Exec, error) {
	exec, err := model.NewExec(r.backend, r.store, func(scope *model.Scope, nodes []*Node) []*Node {
		return r.build(scope, nodes, foreseen)
	})
	if err == nil {
		exec.SetMaxCache(-1)
	}
	return exec, err
}

// build adds to the outputs what call reads of them.
func (r *Runner) build(scope *model.Scope, nodes []*Node, foreseen *ShapePlan) []*Node {
	var room Capacities
	if foreseen != nil {
		room = Capacities{foreseen.Encoder.Capacities(foreseen.Rows, foreseen.Source), foreseen.Decoder.Capacities(foreseen.Rows, foreseen.Target)}
	}
	outputs, result := r.graph(scope, nodes, room)
	if r.foresight == nil {
		return outputs
	}
	g := outputs[0].Graph()
	overflow := LogicalOr(overflows(g, result.Encoder, room.Source), overflows(g, result.Decoder, room.Target))
	keepVariables(scope, overflow)
	return append(outputs, overflow, demand(g, result.Encoder), demand(g, result.Decoder))
}

func overflows(g *Graph, pass *universal.Pass, c halting.Capacities) *Node {
	if pass == nil {
		return Const(g, false)
	}
	return pass.Overflow(c)
}

// demand is what a stack needed, [steps+1, 3]; one row of zeros of a stack that is not there or has no choice.
func demand(g *Graph, pass *universal.Pass) *Node {
	if pass == nil || !pass.Adaptive() {
		return Zeros(g, shapes.Make(dtypes.Int32, 1, 3))
	}
	return pass.Demand(len(pass.Weights))
}

// keepVariables lets all variables be what they were if there was an overflow.
func keepVariables(scope *model.Scope, overflow *Node) {
	g := overflow.Graph()
	for v := range scope.Store().IterVariables() {
		if v.ChangedInGraph(g) {
			v.SetNodeValue(Where(overflow, g.GetParameterByName(v.Path()), v.NodeValue(g)))
		}
	}
}
