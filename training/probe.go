package training

import (
	"errors"
	"fmt"

	"github.com/gomlx/compute"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/batch"
	"universal-transformer/internal/capacity"
	"universal-transformer/internal/feed"
	"universal-transformer/universal"
)

// A Probe is the update of a run by one batch, outside of the run: what it costs, and how long it takes. Adaptive models run all steps at
// all positions, which is the most that training takes. Close it.
type Probe struct {
	config  Config
	backend compute.Backend
	model   universal.Model
	store   *model.Store
	graphs  *capacity.Graphs
	runner  *capacity.Runner
}

// NewProbe makes a probe of how a configuration trains a model. Nothing is compiled yet.
func NewProbe(c Config, backend compute.Backend, m universal.Model) (*Probe, error) {
	p := &Probe{config: c, backend: backend, model: m, store: model.NewStore()}
	if err := errors.Join(c.Validate(), m.Validate(), p.store.SetRNGStateFromSeed(1)); err != nil {
		return nil, err
	}
	p.graphs = capacity.NewGraphs(backend, p.store, capacity.Budget)
	p.runner = p.graphs.Runner(p.graph, nil)
	return p, nil
}

// Close frees what was compiled.
func (p *Probe) Close() { p.graphs.Close() }

// graph is the gradients of a batch and what the optimizer makes of them.
func (p *Probe) graph(scope *model.Scope, nodes []*Node, _ capacity.Capacities) ([]*Node, universal.Result) {
	in, rest := feed.Inputs(nodes, len(nodes) == 3, false)
	g := in.Target.Graph()
	scope.Store().SetTraining(g, true)
	result := p.model.Forward(scope, in, universal.Options{})
	loss, tally := p.config.Objective.Of(result, in.Target, rest[0])
	gradients := scope.BuildTrainableVariablesGradientsGraph(loss)
	p.config.optimize(scope, gradients, ScalarZero(g, loss.DType()))
	return []*Node{tally}, result
}

// inputs lists what graph reads.
func (p *Probe) inputs(b batch.Batch) []any {
	return append(feed.Tensors(b, nil), float32(p.config.Ponder.Weight))
}

// Update makes one update and waits for it.
func (p *Probe) Update(b batch.Batch) error {
	out, err := p.runner.Call(capacity.ShapeOf(b), p.inputs(b)...)
	if err != nil {
		return affordable(err)
	}
	tensors.MustCopyFlatData[float32](out[0])
	finalize(out)
	return nil
}

// Cost is what the update by a batch takes.
type Cost struct {
	Parameters int     // trained numbers
	Operations float64 // multiplications and additions of matrix products and convolutions, forward and backward
	Model      int     // bytes of the parameters
	Optimizer  int     // bytes of what else is kept from update to update: the moments of Adam and Muon, sums of gradients, means of weights
	Work       int     // bytes of activations, gradients and everything else that an update needs for a while
}

// Memory is all of it, in bytes.
func (c Cost) Memory() int { return c.Model + c.Optimizer + c.Work }

// Cost compiles the update by a batch of b's shape, without making it, and tells what it takes. The backend has to be one that can tell,
// as cpu.
func (p *Probe) Cost(b batch.Batch) (Cost, error) {
	var c Cost
	one := b
	one.Rows, one.Examples, one.Source, one.Target = 1, 1, b.Source[:b.SourceLength], b.Target[:b.TargetLength]
	operations, work, err := p.compile(one)
	if err != nil {
		return c, err
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
		_, c.Work, err = p.compile(b)
	}
	var short interface {
		error
		Memory() (need, have int)
	}
	if errors.As(err, &short) { // which is no error: it is what was asked
		c.Work, _ = short.Memory()
		err = nil
	}
	return c, err
}

// compile compiles the update by a batch and gives what the backend says that it takes.
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
	told, can := g.Executable().(interface{ Cost() (float64, int) })
	if !can {
		return 0, 0, fmt.Errorf("backend %s does not tell what a graph takes", p.backend.Name())
	}
	operations, work = told.Cost()
	return operations, work, nil
}
