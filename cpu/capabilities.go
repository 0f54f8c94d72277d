package cpu

import (
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/gobackend"
	"universal-transformer/cpu/internal/ir"
	"universal-transformer/cpu/internal/kernel"
)

// replayedDTypes are the supported types without kernels: graphs that contain one are replayed as a whole on the portable backend.
var replayedDTypes = []dtypes.DType{
	dtypes.Float16, dtypes.BFloat16, dtypes.Int2, dtypes.Int4, dtypes.Uint2, dtypes.Uint4,
}

// nativeOps are the operations with kernels, apart from the element-wise ones.
var nativeOps = []compute.OpType{
	compute.OpTypeParameter, compute.OpTypeConstant, compute.OpTypeIdentity,
	compute.OpTypeArgMinMax, compute.OpTypeBitcast, compute.OpTypeBroadcastInDim, compute.OpTypeClamp,
	compute.OpTypeConcatenate, compute.OpTypeConvGeneral, compute.OpTypeConvertDType,
	compute.OpTypeDot, compute.OpTypeDotGeneral, compute.OpTypeDynamicSlice, compute.OpTypeDynamicUpdateSlice,
	compute.OpTypeGather, compute.OpTypeIota, compute.OpTypePad,
	compute.OpTypeReduceBitwiseAnd, compute.OpTypeReduceBitwiseOr, compute.OpTypeReduceBitwiseXor,
	compute.OpTypeReduceLogicalAnd, compute.OpTypeReduceLogicalOr, compute.OpTypeReduceLogicalXor,
	compute.OpTypeReduceMax, compute.OpTypeReduceMin, compute.OpTypeReduceProduct, compute.OpTypeReduceSum,
	compute.OpTypeReduceWindow, compute.OpTypeReshape, compute.OpTypeReverse, compute.OpTypeRNGBitGenerator,
	compute.OpTypeScatterMax, compute.OpTypeScatterMin, compute.OpTypeScatterSum,
	compute.OpTypeSlice, compute.OpTypeTranspose, compute.OpTypeWhere,
	compute.OpTypeOptimizationBarrier, compute.OpTypeSchedulingBarrier,
	compute.OpTypeCall, compute.OpTypeIf, compute.OpTypeWhile, compute.OpTypeSort,
	compute.OpTypeFusedScaledDotProductAttention, compute.OpTypeFusedScaledDotProductAttentionVJP,
	compute.OpTypeDynamicDimensionSize, compute.OpTypeDynamicShape, compute.OpTypeDynamicReshape,
}

var capabilities = func() compute.Capabilities {
	c := compute.Capabilities{
		Functions:  true,
		Operations: make(map[compute.OpType]bool),
		DTypes:     make(map[dtypes.DType]bool),
	}
	for op := range ir.UnaryMethods {
		c.Operations[op] = true
	}
	for op := range ir.BinaryMethods {
		c.Operations[op] = true
	}
	for _, op := range slices.Concat(nativeOps, foreignOps) {
		c.Operations[op] = true
	}
	for _, dtype := range slices.Concat(kernel.DTypes, replayedDTypes) {
		c.DTypes[dtype] = true
	}
	return c
}()

// newPortable creates the backend on which graphs with operations or types without kernels are replayed.
func newPortable() (compute.Backend, error) {
	return gobackend.New("ops_sequential")
}

// Unsupported lists the operations of the compute interface that this backend does not support, and the types whose graphs run on the
// portable backend. Replayed lists the operations whose graphs run there.
func Unsupported() (ops []compute.OpType, replayed []dtypes.DType) {
	for op := compute.OpTypeInvalid + 1; op < compute.OpTypeLast; op++ {
		if !capabilities.Operations[op] && !internalOps[op] {
			ops = append(ops, op)
		}
	}
	return ops, slices.Clone(replayedDTypes)
}

// Replayed lists the operations that have no kernels, so that graphs with them run on the portable backend.
func Replayed() []compute.OpType { return slices.Clone(foreignOps) }

// internalOps are entries of the enumeration that graphs cannot use.
var internalOps = map[compute.OpType]bool{
	compute.OpTypeCapturedValue:       true,
	compute.OpTypeBlockForDotGeneral:  true,
	compute.OpTypeCollectiveBroadcast: true,
	compute.OpTypeAllGather:           true,
}

// Kernels returns the name of the best kernels for this processor: avx512, avx2, neon or scalar.
func Kernels() string { return string(kernel.Best().Level) }

// BFloat16 returns the name of the kernels that products=bf16 uses on this processor, or "" if there are none.
func BFloat16() string {
	set, err := kernel.Best().WithBFloat16(false)
	if err != nil {
		return ""
	}
	return set.Rounded.Name
}

// Int8 returns the name of the kernels that products=int8 uses on this processor, or "" if there are none.
func Int8() string {
	set, err := kernel.Best().WithInt8(false)
	if err != nil {
		return ""
	}
	return set.ByParameter.Name
}
