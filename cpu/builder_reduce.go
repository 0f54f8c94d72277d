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

func (f *function) reduce(op compute.OpType, x compute.Value, axes []int) (compute.Value, error) {
	in, err := f.nodesOf(op.String(), x)
	if err != nil {
		return nil, err
	}
	if len(axes) == 0 {
		axes = make([]int, in[0].Shape.Rank())
		for i := range axes {
			axes[i] = i
		}
	}
	shape, err := shapeinference.Reduce(in[0].Shape, axes)
	if err != nil {
		return nil, err
	}
	return f.add(op, shape, slices.Sorted(slices.Values(axes)), in[0])
}

// ReduceSum implements compute.StandardOps.
func (f *function) ReduceSum(x compute.Value, axes ...int) (compute.Value, error) {
	return f.reduce(compute.OpTypeReduceSum, x, axes)
}

// ReduceProduct implements compute.StandardOps.
func (f *function) ReduceProduct(x compute.Value, axes ...int) (compute.Value, error) {
	return f.reduce(compute.OpTypeReduceProduct, x, axes)
}

// ReduceMax implements compute.StandardOps.
func (f *function) ReduceMax(x compute.Value, axes ...int) (compute.Value, error) {
	return f.reduce(compute.OpTypeReduceMax, x, axes)
}

// ReduceMin implements compute.StandardOps.
func (f *function) ReduceMin(x compute.Value, axes ...int) (compute.Value, error) {
	return f.reduce(compute.OpTypeReduceMin, x, axes)
}

// ReduceBitwiseAnd implements compute.StandardOps.
func (f *function) ReduceBitwiseAnd(x compute.Value, axes ...int) (compute.Value, error) {
	return f.reduce(compute.OpTypeReduceBitwiseAnd, x, axes)
}

// ReduceBitwiseOr implements compute.StandardOps.
func (f *function) ReduceBitwiseOr(x compute.Value, axes ...int) (compute.Value, error) {
	return f.reduce(compute.OpTypeReduceBitwiseOr, x, axes)
}

// ReduceBitwiseXor implements compute.StandardOps.
func (f *function) ReduceBitwiseXor(x compute.Value, axes ...int) (compute.Value, error) {
	return f.reduce(compute.OpTypeReduceBitwiseXor, x, axes)
}

// ReduceLogicalAnd implements compute.StandardOps.
func (f *function) ReduceLogicalAnd(x compute.Value, axes ...int) (compute.Value, error) {
	return f.reduce(compute.OpTypeReduceLogicalAnd, x, axes)
}

// ReduceLogicalOr implements compute.StandardOps.
func (f *function) ReduceLogicalOr(x compute.Value, axes ...int) (compute.Value, error) {
	return f.reduce(compute.OpTypeReduceLogicalOr, x, axes)
}

// ReduceLogicalXor implements compute.StandardOps.
func (f *function) ReduceLogicalXor(x compute.Value, axes ...int) (compute.Value, error) {
	return f.reduce(compute.OpTypeReduceLogicalXor, x, axes)
}

// ArgMinMax implements compute.StandardOps.
func (f *function) ArgMinMax(x compute.Value, axis int, dtype dtypes.DType, isMin bool) (compute.Value, error) {
	in, err := f.nodesOf("ArgMinMax", x)
	if err != nil {
		return nil, err
	}
	shape, err := shapeinference.ArgMinMax(in[0].Shape, axis, dtype)
	if err != nil {
		return nil, err
	}
	return f.add(compute.OpTypeArgMinMax, shape, &ir.ArgAttr{Axis: axis, IsMin: isMin, DType: dtype}, in...)
}

// ReduceWindow implements compute.StandardOps.
func (f *function) ReduceWindow(x compute.Value, reduction compute.ReduceOpType,

	dimensions, strides, inputDilations, windowDilations []int, paddings [][2]int) (compute.Value, error) {
	in, err := f.nodesOf("ReduceWindow", x)
	if err != nil {
		return nil, err
	}
	shape, err := shapeinference.ReduceWindow(in[0].Shape, dimensions, strides, inputDilations, windowDilations, paddings)
	if err != nil {
		return nil, err
	}
	attr := &ir.WindowAttr{Reduction: reduction, Dimensions: slices.Clone(dimensions), Strides: slices.Clone(strides), InputDilations: slices.Clone(inputDilations),
		WindowDilations: slices.Clone(windowDilations), Paddings: slices.Clone(paddings)}
	return f.add(compute.OpTypeReduceWindow, shape, attr, in...)
}

// DotGeneral implements compute.StandardOps.
func (f *function) DotGeneral(lhs compute.Value, lhsContract, lhsBatch []int, rhs compute.Value,

	rhsContract, rhsBatch []int, config compute.DotGeneralConfig) (compute.Value, error) {
	in, err := f.nodesOf("DotGeneral", lhs, rhs)
	if err != nil {
		return nil, err
	}
	shape, err := shapeinference.DotGeneral(in[0].Shape, lhsContract, lhsBatch, in[1].Shape, rhsContract, rhsBatch, config)
	if err != nil {
		return nil, err
	}
	attr := &ir.DotAttr{LHSContract: slices.Clone(lhsContract), LHSBatch: slices.Clone(lhsBatch), RHSContract: slices.Clone(rhsContract), RHSBatch: slices.Clone(rhsBatch), Config: config}
	return f.add(compute.OpTypeDotGeneral, shape, attr, in...)
}

// ConvGeneral implements compute.StandardOps.
func (f *function) ConvGeneral(x, kernel compute.Value, axes compute.ConvolveAxesConfig, strides []int, paddings [][2]int,

	inputDilations, kernelDilations []int, channelGroupCount, batchGroupCount int) (compute.Value, error) {
	in, err := f.nodesOf("ConvGeneral", x, kernel)
	if err != nil {
		return nil, err
	}
	channelGroupCount, batchGroupCount = max(channelGroupCount, 1), max(batchGroupCount, 1)
	shape, err := shapeinference.ConvGeneral(in[0].Shape, in[1].Shape, axes, strides, paddings, inputDilations,
		kernelDilations, channelGroupCount, batchGroupCount)
	if err != nil {
		return nil, err
	}
	attr := &ir.ConvAttr{Axes: axes.Clone(), Strides: slices.Clone(strides), Paddings: slices.Clone(paddings), InputDilations: slices.Clone(inputDilations),
		KernelDilations: slices.Clone(kernelDilations), ChannelGroupCount: channelGroupCount, BatchGroupCount: batchGroupCount}
	return f.add(compute.OpTypeConvGeneral, shape, attr, in...)
}

// RNGBitGenerator implements compute.StandardOps.
func (f *function) RNGBitGenerator(state compute.Value, shape shapes.Shape) (newState, bits compute.Value, err error) {
	in, err := f.nodesOf("RNGBitGenerator", state)
	if err != nil {
		return nil, nil, err
	}
	if !in[0].Shape.Equal(compute.RNGStateShape) {
		return nil, nil, fmt.Errorf("RNGBitGenerator: the state must have shape %s, got %s", compute.RNGStateShape, in[0].Shape)
	}
	outs, err := f.addMulti(compute.OpTypeRNGBitGenerator, []shapes.Shape{in[0].Shape, shape}, nil, in...)
	if err != nil {
		return nil, nil, err
	}
	return outs[0], outs[1], nil
}
