package cpu

import (
	"fmt"
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapeinference"
	"github.com/gomlx/compute/shapes"
	"universal-transformer/cpu/internal/ir"
)

// Identity implements compute.StandardOps.
func (f *function) Identity(x compute.Value) (compute.Value, error) {
	in, err := f.nodesOf("Identity", x)
	if err != nil {
		return nil, err
	}
	return f.add(compute.OpTypeIdentity, in[0].Shape, nil, in...)
}

// Where implements compute.StandardOps.
func (f *function) Where(condition, onTrue, onFalse compute.Value) (compute.Value, error) {
	in, err := f.nodesOf("Where", condition, onTrue, onFalse)
	if err != nil {
		return nil, err
	}
	shape, err := shapeinference.Where(in[0].Shape, in[1].Shape, in[2].Shape)
	if err != nil {
		return nil, err
	}
	return f.add(compute.OpTypeWhere, shape, nil, in...)
}

// Clamp implements compute.StandardOps.
func (f *function) Clamp(low, x, high compute.Value) (compute.Value, error) {
	y, err := f.Max(low, x)
	if err != nil {
		return nil, err
	}
	return f.Min(y, high)
}

// ConvertDType implements compute.StandardOps.
func (f *function) ConvertDType(x compute.Value, dtype dtypes.DType) (compute.Value, error) {
	in, err := f.nodesOf("ConvertDType", x)
	if err != nil {
		return nil, err
	}
	if in[0].Shape.DType == dtype {
		return in[0], nil
	}
	if !capabilities.DTypes[dtype] {
		return nil, fmt.Errorf("ConvertDType to %s: %w", dtype, compute.ErrNotImplemented)
	}
	shape := in[0].Shape.Clone()
	shape.DType = dtype
	return f.add(compute.OpTypeConvertDType, shape, nil, in...)
}

// Bitcast implements compute.StandardOps.
func (f *function) Bitcast(x compute.Value, dtype dtypes.DType) (compute.Value, error) {
	in, err := f.nodesOf("Bitcast", x)
	if err != nil {
		return nil, err
	}
	shape, err := shapeinference.Bitcast(in[0].Shape, dtype)
	if err != nil {
		return nil, err
	}
	return f.add(compute.OpTypeBitcast, shape, nil, in...)
}

// Iota implements compute.StandardOps.
func (f *function) Iota(shape shapes.Shape, axis int) (compute.Value, error) {
	if axis < 0 || axis >= shape.Rank() {
		return nil, fmt.Errorf("Iota: axis %d out of range for shape %s", axis, shape)
	}
	return f.add(compute.OpTypeIota, shape, axis)
}

// Reshape implements compute.StandardOps.
func (f *function) Reshape(x compute.Value, dims ...int) (compute.Value, error) {
	in, err := f.nodesOf("Reshape", x)
	if err != nil {
		return nil, err
	}
	shape, err := shapeinference.Reshape(in[0].Shape, dims)
	if err != nil {
		return nil, err
	}
	return f.add(compute.OpTypeReshape, shape, nil, in...)
}

// Transpose implements compute.StandardOps.
func (f *function) Transpose(x compute.Value, permutation ...int) (compute.Value, error) {
	in, err := f.nodesOf("Transpose", x)
	if err != nil {
		return nil, err
	}
	shape, err := shapeinference.Transpose(in[0].Shape, permutation)
	if err != nil {
		return nil, err
	}
	return f.add(compute.OpTypeTranspose, shape, slices.Clone(permutation), in...)
}

// BroadcastInDim implements compute.StandardOps.
func (f *function) BroadcastInDim(x compute.Value, shape shapes.Shape, axes []int) (compute.Value, error) {
	in, err := f.nodesOf("BroadcastInDim", x)
	if err != nil {
		return nil, err
	}
	if err := shapeinference.BroadcastInDim(in[0].Shape, shape, axes, nil); err != nil {
		return nil, err
	}
	return f.add(compute.OpTypeBroadcastInDim, shape, slices.Clone(axes), in...)
}

