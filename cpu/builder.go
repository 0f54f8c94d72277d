package cpu

import (
	"fmt"
	"reflect"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/notimplemented"
	"github.com/gomlx/compute/shapes"
	"universal-transformer/cpu/internal/ir"
)

// A builder records the functions of a graph until Compile.
type builder struct {
	notimplemented.Builder
	backend  *Backend
	module   *ir.Module
	main     *function
	byName   map[string]*function
	compiled bool
}

var _ compute.Builder = (*builder)(nil)

// Builder returns a builder for a new graph.
func (b *Backend) Builder(name string) compute.Builder {
	bd := &builder{backend: b, module: &ir.Module{Name: name}, byName: make(map[string]*function)}
	bd.Builder.ErrFn = notImplemented
	bd.main = bd.newFunction(compute.MainName, nil)
	bd.module.Main = bd.main.ir
	return bd
}

func notImplemented(op compute.OpType) error {
	return fmt.Errorf("operation %s is not implemented by backend %q: %w", op, BackendName, compute.ErrNotImplemented)
}

func (bd *builder) newFunction(name string, parent *function) *function {
	f := &function{builder: bd, parent: parent, ir: &ir.Function{Module: bd.module, Name: name}}
	if parent != nil {
		f.ir.Parent = parent.ir
	}
	f.Function.ErrFn = notImplemented
	return f
}

// Name returns the name of the graph.
func (bd *builder) Name() string { return bd.module.Name }

// Main returns the function that Compile makes executable.
func (bd *builder) Main() compute.Function { return bd.main }

// NewFunction returns a new function that other functions may Call.
func (bd *builder) NewFunction(name string) (compute.Function, error) {
	if name == compute.MainName || name == "" || bd.byName[name] != nil {
		return nil, fmt.Errorf("function name %q is empty, reserved or taken", name)
	}
	f := bd.newFunction(name, nil)
	bd.byName[name] = f
	return f, nil
}

// OpShape returns the shape of a value.
func (bd *builder) OpShape(v compute.Value) (shapes.Shape, error) {
	n, ok := v.(*ir.Node)
	if !ok || n == nil {
		return shapes.Invalid(), fmt.Errorf("%T is not a value of backend %q", v, BackendName)
	}
	return n.Shape, nil
}

// Compile makes an executable of the main function.
func (bd *builder) Compile() (compute.Executable, error) {
	if bd.compiled {
		return nil, fmt.Errorf("graph %q was already compiled", bd.module.Name)
	}
	if !bd.main.returned {
		return nil, fmt.Errorf("graph %q: Return was not called on the main function", bd.module.Name)
	}
	bd.compiled = true
	return bd.compile()
}

// A function records operations. It is the main function, a named one, or a closure with a parent.
type function struct {
	notimplemented.Function
	builder  *builder
	parent   *function
	ir       *ir.Function
	returned bool
}

var _ compute.Function = (*function)(nil)

// Name returns the name of the function, which is empty for closures.
func (f *function) Name() string { return f.ir.Name }

// Builder returns the builder that the function belongs to.
func (f *function) Builder() compute.Builder { return f.builder }

// Parent returns the parent of a closure, and nil for other functions.
func (f *function) Parent() compute.Function {
	if f.parent == nil {
		return nil
	}
	return f.parent
}

// Closure returns a new function that may use the values of f.
func (f *function) Closure() (compute.Function, error) {
	return f.builder.newFunction("", f), nil
}

// Shape returns the shape of a value.
func (f *function) Shape(v compute.Value) (shapes.Shape, error) { return f.builder.OpShape(v) }

// Parameter adds the next input.
func (f *function) Parameter(name string, shape shapes.Shape, sharding *compute.ShardingSpec) (compute.Value, error) {
	if sharding != nil {
		return nil, fmt.Errorf("backend %q has one device and does not shard: %w", BackendName, compute.ErrNotImplemented)
	}
	if shape.IsDynamic() {
		return nil, fmt.Errorf("parameter %q of shape %s: backend %q has no symbolic dimensions: %w", name, shape, BackendName, compute.ErrNotImplemented)
	}
	n, err := f.add(compute.OpTypeParameter, shape, &ir.ParamAttr{Name: name})
	if err != nil {
		return nil, err
	}
	f.ir.Params = append(f.ir.Params, n)
	return n, nil
}

