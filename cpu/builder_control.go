package cpu

import (
	"fmt"
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
)

// closureOf checks a function argument of op: a finished closure of f.
func (f *function) closureOf(op string, fn compute.Function) (*function, error) {
	g, ok := fn.(*function)
	switch {
	case !ok || g == nil:
		return nil, fmt.Errorf("%s: %T is not a function of backend %q", op, fn, BackendName)
	case g.parent != f:
		return nil, fmt.Errorf("%s: the function must be a closure of the calling function", op)
	case !g.returned:
		return nil, fmt.Errorf("%s: Return was not called on the closure", op)
	}
	return g, nil
}

func shapesOf(nodes []*node) []shapes.Shape {
	s := make([]shapes.Shape, len(nodes))
	for i, n := range nodes {
		s[i] = n.shape
	}
	return s
}

func equalShapes(a, b []*node) bool {
	return slices.EqualFunc(a, b, func(x, y *node) bool { return x.shape.Equal(y.shape) })
}

func isPredicate(results []*node) bool {
	return len(results) == 1 && results[0].shape.IsScalar() && results[0].shape.DType == dtypes.Bool
}

// Call implements compute.Function.
func (f *function) Call(fn compute.Function, inputs ...compute.Value) ([]compute.Value, error) {
	g, ok := fn.(*function)
	if !ok || g.builder != f.builder || g.parent != nil || !g.returned {
		return nil, fmt.Errorf("Call: the target must be a finished top-level function of the same graph")
	}
	in, err := f.nodesOf("Call", inputs...)
	if err != nil {
		return nil, err
	}
	if !equalShapes(in, g.ir.params) {
		return nil, fmt.Errorf("Call: function %q takes %v, got %v", g.ir.name, shapesOf(g.ir.params), shapesOf(in))
	}
	outs, err := f.addMulti(compute.OpTypeCall, shapesOf(g.ir.results), &callAttr{[]*irFunction{g.ir}}, in...)
	return values(outs), err
}

// If implements compute.Function.
func (f *function) If(pred compute.Value, onTrue, onFalse compute.Function) ([]compute.Value, error) {
	in, err := f.nodesOf("If", pred)
	if err != nil {
		return nil, err
	}
	if !isPredicate(in) {
		return nil, fmt.Errorf("If: the predicate must be a boolean scalar, got %s", in[0].shape)
	}
	var branches []*irFunction
	for _, fn := range []compute.Function{onTrue, onFalse} {
		g, err := f.closureOf("If", fn)
		if err != nil {
			return nil, err
		}
		if len(g.ir.params) != 0 {
			return nil, fmt.Errorf("If: branches take no parameters, got %d", len(g.ir.params))
		}
		branches = append(branches, g.ir)
	}
	if !equalShapes(branches[0].results, branches[1].results) {
		return nil, fmt.Errorf("If: branches return %v and %v", shapesOf(branches[0].results), shapesOf(branches[1].results))
	}
	outs, err := f.addMulti(compute.OpTypeIf, shapesOf(branches[0].results), &callAttr{branches}, in...)
	return values(outs), err
}

// While implements compute.Function.
func (f *function) While(cond, body compute.Function, initial ...compute.Value) ([]compute.Value, error) {
	in, err := f.nodesOf("While", initial...)
	if err != nil {
		return nil, err
	}
	if len(in) == 0 {
		return nil, fmt.Errorf("While needs at least one state value")
	}
	c, err := f.closureOf("While", cond)
	if err != nil {
		return nil, err
	}
	b, err := f.closureOf("While", body)
	if err != nil {
		return nil, err
	}
	if !equalShapes(c.ir.params, in) || !equalShapes(b.ir.params, in) || !equalShapes(b.ir.results, in) {
		return nil, fmt.Errorf("While: state %v, condition takes %v, body takes %v and returns %v",
			shapesOf(in), shapesOf(c.ir.params), shapesOf(b.ir.params), shapesOf(b.ir.results))
	}
	if !isPredicate(c.ir.results) {
		return nil, fmt.Errorf("While: the condition must return a boolean scalar, got %v", shapesOf(c.ir.results))
	}
	outs, err := f.addMulti(compute.OpTypeWhile, shapesOf(in), &callAttr{[]*irFunction{c.ir, b.ir}}, in...)
	return values(outs), err
}

// Sort implements compute.Function. The comparator takes lhs and rhs of the first tensor, then of the second, ...
func (f *function) Sort(comparator compute.Function, axis int, stable bool, inputs ...compute.Value) ([]compute.Value, error) {
	in, err := f.nodesOf("Sort", inputs...)
	if err != nil {
		return nil, err
	}
	if len(in) == 0 {
		return nil, fmt.Errorf("Sort needs at least one tensor")
	}
	c, err := f.closureOf("Sort", comparator)
	if err != nil {
		return nil, err
	}
	rank := in[0].shape.Rank()
	if axis < 0 {
		axis += rank
	}
	if axis < 0 || axis >= rank {
		return nil, fmt.Errorf("Sort: axis out of range for shape %s", in[0].shape)
	}
	if len(c.ir.params) != 2*len(in) || !isPredicate(c.ir.results) {
		return nil, fmt.Errorf("Sort: the comparator must take %d scalars and return a boolean scalar", 2*len(in))
	}
	for i, n := range in {
		for _, p := range c.ir.params[2*i : 2*i+2] {
			if !p.shape.IsScalar() || p.shape.DType != n.shape.DType {
				return nil, fmt.Errorf("Sort: comparator parameters for tensor #%d must be scalar %s", i, n.shape.DType)
			}
		}
		if !slices.Equal(n.shape.Dimensions, in[0].shape.Dimensions) {
			return nil, fmt.Errorf("Sort: tensors have different dimensions %v", shapesOf(in))
		}
	}
	outs, err := f.addMulti(compute.OpTypeSort, shapesOf(in), &sortAttr{c.ir, axis, stable}, in...)
	return values(outs), err
}
