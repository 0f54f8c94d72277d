package cpu

import (
	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
)

// perType instantiates generic code for a number type; build holds one entry for each.
func perType[F any](dtype dtypes.DType, build map[dtypes.DType]F, what string) F {
	f, ok := build[dtype]
	if !ok {
		panic(unsupported{what + " of " + dtype.String()})
	}
	return f
}

func (em *emitter) newArg(attr *argAttr, e *expr, in []denseIn, dst int) instr {
	x := e.in[0]
	a := &argInstr{src: in[0], dst: dst, isMin: attr.isMin}
	a.outer, a.length, a.inner = product(x.dims[:attr.axis]), x.dims[attr.axis], product(x.dims[attr.axis+1:])
	a.find = perType(x.dtype, argFinders, e.op.String())
	if e.dtype != dtypes.Int64 {
		a.convert = em.kernels().convert[[2]dtypes.DType{dtypes.Int64, e.dtype}]
		if a.convert == nil {
			panic(unsupported{"ArgMinMax with positions of type " + e.dtype.String()})
		}
	}
	a.positions = em.temp(8 * e.size())
	at := len(em.prog.instrs)
	em.prog.slots[a.positions].first, em.prog.slots[a.positions].last = at, at
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

func (em *emitter) newWindow(a *windowAttr, e *expr, in []denseIn, dst int) instr {
	x := e.in[0]
	rank := len(x.dims)
	key := opKey{windowOps[a.reduction], e.dtype}
	w := &windowInstr{src: in[0], dst: dst, in: x.dims, out: e.dims, size: e.dtype.Size(), inStrides: contiguous(x.dims)}
	w.w = windowGeometry{a.dimensions, a.strides, orOnes(a.windowDilations, rank), orOnes(a.inputDilations, rank), starts(a.paddings, rank)}
	if len(a.strides) == 0 {
		w.w.stride = a.dimensions
	}
	if w.combine = em.kernels().elementwise[key]; w.combine == nil || em.kernels().reduce[key] == nil {
		panic(unsupported{e.op.String() + " of " + e.dtype.String()})
	}
	w.neutral = neutrals[key]
	w.window = product(a.dimensions)
	return w
}

func (em *emitter) newConv(a *convAttr, e *expr, in []denseIn, dst int) instr {
	x, k := e.in[0], e.in[1]
	n := len(a.axes.InputSpatial)
	c := &convInstr{x: in[0], filter: in[1], dst: dst, axes: a.axes, channelGroups: a.channelGroupCount, batchGroups: a.batchGroupCount,
		xDims: x.dims, kDims: k.dims, outDims: e.dims,
		xStrides: contiguous(x.dims), kStrides: contiguous(k.dims), outStrides: contiguous(e.dims)}
	size := make([]int, n)
	for i, axis := range a.axes.KernelSpatial {
		size[i] = k.dims[axis]
	}
	c.w = windowGeometry{size, orOnes(a.strides, n), orOnes(a.kernelDilations, n), orOnes(a.inputDilations, n), starts(a.paddings, n)}
	c.compute = perType(e.dtype, convolvers, e.op.String())
	return c
}