// Slice implements compute.StandardOps.
func (f *function) Slice(x compute.Value, starts, limits, strides []int) (compute.Value, error) {
	in, err := f.nodesOf("Slice", x)
	if err != nil {
		return nil, err
	}
	shape, err := shapeinference.Slice(in[0].Shape, starts, limits, strides)
	if err != nil {
		return nil, err
	}
	attr := &ir.SliceAttr{Starts: slices.Clone(starts), Limits: slices.Clone(limits), Strides: slices.Clone(strides)}
	if len(strides) == 0 {
		attr.Strides = make([]int, len(starts))
		for i := range attr.Strides {
			attr.Strides[i] = 1
		}
	}
	return f.add(compute.OpTypeSlice, shape, attr, in...)
}

// Reverse implements compute.StandardOps.
func (f *function) Reverse(x compute.Value, axes ...int) (compute.Value, error) {
	in, err := f.nodesOf("Reverse", x)
	if err != nil {
		return nil, err
	}
	for _, a := range axes {
		if a < 0 || a >= in[0].Shape.Rank() {
			return nil, fmt.Errorf("Reverse: axis %d out of range for shape %s", a, in[0].Shape)
		}
	}
	return f.add(compute.OpTypeReverse, in[0].Shape, slices.Clone(axes), in...)
}

// Pad implements compute.StandardOps.
func (f *function) Pad(x, fill compute.Value, axes ...compute.PadAxis) (compute.Value, error) {
	in, err := f.nodesOf("Pad", x, fill)
	if err != nil {
		return nil, err
	}
	if !in[1].Shape.IsScalar() || in[1].Shape.DType != in[0].Shape.DType {
		return nil, fmt.Errorf("Pad: the fill value must be a scalar %s, got %s", in[0].Shape.DType, in[1].Shape)
	}
	shape, err := shapeinference.Pad(in[0].Shape, axes...)
	if err != nil {
		return nil, err
	}
	full := make([]compute.PadAxis, in[0].Shape.Rank())
	copy(full, axes)
	return f.add(compute.OpTypePad, shape, full, in...)
}

// Concatenate implements compute.StandardOps.
func (f *function) Concatenate(axis int, operands ...compute.Value) (compute.Value, error) {
	in, err := f.nodesOf("Concatenate", operands...)
	if err != nil {
		return nil, err
	}
	inShapes := make([]shapes.Shape, len(in))
	for i, n := range in {
		inShapes[i] = n.Shape
	}
	shape, err := shapeinference.Concatenate(inShapes, axis)
	if err != nil {
		return nil, err
	}
	if len(in) == 1 {
		return in[0], nil
	}
	return f.add(compute.OpTypeConcatenate, shape, axis, in...)
}

// OptimizationBarrier implements compute.StandardOps. Results do not depend on it, as no optimization changes a value.
func (f *function) OptimizationBarrier(operands ...compute.Value) ([]compute.Value, error) {
	in, err := f.nodesOf("OptimizationBarrier", operands...)
	if err != nil {
		return nil, err
	}
	if len(in) == 0 {
		return nil, fmt.Errorf("OptimizationBarrier needs an operand")
	}
	outs := make([]compute.Value, len(in))
	for i, n := range in {
		if outs[i], err = f.add(compute.OpTypeOptimizationBarrier, n.Shape, nil, n); err != nil {
			return nil, err
		}
	}
	return outs, nil
}

// SchedulingBarrier implements compute.StandardOps. It does nothing, as operations run one after the other in the order of the graph.
func (f *function) SchedulingBarrier(operand compute.Value, dependencies ...compute.Value) (compute.Value, error) {
	in, err := f.nodesOf("SchedulingBarrier", append([]compute.Value{operand}, dependencies...)...)
	if err != nil {
		return nil, err
	}
	return f.add(compute.OpTypeSchedulingBarrier, in[0].Shape, nil, in...)
}