// Constant adds a constant with a copy of the values.
func (f *function) Constant(flat any, dims ...int) (compute.Value, error) {
	t := reflect.TypeOf(flat)
	if t == nil || t.Kind() != reflect.Slice {
		return nil, fmt.Errorf("Constant needs a slice, got %T", flat)
	}
	n := reflect.ValueOf(flat).Len()
	shape := shapes.Make(dtypes.FromGoType(t.Elem()), dims...)
	if !capabilities.DTypes[shape.DType] {
		return nil, fmt.Errorf("Constant: backend %q has no type for %T", BackendName, flat)
	}
	if err := checkAddressable("a constant", shape); err != nil {
		return nil, err
	}
	if shape.Size() != n {
		return nil, fmt.Errorf("constant of shape %s needs %d values, got %d", shape, shape.Size(), n)
	}
	if err := f.builder.backend.fitsTensor("a constant", shape); err != nil {
		return nil, err
	}
	values := makeFlat(shape.DType, n)
	copyFlat(values, flat)
	return f.add(compute.OpTypeConstant, shape, &ir.ConstAttr{Flat: values})
}

// Return finishes the function.
func (f *function) Return(outputs []compute.Value, shardings []*compute.ShardingSpec) error {
	if f.returned {
		return fmt.Errorf("function %q: Return called twice", f.ir.Name)
	}
	for _, s := range shardings {
		if s != nil {
			return fmt.Errorf("backend %q has one device and does not shard: %w", BackendName, compute.ErrNotImplemented)
		}
	}
	results, err := f.nodesOf("Return", outputs...)
	if err != nil {
		return err
	}
	for _, r := range results {
		if !r.Shape.Ok() {
			return fmt.Errorf("function %q returns an invalid value", f.ir.Name)
		}
	}
	f.ir.Results, f.returned = results, true
	return nil
}

// nodesOf checks that values belong to f or to one of its parents, and returns their nodes.
func (f *function) nodesOf(what string, values ...compute.Value) ([]*ir.Node, error) {
	nodes := make([]*ir.Node, len(values))
	for i, v := range values {
		n, ok := v.(*ir.Node)
		if !ok || n == nil {
			return nil, fmt.Errorf("%s: input #%d is a %T, not a value of backend %q", what, i, v, BackendName)
		}
		if n.Func.Module != f.builder.module {
			return nil, fmt.Errorf("%s: input #%d belongs to another graph (%q)", what, i, n.Func.Module.Name)
		}
		if !f.ir.Sees(n.Func) {
			return nil, fmt.Errorf("%s: input #%d belongs to a function that %q cannot see", what, i, f.ir.Name)
		}
		nodes[i] = n
	}
	return nodes, nil
}

// add records an operation with one output.
func (f *function) add(op compute.OpType, shape shapes.Shape, attr any, inputs ...*ir.Node) (*ir.Node, error) {
	if f.returned {
		return nil, fmt.Errorf("function %q: cannot add %s after Return", f.ir.Name, op)
	}
	if f.builder.compiled {
		return nil, fmt.Errorf("graph %q: cannot add %s after Compile", f.builder.module.Name, op)
	}
	if err := checkAddressable("a tensor", shape); err != nil {
		return nil, err
	}
	return f.ir.Add(op, shape, attr, inputs...), nil
}

// addMulti records an operation with several outputs.
func (f *function) addMulti(op compute.OpType, outputs []shapes.Shape, attr any, inputs ...*ir.Node) ([]*ir.Node, error) {
	n, err := f.add(op, shapes.Invalid(), attr, inputs...)
	if err != nil {
		return nil, err
	}
	for _, shape := range outputs {
		out, err := f.add(ir.OpOutput, shape, nil, n)
		if err != nil {
			return nil, err
		}
		n.Outputs = append(n.Outputs, out)
	}
	return n.Outputs, nil
}

// values converts nodes to the type of the interface.
func values(nodes []*ir.Node) []compute.Value {
	vs := make([]compute.Value, len(nodes))
	for i, n := range nodes {
		vs[i] = n
	}
	return vs
}
