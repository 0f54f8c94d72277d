package cpu

import (
	"fmt"
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"universal-transformer/cpu/internal/ir"
)

// closureOf returns the function argument of op, which must be a finished closure of f.
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

func shapesOf(nodes []*ir.Node) []shapes.Shape {
	s := make([]shapes.Shape, len(nodes))
	for i, n := range nodes {
		s[i] = n.Shape
	}
	return s
}

func equalShapes(a, b []*ir.Node) bool {
	return slices.EqualFunc(a, b, func(x, y *ir.Node) bool { return x.Shape.Equal(y.Shape) })
}

func isPredicate(results []*ir.Node) bool {
	return len(results) == 1 && results[0].Shape.IsScalar() && results[0].Shape.DType == dtypes.Bool
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
	if !equalShapes(in, g.ir.Params) {
		return nil, fmt.Errorf("Call: function %q takes %v, got %v", g.ir.Name, shapesOf(g.ir.Params), shapesOf(in))
	}
	outs, err := f.addMulti(compute.OpTypeCall, shapesOf(g.ir.Results), &ir.CallAttr{Functions: []*ir.Function{g.ir}}, in...)
	return values(outs), err
}

// If implements compute.Function.
func (f *function) If(pred compute.Value, onTrue, onFalse compute.Function) ([]compute.Value, error) {
	in, err := f.nodesOf("If", pred)
	if err != nil {
		return nil, err
	}
	if !isPredicate(in) {
		return nil, fmt.Errorf("If: the predicate must be a boolean scalar, got %s", in[0].Shape)
	}
	var branches []*ir.Function
	for _, fn := range []compute.Function{onTrue, onFalse} {
		g, err := f.closureOf("If", fn)
		if err != nil {
			return nil, err
		}
		if len(g.ir.Params) != 0 {
			return nil, fmt.Errorf("If: branches take no parameters, got %d", len(g.ir.Params))
		}
		branches = append(branches, g.ir)
	}
	if !equalShapes(branches[0].Results, branches[1].Results) {
		return nil, fmt.Errorf("If: branches return %v and %v", shapesOf(branches[0].Results), shapesOf(branches[1].Results))
	}
	outs, err := f.addMulti(compute.OpTypeIf, shapesOf(branches[0].Results), &ir.CallAttr{Functions: branches}, in...)
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
	if !equalShapes(c.ir.Params, in) || !equalShapes(b.ir.Params, in) || !equalShapes(b.ir.Results, in) {
		return nil, fmt.Errorf("While: state %v, condition takes %v, body takes %v and returns %v",
			shapesOf(in), shapesOf(c.ir.Params), shapesOf(b.ir.Params), shapesOf(b.ir.Results))
	}
	if !isPredicate(c.ir.Results) {
		return nil, fmt.Errorf("While: the condition must return a boolean scalar, got %v", shapesOf(c.ir.Results))
	}
	outs, err := f.addMulti(compute.OpTypeWhile, shapesOf(in), &ir.CallAttr{Functions: []*ir.Function{c.ir, b.ir}}, in...)
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
	rank := in[0].Shape.Rank()
	if axis < 0 {
		axis += rank
	}
	if axis < 0 || axis >= rank {
		return nil, fmt.Errorf("Sort: axis out of range for shape %s", in[0].Shape)
	}
	if len(c.ir.Params) != 2*len(in) || !isPredicate(c.ir.Results) {
		return nil, fmt.Errorf("Sort: the comparator must take %d scalars and return a boolean scalar", 2*len(in))
	}
	for i, n := range in {
		for _, p := range c.ir.Params[2*i : 2*i+2] {
			if !p.Shape.IsScalar() || p.Shape.DType != n.Shape.DType {
				return nil, fmt.Errorf("Sort: comparator parameters for tensor #%d must be scalar %s", i, n.Shape.DType)
			}
		}
		if !slices.Equal(n.Shape.Dimensions, in[0].Shape.Dimensions) {
			return nil, fmt.Errorf("Sort: tensors have different dimensions %v", shapesOf(in))
		}
	}
	outs, err := f.addMulti(compute.OpTypeSort, shapesOf(in), &ir.SortAttr{Comparator: c.ir, Axis: axis, Stable: stable}, in...)
	return values(outs), err
}
