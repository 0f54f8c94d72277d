package training

import (
	"errors"
	"fmt"

	"github.com/gomlx/compute"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine"
	"universal-transformer/internal/batch"
	"universal-transformer/internal/capacity"
	"universal-transformer/internal/feed"
	"universal-transformer/training/schedule"
	"universal-transformer/universal"
)

// A Probe makes single updates of a run with a given batch, outside of the run, to find their cost and time. Adaptive models run all
// steps at all positions, the upper bound of training. The caller must close it.
type Probe struct {
	config  schedule.Config
	backend compute.Backend
	model   universal.Model
	store   *model.Store
	graphs  *capacity.Graphs
	runner  *capacity.Runner
}

// NewProbe returns a probe for training a model with a configuration. It compiles nothing yet.
func NewProbe(c schedule.Config, backend compute.Backend, m universal.Model) (*Probe, error) {
	p := &Probe{config: c, backend: backend, model: m, store: model.NewStore()}
	if err := errors.Join(engine.CheckTraining(backend), c.Validate(), m.Validate(), p.store.SetRNGStateFromSeed(1)); err != nil {
		return nil, err
	}
	p.graphs = capacity.NewGraphs(backend, p.store, capacity.Budget)
	p.runner = p.graphs.Runner(p.graph, nil)
	return p, nil
}

// Close frees the compiled graphs.
func (p *Probe) Close() { p.graphs.Close() }

// graph computes the gradients of a batch and the optimizer's update.
func (p *Probe) graph(scope *model.Scope, nodes []*Node, _ capacity.Capacities) ([]*Node, universal.Result) {
	in, rest := feed.Inputs(nodes, len(nodes) == 3, false)
	g := in.Target.Graph()
	scope.Store().SetTraining(g, true)
	result := p.model.Forward(scope, in, p.config.Objective.Options())
	loss, tally := p.config.Objective.Of(result, in.Target, rest[0])
	gradients := scope.BuildTrainableVariablesGradientsGraph(loss)
	optimize(p.config, scope, gradients, ScalarZero(g, loss.DType()))
	return []*Node{tally}, result
}

// inputs lists the inputs of graph.
func (p *Probe) inputs(b batch.Batch) []any {
	return append(feed.Tensors(b, nil), float32(p.config.Ponder.Weight))
}

// Update performs one update and waits for it.
func (p *Probe) Update(b batch.Batch) error {
	b = withPasses(p.config, b)
	out, err := p.runner.Call(capacity.ShapeOf(b), p.inputs(b)...)
	if err != nil {
		return withMemoryHint(err)
	}
	tensors.MustCopyFlatData[float32](out[0])
	finalize(out)
	return nil
}

// Cost is the cost of the update by a batch.
type Cost struct {
	Parameters int     // trained numbers
	Operations float64 // multiplications and additions of matrix products and convolutions, forward and backward
	Model      int     // bytes of the parameters
	Optimizer  int     // bytes kept between updates besides the parameters: moments of Adam and Muon, sums of gradients, means of weights
	Work       int     // bytes of activations, gradients and other temporary values of an update
}

// Cost compiles the update by a batch of b's shape, without running it, and returns its cost. The backend must report costs, as cpu does.
func (p *Probe) Cost(b batch.Batch) (Cost, error) {
	var c Cost
	one := b
	one.Rows, one.Examples, one.Source, one.Target = 1, 1, b.Source[:b.SourceLength], b.Target[:b.TargetLength]
	operations, work, err := p.compile(withPasses(p.config, one))
	if err != nil {
		return c, withMemoryHint(err)
	}
	c.Operations = operations * float64(b.Rows) // products are of rows, or sum over them
	for v := range p.store.IterVariables() {
		switch {
		case v.Trainable:
			c.Parameters += v.Shape().Size()
			c.Model += int(v.Shape().ByteSize())
		default:
			c.Optimizer += int(v.Shape().ByteSize())
		}
	}
	c.Optimizer += c.Model // the sums of gradients
	if p.config.Average > 0 {
		c.Optimizer += c.Model
	}
	if c.Work = work; b.Rows > 1 {
		_, c.Work, err = p.compile(withPasses(p.config, b))
	}
	if short, ok := engine.AsMemoryError(err); ok { // the backend reports the cost as this error
		c.Work, _ = short.Memory()
		err = nil
	}
	return c, err
}

// compile compiles the update by a batch and returns the cost that the backend reports.
func (p *Probe) compile(b batch.Batch) (operations float64, work int, err error) {
	exec, err := model.NewExec(p.backend, p.store, func(scope *model.Scope, nodes []*Node) []*Node {
		outputs, _ := p.graph(scope, nodes, capacity.Capacities{})
		return outputs
	})
	if err != nil {
		return 0, 0, err
	}
	defer exec.Finalize()
	inputs := p.inputs(b)
	shapes, err := capacity.InputShapes(inputs)
	if err != nil {
		return 0, 0, err
	}
	g, err := exec.Compile(shapes...)
	if err != nil {
		return 0, 0, err
	}
	executable, ok := g.Executable().(interface{ Cost() (float64, int) })
	if !ok {
		return 0, 0, fmt.Errorf("backend %s does not report the cost of a graph", p.backend.Name())
	}
	operations, work = executable.Cost()
	return operations, work, nil
}
