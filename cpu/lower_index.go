package cpu

import (
	"slices"

	"github.com/gomlx/compute"
)

func newStartReader(starts []*expr, in []denseIn, dims, sizes []int, size int) startReader {
	r := startReader{starts: in, strides: contiguous(dims)}
	for i, s := range starts {
		r.types = append(r.types, s.dtype)
		r.limits = append(r.limits, dims[i]-sizes[i])
		r.strides[i] *= size
	}
	return r
}

func newDynamicSlice(e *expr, in []denseIn, dst int) instr {
	x, size := e.in[0], e.dtype.Size()
	return &dynamicSliceInstr{in[0], dst, newStartReader(e.in[1:], in[1:], x.dims, e.dims, size),
		newBox(e.dims, contiguous(e.dims), contiguous(x.dims), size)}
}

// dynamicUpdate emits an update, which may take over the memory of what it updates.
func (em *emitter) dynamicUpdate(e *expr, in []denseIn, dst int) {
	x, u, size := e.in[0], e.in[1], e.dtype.Size()
	src := in[0].slot
	var list []access
	for _, slot := range em.touched(e) {
		list = append(list, access{slot, slot == src || slot == dst}) // it is in no chain: its only share is the whole
	}
	if in[0].offset == 0 && src != in[1].slot {
		em.inPlace = append(em.inPlace, [2]int{dst, src})
	}
	em.emitAccess(&dynamicUpdateInstr{in[0], in[1], dst, e.bytes(), newStartReader(e.in[2:], in[2:], x.dims, u.dims, size),
		newBox(u.dims, contiguous(x.dims), contiguous(u.dims), size)}, list)
}

func newIndexVectors(x *expr, in denseIn, axis int) indexVectors {
	if !x.dtype.IsInt() {
		panic(unsupported{"indices of type " + x.dtype.String()})
	}
	v := indexVectors{indices: in, dtype: x.dtype, length: 1}
	strides := contiguous(x.dims)
	for i, d := range x.dims {
		if i == axis {
			v.length, v.step = d, strides[i]
		} else {
			v.dims, v.strides = append(v.dims, d), append(v.strides, strides[i])
		}
	}
	return v
}

func newGather(a *gatherAttr, e *expr, in []denseIn, dst int) instr {
	x, size := e.in[0], e.dtype.Size()
	g := &gatherInstr{src: in[0], dst: dst, vectors: newIndexVectors(e.in[1], in[1], a.indexVectorAxis)}
	strides, out := contiguous(x.dims), contiguous(e.dims)
	for _, axis := range a.startIndexMap {
		g.operand = append(g.operand, strides[axis]*size)
		g.limit = append(g.limit, x.dims[axis]-a.sizes[axis])
	}
	for i := range e.dims {
		if !slices.Contains(a.offsetOutputAxes, i) {
			g.batchOut = append(g.batchOut, out[i]*size)
		}
	}
	var dims, to, from []int
	for axis := range x.dims {
		if !slices.Contains(a.collapsedSliceAxes, axis) {
			to = append(to, out[a.offsetOutputAxes[len(dims)]])
			dims, from = append(dims, a.sizes[axis]), append(from, strides[axis])
		}
	}
	g.box = newBox(dims, to, from, size)
	g.count = product(g.vectors.dims)
	return g
}

func (em *emitter) newScatter(a *scatterAttr, e *expr, in []denseIn, dst int) instr {
	x, u, size := e.in[0], e.in[2], e.dtype.Size()
	s := &scatterInstr{src: in[0], updates: in[2], dst: dst, bytes: e.bytes(), size: size,
		vectors: newIndexVectors(e.in[1], in[1], a.indexVectorAxis)}
	op := map[compute.OpType]compute.OpType{
		compute.OpTypeScatterSum: compute.OpTypeAdd,
		compute.OpTypeScatterMax: compute.OpTypeMax,
		compute.OpTypeScatterMin: compute.OpTypeMin,
	}[e.op]
	if s.combine = em.kernels().elementwise[opKey{op, e.dtype}]; s.combine == nil {
		panic(unsupported{e.op.String() + " of " + e.dtype.String()})
	}
	strides, from := contiguous(x.dims), contiguous(u.dims)
	var dims, to, window []int
	full := make([]int, len(x.dims)) // sizes of the window on the operand's axes
	for axis := range x.dims {
		full[axis] = 1
		if !slices.Contains(a.insertedWindowAxes, axis) {
			w := a.updateWindowAxes[len(dims)]
			full[axis] = u.dims[w]
			dims, to, window = append(dims, u.dims[w]), append(to, strides[axis]), append(window, from[w])
		}
	}
	for _, axis := range a.scatterAxesToOperandAxes {
		s.operand = append(s.operand, strides[axis]*size)
		s.limit = append(s.limit, x.dims[axis]-full[axis])
	}
	for i := range u.dims {
		if !slices.Contains(a.updateWindowAxes, i) {
			s.batchIn = append(s.batchIn, from[i]*size)
		}
	}
	s.box = newBox(dims, to, window, size)
	s.count = product(s.vectors.dims)
	return s
}
