package cpu

import (
	"fmt"
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/shapeinference"
	"universal-transformer/cpu/internal/ir"
)

// Shapes are fixed, so the operations that ask for them give constants.

// DynamicDimensionSize implements compute.StandardOps.
func (f *function) DynamicDimensionSize(x compute.Value, axis int) (compute.Value, error) {
	in, err := f.nodesOf("DynamicDimensionSize", x)
	if err != nil {
		return nil, err
	}
	if axis < 0 || axis >= in[0].Shape.Rank() {
		return nil, fmt.Errorf("DynamicDimensionSize: %s has no axis %d", in[0].Shape, axis)
	}
	return f.Constant([]int32{int32(in[0].Shape.Dim(axis))})
}

// DynamicShape implements compute.StandardOps.
func (f *function) DynamicShape(x compute.Value) (compute.Value, error) {
	in, err := f.nodesOf("DynamicShape", x)
	if err != nil {
		return nil, err
	}
	dims := make([]int32, in[0].Shape.Rank())
	for i, d := range in[0].Shape.Dimensions {
		dims[i] = int32(d)
	}
	return f.Constant(dims, len(dims))
}

// DynamicReshape implements compute.StandardOps for dimensions that are known: numbers, constants, and one that follows from the others.
func (f *function) DynamicReshape(x compute.Value, specs ...compute.DynamicDimensionSpec) (compute.Value, error) {
	in, err := f.nodesOf("DynamicReshape", x)
	if err != nil {
		return nil, err
	}
	specs = slices.Clone(specs)
	for i, spec := range specs {
		if spec.Value == nil {
			continue
		}
		size, err := f.nodesOf("DynamicReshape", spec.Value)
		if err != nil {
			return nil, err
		}
		n, ok := constantInteger(size[0])
		if !ok {
			return nil, fmt.Errorf("DynamicReshape: axis %q has a size that the graph computes; backend %q needs fixed shapes: %w", spec.Name, BackendName, compute.ErrNotImplemented)
		}
		specs[i] = compute.DynamicDimensionSpec{Static: n}
	}
	shape, err := shapeinference.DynamicReshape(in[0].Shape, specs)
	if err != nil {
		return nil, err
	}
	return f.Reshape(x, shape.Dimensions...)
}

// constantInteger returns the value of an integer constant of one element.
func constantInteger(n *ir.Node) (int, bool) {
	c, ok := n.Attr.(*ir.ConstAttr)
	if !ok || n.Shape.Size() != 1 {
		return 0, false
	}
	switch v := c.Flat.(type) {
	case []int32:
		return int(v[0]), true
	case []int64:
		return int(v[0]), true
	}
	return 0, false
}
