package compile

import (
	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"universal-transformer/cpu/internal/exec"
	"universal-transformer/cpu/internal/graph"
	"universal-transformer/cpu/internal/ir"
	"universal-transformer/cpu/internal/kernel"
)

// perType instantiates generic code for a number type; build holds one entry for each.
func perType[F any](dtype dtypes.DType, build map[dtypes.DType]F, what string) F {
	f, ok := build[dtype]
	if !ok {
		panic(ir.Unsupported{What: what + " of " + dtype.String()})
	}
	return f
}

func (em *emitter) newArg(attr *ir.ArgAttr, e *graph.Expr, in []exec.Operand, dst int) exec.Instruction {
	x := e.Operands[0]
	a := &exec.ArgMinMax{Src: in[0], Dst: dst, IsMin: attr.IsMin}
	a.Outer, a.Length, a.Inner = graph.Product(x.Dims[:attr.Axis]), x.Dims[attr.Axis], graph.Product(x.Dims[attr.Axis+1:])
	a.Find = perType(x.DType, exec.ArgFinders, e.Op.String())
	if a.Inner == 1 {
		op := compute.OpTypeMax
		if attr.IsMin {
			op = compute.OpTypeMin
		}
		a.Extreme = em.kernels().Reduce[kernel.Key{Op: op, DType: x.DType}]
	}
	if e.DType != dtypes.Int64 {
		a.Convert = em.kernels().Convert[[2]dtypes.DType{dtypes.Int64, e.DType}]
		if a.Convert == nil {
			panic(ir.Unsupported{What: "ArgMinMax with positions of type " + e.DType.String()})
		}
	}
	a.Positions = em.temp(8 * e.Size())
	at := len(em.prog.Instructions)
	em.prog.Slots[a.Positions].First, em.prog.Slots[a.Positions].Last = at, at
	return a
}

func ones(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = 1
	}
	return s
}

func orOnes(s []int, n int) []int {
	if len(s) == 0 {
		return ones(n)
	}
	return s
}

func starts(paddings [][2]int, n int) []int {
	s := make([]int, n)
	for i := range paddings {
		s[i] = paddings[i][0]
	}
	return s
}

var windowOps = map[compute.ReduceOpType]compute.OpType{
	compute.ReduceOpSum:     compute.OpTypeAdd,
	compute.ReduceOpProduct: compute.OpTypeMul,
	compute.ReduceOpMax:     compute.OpTypeMax,
	compute.ReduceOpMin:     compute.OpTypeMin,
}

func (em *emitter) newWindow(a *ir.WindowAttr, e *graph.Expr, in []exec.Operand, dst int) exec.Instruction {
	x := e.Operands[0]
	rank := len(x.Dims)
	key := kernel.Key{Op: windowOps[a.Reduction], DType: e.DType}
	w := &exec.ReduceWindow{Src: in[0], Dst: dst, In: x.Dims, Out: e.Dims, Size: e.DType.Size(), InStrides: graph.Contiguous(x.Dims)}
	w.Geometry = exec.Window{Size: a.Dimensions, Stride: a.Strides, Dilation: orOnes(a.WindowDilations, rank), InputDilation: orOnes(a.InputDilations, rank), Padding: starts(a.Paddings, rank)}
	if len(a.Strides) == 0 {
		w.Geometry.Stride = a.Dimensions
	}
	if w.Combine = em.kernels().Elementwise[key]; w.Combine == nil || em.kernels().Reduce[key] == nil {
		panic(ir.Unsupported{What: e.Op.String() + " of " + e.DType.String()})
	}
	w.Neutral = kernel.Neutral[key]
	w.Window = graph.Product(a.Dimensions)
	return w
}

func (em *emitter) newConv(a *ir.ConvAttr, e *graph.Expr, in []exec.Operand, dst int) exec.Instruction {
	x, k := e.Operands[0], e.Operands[1]
	n := len(a.Axes.InputSpatial)
	c := &exec.Convolution{X: in[0], Filter: in[1], Dst: dst, Axes: a.Axes, ChannelGroups: a.ChannelGroupCount, BatchGroups: a.BatchGroupCount,
		XDims: x.Dims, KDims: k.Dims, OutDims: e.Dims,
		XStrides: graph.Contiguous(x.Dims), KStrides: graph.Contiguous(k.Dims), OutStrides: graph.Contiguous(e.Dims)}
	size := make([]int, n)
	for i, axis := range a.Axes.KernelSpatial {
		size[i] = k.Dims[axis]
	}
	c.Geometry = exec.Window{Size: size, Stride: orOnes(a.Strides, n), Dilation: orOnes(a.KernelDilations, n), InputDilation: orOnes(a.InputDilations, n), Padding: starts(a.Paddings, n)}
	c.Compute = perType(e.DType, exec.Convolvers, e.Op.String())
	return c
}
