package cpu

import (
	"fmt"
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/shapeinference"
	"universal-transformer/cpu/internal/ir"
)

// DynamicSlice implements compute.StandardOps.
func (f *function) DynamicSlice(x compute.Value, starts []compute.Value, sizes []int) (compute.Value, error) {
	in, err := f.nodesOf("DynamicSlice", append([]compute.Value{x}, starts...)...)
	if err != nil {
		return nil, err
	}
	if err := checkStarts("DynamicSlice", in[0], in[1:]); err != nil {
		return nil, err
	}
	shape, err := shapeinference.DynamicSlice(in[0].Shape, sizes)
	if err != nil {
		return nil, err
	}
	return f.add(compute.OpTypeDynamicSlice, shape, slices.Clone(sizes), in...)
}

// DynamicUpdateSlice implements compute.StandardOps.
func (f *function) DynamicUpdateSlice(x, update compute.Value, starts []compute.Value) (compute.Value, error) {
	in, err := f.nodesOf("DynamicUpdateSlice", append([]compute.Value{x, update}, starts...)...)
	if err != nil {
		return nil, err
	}
	if err := checkStarts("DynamicUpdateSlice", in[0], in[2:]); err != nil {
		return nil, err
	}
	shape, err := shapeinference.DynamicUpdateSlice(in[0].Shape, in[1].Shape)
	if err != nil {
		return nil, err
	}
	if in[1].Shape.Rank() != in[0].Shape.Rank() || in[1].Shape.DType != in[0].Shape.DType {
		return nil, fmt.Errorf("DynamicUpdateSlice: cannot update %s with %s", in[0].Shape, in[1].Shape)
	}
	for a, d := range in[1].Shape.Dimensions {
		if d > in[0].Shape.Dimensions[a] {
			return nil, fmt.Errorf("DynamicUpdateSlice: update %s is larger than %s", in[1].Shape, in[0].Shape)
		}
	}
	return f.add(compute.OpTypeDynamicUpdateSlice, shape, nil, in...)
}

func checkStarts(what string, x *ir.Node, starts []*ir.Node) error {
	if len(starts) != x.Shape.Rank() {
		return fmt.Errorf("%s: %s needs %d start indices, got %d", what, x.Shape, x.Shape.Rank(), len(starts))
	}
	for i, s := range starts {
		if !s.Shape.IsScalar() || !s.Shape.DType.IsInt() {
			return fmt.Errorf("%s: start index #%d must be an integer scalar, got %s", what, i, s.Shape)
		}
	}
	return nil
}

// Gather implements compute.StandardOps.
func (f *function) Gather(x, indices compute.Value, indexVectorAxis int,
	offsetOutputAxes, collapsedSliceAxes, startIndexMap, sizes []int, sorted bool) (compute.Value, error) {
	in, err := f.nodesOf("Gather", x, indices)
	if err != nil {
		return nil, err
	}
	shape, err := shapeinference.Gather(in[0].Shape, in[1].Shape, indexVectorAxis, offsetOutputAxes, collapsedSliceAxes,
		startIndexMap, sizes, sorted)
	if err != nil {
		return nil, err
	}
	attr := &ir.GatherAttr{IndexVectorAxis: indexVectorAxis, OffsetOutputAxes: slices.Clone(offsetOutputAxes), CollapsedSliceAxes: slices.Clone(collapsedSliceAxes),
		StartIndexMap: slices.Clone(startIndexMap), Sizes: slices.Clone(sizes), Sorted: sorted}
	return f.add(compute.OpTypeGather, shape, attr, in...)
}

func (f *function) scatter(op compute.OpType, x, indices, updates compute.Value, indexVectorAxis int,
	updateWindowAxes, insertedWindowAxes, scatterAxes []int, sorted, unique bool) (compute.Value, error) {
	in, err := f.nodesOf(op.String(), x, indices, updates)
	if err != nil {
		return nil, err
	}
	shape, err := shapeinference.Scatter(in[0].Shape, in[1].Shape, in[2].Shape, indexVectorAxis, updateWindowAxes,
		insertedWindowAxes, scatterAxes)
	if err != nil {
		return nil, err
	}
	attr := &ir.ScatterAttr{IndexVectorAxis: indexVectorAxis, UpdateWindowAxes: slices.Clone(updateWindowAxes), InsertedWindowAxes: slices.Clone(insertedWindowAxes),
		ScatterAxesToOperandAxes: slices.Clone(scatterAxes), Sorted: sorted, Unique: unique}
	return f.add(op, shape, attr, in...)
}

// ScatterSum implements compute.StandardOps.
func (f *function) ScatterSum(x, indices, updates compute.Value, indexVectorAxis int,
	updateWindowAxes, insertedWindowAxes, scatterAxes []int, sorted, unique bool) (compute.Value, error) {
	return f.scatter(compute.OpTypeScatterSum, x, indices, updates, indexVectorAxis, updateWindowAxes, insertedWindowAxes, scatterAxes, sorted, unique)
}

// ScatterMax implements compute.StandardOps.
func (f *function) ScatterMax(x, indices, updates compute.Value, indexVectorAxis int,
	updateWindowAxes, insertedWindowAxes, scatterAxes []int, sorted, unique bool) (compute.Value, error) {
	return f.scatter(compute.OpTypeScatterMax, x, indices, updates, indexVectorAxis, updateWindowAxes, insertedWindowAxes, scatterAxes, sorted, unique)
}

// ScatterMin implements compute.StandardOps.
func (f *function) ScatterMin(x, indices, updates compute.Value, indexVectorAxis int,
	updateWindowAxes, insertedWindowAxes, scatterAxes []int, sorted, unique bool) (compute.Value, error) {
	return f.scatter(compute.OpTypeScatterMin, x, indices, updates, indexVectorAxis, updateWindowAxes, insertedWindowAxes, scatterAxes, sorted, unique)
}
