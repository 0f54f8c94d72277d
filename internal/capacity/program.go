package capacity

import (
	"fmt"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
)

// A program is a compiled graph: the backend's executable, and the variables that it reads and writes. Unlike GoMLX's executor it
// does not keep the nodes, which take several times the memory.
type program struct {
	backend    compute.Backend
	executable compute.Executable
	parameters int
	variables  []binding
	changed    []*model.Variable // variables that the graph changes, its first outputs
	bytes      int               // approximate memory
}

// A binding binds a variable to a parameter of the graph.
type binding struct {
	variable *model.Variable
	at       int
	changes  bool // the memory is donated, as the variable gets a new value
}

// bytesPerNode is the approximate memory of a compiled graph per node, measured with an adaptive encoder-decoder and its gradient on
// the cpu backend. It does not include the nodes recorded by GoMLX.
const bytesPerNode = 164

// compile compiles the graph for inputs, and records what running it needs.
func compile(exec *model.Exec, backend compute.Backend, store *model.Store, inputs []any) (*program, error) {
	list, err := InputShapes(inputs)
	if err != nil {
		return nil, err
	}
	g, err := exec.Compile(list...)
	if err != nil {
		return nil, err
	}
	p := &program{backend: backend, executable: g.Executable(), parameters: g.NumParameters(), bytes: sizeOf(g)}
	for v := range store.IterVariables() {
		if !v.InUseByGraph(g) {
			continue
		}
		b := binding{v, int(g.GetParameterByName(v.Path()).GetParameterHandle()), v.ChangedInGraph(g)}
		p.variables = append(p.variables, b)
		if b.changes {
			p.changed = append(p.changed, v)
		}
	}
	return p, nil
}

// InputShapes returns the shapes of a graph's inputs.
func InputShapes(inputs []any) ([]shapes.Shape, error) {
	list := make([]shapes.Shape, len(inputs))
	for i, x := range inputs {
		t, err := tensors.FromAnyValue(x)
		if err != nil {
			return nil, fmt.Errorf("input %d: %w", i, err)
		}
		list[i] = t.Shape()
	}
	return list, nil
}

// sizeOf returns the approximate memory of a compiled graph in bytes.
func sizeOf(g *Graph) int {
	bytes := bytesPerNode * len(g.Nodes())
	for _, n := range g.Nodes() {
		if n.Type() == NodeTypeConstant {
			bytes += int(n.Shape().ByteSize())
		}
	}
	return bytes
}

func (p *program) size() int { return p.bytes }
func (p *program) free()     { p.executable.Finalize() }

// run calls the graph, as [model.Exec.Call] does.
func (p *program) run(inputs []any) ([]*tensors.Tensor, error) {
	buffers, donated := make([]compute.Buffer, p.parameters), make([]bool, p.parameters)
	for i, x := range inputs {
		t, err := tensors.FromAnyValue(x)
		if err != nil {
			return nil, fmt.Errorf("input %d: %w", i, err)
		}
		if buffers[i], err = t.Buffer(p.backend, 0); err != nil {
			return nil, fmt.Errorf("input %d: %w", i, err)
		}
	}
	for _, b := range p.variables {
		var err error
		if buffers[b.at], err = b.buffer(p.backend); err != nil {
			return nil, fmt.Errorf("variable %s: %w", b.variable.Path(), err)
		}
		donated[b.at] = b.changes
	}
	results, err := p.executable.Execute(buffers, donated, 0)
	if err != nil {
		return nil, err
	}
	out := make([]*tensors.Tensor, len(results))
	for i, r := range results {
		if out[i], err = tensors.FromBuffer(r); err != nil {
			return nil, err
		}
	}
	for i, v := range p.changed {
		if err := v.SetValue(out[i]); err != nil {
			return nil, fmt.Errorf("variable %s: %w", v.Path(), err)
		}
	}
	return out[len(p.changed):], nil
}

// buffer returns the memory of the variable. A variable that is updated donates it.
func (b binding) buffer(backend compute.Backend) (compute.Buffer, error) {
	value, err := b.variable.Value()
	if err != nil {
		return nil, err
	}
	if !b.changes {
		return value.Buffer(backend, 0)
	}
	buffer, err := value.DonateBuffer(backend, 0)
	if err != nil {
		return nil, err
	}
	return buffer, b.variable.Reset()
}
