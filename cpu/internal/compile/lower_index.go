package compile

import (
	"slices"

	"github.com/gomlx/compute"
	"universal-transformer/cpu/internal/exec"
	"universal-transformer/cpu/internal/graph"
	"universal-transformer/cpu/internal/ir"
	"universal-transformer/cpu/internal/kernel"
)

func newStarts(starts []*graph.Expr, in []exec.Operand, dims, sizes []int, size int) exec.Starts {
	r := exec.Starts{Indices: in, Strides: graph.Contiguous(dims)}
	for i, s := range starts {
		r.Types = append(r.Types, s.DType)
		r.Limits = append(r.Limits, dims[i]-sizes[i])
		r.Strides[i] *= size
	}
	return r
}

func newDynamicSlice(e *graph.Expr, in []exec.Operand, dst int) exec.Instruction {
	x, size := e.Operands[0], e.DType.Size()
	return &exec.DynamicSlice{Src: in[0], Dst: dst, Start: newStarts(e.Operands[1:], in[1:], x.Dims, e.Dims, size),
		Box: exec.NewBox(e.Dims, graph.Contiguous(e.Dims), graph.Contiguous(x.Dims), size)}
}

// dynamicUpdate emits an update, which may reuse the memory of its operand.
func (em *emitter) dynamicUpdate(e *graph.Expr, in []exec.Operand, dst int) {
	x, u, size := e.Operands[0], e.Operands[1], e.DType.Size()
	src := in[0].Slot
	var list []access
	for _, slot := range em.touched(e) {
		list = append(list, access{slot, slot == src || slot == dst}) // it is never in a chain, so its only share is the whole
	}
	if in[0].Offset == 0 && src != in[1].Slot {
		em.inPlace = append(em.inPlace, [2]int{dst, src})
	}
	em.emitAccess(&exec.DynamicUpdateSlice{Src: in[0], Update: in[1], Dst: dst, Bytes: e.Bytes(), Start: newStarts(e.Operands[2:], in[2:], x.Dims, u.Dims, size),
		Box: exec.NewBox(u.Dims, graph.Contiguous(x.Dims), graph.Contiguous(u.Dims), size)}, list)
}

func newIndexVectors(x *graph.Expr, in exec.Operand, axis int) exec.IndexVectors {
	if !x.DType.IsInt() {
		panic(ir.Unsupported{What: "indices of type " + x.DType.String()})
	}
	v := exec.IndexVectors{Indices: in, DType: x.DType, Length: 1}
	strides := graph.Contiguous(x.Dims)
	for i, d := range x.Dims {
		if i == axis {
			v.Length, v.Step = d, strides[i]
		} else {
			v.Dims, v.Strides = append(v.Dims, d), append(v.Strides, strides[i])
		}
	}
	return v
}

func newGather(a *ir.GatherAttr, e *graph.Expr, in []exec.Operand, dst int) exec.Instruction {
	x, size := e.Operands[0], e.DType.Size()
	g := &exec.Gather{Src: in[0], Dst: dst, Vectors: newIndexVectors(e.Operands[1], in[1], a.IndexVectorAxis)}
	strides, out := graph.Contiguous(x.Dims), graph.Contiguous(e.Dims)
	for _, axis := range a.StartIndexMap {
		g.AxisStrides = append(g.AxisStrides, strides[axis]*size)
		g.Limit = append(g.Limit, x.Dims[axis]-a.Sizes[axis])
	}
	for i := range e.Dims {
		if !slices.Contains(a.OffsetOutputAxes, i) {
			g.BatchOut = append(g.BatchOut, out[i]*size)
		}
	}
	var dims, to, from []int
	for axis := range x.Dims {
		if !slices.Contains(a.CollapsedSliceAxes, axis) {
			to = append(to, out[a.OffsetOutputAxes[len(dims)]])
			dims, from = append(dims, a.Sizes[axis]), append(from, strides[axis])
		}
	}
	g.Box = exec.NewBox(dims, to, from, size)
	g.Count = graph.Product(g.Vectors.Dims)
	return g
}

func (em *emitter) newScatter(a *ir.ScatterAttr, e *graph.Expr, in []exec.Operand, dst int) exec.Instruction {
	x, u, size := e.Operands[0], e.Operands[2], e.DType.Size()
	s := &exec.Scatter{Src: in[0], Updates: in[2], Dst: dst, Bytes: e.Bytes(), Size: size,
		Vectors: newIndexVectors(e.Operands[1], in[1], a.IndexVectorAxis)}
	op := map[compute.OpType]compute.OpType{
		compute.OpTypeScatterSum: compute.OpTypeAdd,
		compute.OpTypeScatterMax: compute.OpTypeMax,
		compute.OpTypeScatterMin: compute.OpTypeMin,
	}[e.Op]
	if s.Combine = em.kernels().Elementwise[kernel.Key{Op: op, DType: e.DType}]; s.Combine == nil {
		panic(ir.Unsupported{What: e.Op.String() + " of " + e.DType.String()})
	}
	strides, from := graph.Contiguous(x.Dims), graph.Contiguous(u.Dims)
	var dims, to, window []int
	full := make([]int, len(x.Dims)) // sizes of the window on the operand's axes
	for axis := range x.Dims {
		full[axis] = 1
		if !slices.Contains(a.InsertedWindowAxes, axis) {
			w := a.UpdateWindowAxes[len(dims)]
			full[axis] = u.Dims[w]
			dims, to, window = append(dims, u.Dims[w]), append(to, strides[axis]), append(window, from[w])
		}
	}
	for _, axis := range a.ScatterAxesToOperandAxes {
		s.AxisStrides = append(s.AxisStrides, strides[axis]*size)
		s.Limit = append(s.Limit, x.Dims[axis]-full[axis])
	}
	for i := range u.Dims {
		if !slices.Contains(a.UpdateWindowAxes, i) {
			s.BatchIn = append(s.BatchIn, from[i]*size)
		}
	}
	s.Box = exec.NewBox(dims, to, window, size)
	s.Count = graph.Product(s.Vectors.Dims)
	return s
}
