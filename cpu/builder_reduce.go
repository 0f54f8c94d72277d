package cpu

import (
	"fmt"
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapeinference"
	"github.com/gomlx/compute/shapes"
)

func (f *function) reduce(op compute.OpType, x compute.Value, axes []int) (compute.Value, error) {
	in, err := f.nodesOf(op.String(), x)
	if err != nil {
		return nil, err
	}
	if len(axes) == 0 {
		axes = make([]int, in[0].shape.Rank())
		for i := range axes {
			axes[i] = i
		}
	}
	shape, err := shapeinference.Reduce(in[0].shape, axes)
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
	shape, err := shapeinference.ArgMinMax(in[0].shape, axis, dtype)
	if err != nil {
		return nil, err
	}
	return f.add(compute.OpTypeArgMinMax, shape, &argAttr{axis, isMin, dtype}, in...)
}

// ReduceWindow implements compute.StandardOps.
func (f *function) ReduceWindow(x compute.Value, reduction compute.ReduceOpType,

	dimensions, strides, inputDilations, windowDilations []int, paddings [][2]int) (compute.Value, error) {
	in, err := f.nodesOf("ReduceWindow", x)
	if err != nil {
		return nil, err
	}
	shape, err := shapeinference.ReduceWindow(in[0].shape, dimensions, strides, inputDilations, windowDilations, paddings)
	if err != nil {
		return nil, err
	}
	attr := &windowAttr{reduction, slices.Clone(dimensions), slices.Clone(strides), slices.Clone(inputDilations),
		slices.Clone(windowDilations), slices.Clone(paddings)}
	return f.add(compute.OpTypeReduceWindow, shape, attr, in...)
}

// DotGeneral implements compute.StandardOps.
func (f *function) DotGeneral(lhs compute.Value, lhsContract, lhsBatch []int, rhs compute.Value,

	rhsContract, rhsBatch []int, config compute.DotGeneralConfig) (compute.Value, error) {
	in, err := f.nodesOf("DotGeneral", lhs, rhs)
	if err != nil {
		return nil, err
	}
	shape, err := shapeinference.DotGeneral(in[0].shape, lhsContract, lhsBatch, in[1].shape, rhsContract, rhsBatch, config)
	if err != nil {
		return nil, err
	}
	attr := &dotAttr{slices.Clone(lhsContract), slices.Clone(lhsBatch), slices.Clone(rhsContract), slices.Clone(rhsBatch), config}
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
	shape, err := shapeinference.ConvGeneral(in[0].shape, in[1].shape, axes, strides, paddings, inputDilations,
		kernelDilations, channelGroupCount, batchGroupCount)
	if err != nil {
		return nil, err
	}
	attr := &convAttr{axes.Clone(), slices.Clone(strides), slices.Clone(paddings), slices.Clone(inputDilations),
		slices.Clone(kernelDilations), channelGroupCount, batchGroupCount}
	return f.add(compute.OpTypeConvGeneral, shape, attr, in...)
}

// RNGBitGenerator implements compute.StandardOps.
func (f *function) RNGBitGenerator(state compute.Value, shape shapes.Shape) (newState, bits compute.Value, err error) {
	in, err := f.nodesOf("RNGBitGenerator", state)
	if err != nil {
		return nil, nil, err
	}
	if !in[0].shape.Equal(compute.RNGStateShape) {
		return nil, nil, fmt.Errorf("RNGBitGenerator: the state must have shape %s, got %s", compute.RNGStateShape, in[0].shape)
	}
	outs, err := f.addMulti(compute.OpTypeRNGBitGenerator, []shapes.Shape{in[0].shape, shape}, nil, in...)
	if err != nil {
		return nil, nil, err
	}
	return outs[0], outs[1], nil
}
