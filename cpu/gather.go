package cpu

import (
	"fmt"
	"unsafe"

	"github.com/gomlx/compute/dtypes"
)

// indexVectors enumerates the index vectors of a gather or scatter, in the order of the batch axes.
type indexVectors struct {
	indices denseIn
	dtype   dtypes.DType
	dims    []int // batch axes
	strides []int // of the batch axes, in elements of indices
	length  int   // of a vector
	step    int   // between the elements of a vector
}

// at splits a flat batch position into axes and returns the position of its vector in indices.
func (v *indexVectors) at(flat int, axes []int) int {
	pos := 0
	for i := len(v.dims) - 1; i >= 0; i-- {
		axes[i] = flat % v.dims[i]
		flat /= v.dims[i]
		pos += axes[i] * v.strides[i]
	}
	return pos
}

// gatherInstr copies one box of the operand for each index vector.
type gatherInstr struct {
	src      denseIn
	dst      int
	vectors  indexVectors
	operand  []int // for each element of a vector: stride of its axis, in bytes
	limit    []int // and its largest value
	batchOut []int // for each batch axis: stride in the result, in bytes
	box      box
	count    int
}

func (g *gatherInstr) run(fr *frame) {
	if g.box.empty() {
		return
	}
	if g.count*g.box.block*execProduct(g.box.dims) < 1<<15 {
		g.part(fr, 0, 1)
		return
	}
	fr.do(g)
}

func (g *gatherInstr) part(fr *frame, part, parts int) {
	axes := make([]int, len(g.vectors.dims))
	indices := g.vectors.indices.at(fr)
	lo, hi := split(g.count, part, parts)
	for i := lo; i < hi; i++ {
		pos := g.vectors.at(i, axes)
		from, to := 0, 0
		for j, stride := range g.operand {
			index := readIndex(indices, g.vectors.dtype, pos+j*g.vectors.step)
			from += min(max(index, 0), g.limit[j]) * stride
		}
		for j, stride := range g.batchOut {
			to += axes[j] * stride
		}
		g.box.transfer(unsafe.Add(fr.ptrs[g.dst], to), unsafe.Add(g.src.at(fr), from))
	}
}

// scatterInstr copies the operand and combines one box of the updates into it for each index vector, in
// their order. Threads share the innermost axis, so that the order of additions stays the same.
type scatterInstr struct {
	src, updates denseIn
	dst, bytes   int
	vectors      indexVectors
	operand      []int // as in gatherInstr
	limit        []int
	batchIn      []int // for each batch axis: stride in the updates, in bytes
	box          box
	size         int
	combine      kernel
	count        int
}

func (s *scatterInstr) run(fr *frame) {
	copyBytes(fr.ptrs[s.dst], s.src.at(fr), s.bytes)
	if s.box.empty() {
		return
	}
	if len(s.box.dims) > 0 || s.box.block < 2*cacheLine || s.count*s.box.block < 1<<16 {
		s.part(fr, 0, 1)
		return
	}
	fr.do(s)
}

func (s *scatterInstr) part(fr *frame, part, parts int) {
	axes := make([]int, len(s.vectors.dims))
	indices := s.vectors.indices.at(fr)
	lo, hi := split(s.box.block/s.size, part, parts)
	if lo == hi {
		return
	}
	for i := range s.count {
		pos := s.vectors.at(i, axes)
		to, from := 0, 0
		inside := true
		for j, stride := range s.operand {
			index := readIndex(indices, s.vectors.dtype, pos+j*s.vectors.step)
			inside = inside && index >= 0 && index <= s.limit[j]
			to += index * stride
		}
		if !inside {
			continue // as in XLA, updates outside are dropped
		}
		for j, stride := range s.batchIn {
			from += axes[j] * stride
		}
		s.box.each(unsafe.Add(fr.ptrs[s.dst], to), unsafe.Add(s.updates.at(fr), from), func(d, u unsafe.Pointer) {
			d, u = unsafe.Add(d, lo*s.size), unsafe.Add(u, lo*s.size)
			s.combine(d, d, u, nil, 1, hi-lo)
		})
	}
}

// startReader computes the position that dynamic start indices select, moved so that the box stays inside.
type startReader struct {
	starts  []denseIn
	types   []dtypes.DType
	limits  []int // largest start of each axis
	strides []int // bytes
}

func (r *startReader) offset(fr *frame) int {
	offset := 0
	for i, s := range r.starts {
		offset += min(max(readIndex(s.at(fr), r.types[i], 0), 0), r.limits[i]) * r.strides[i]
	}
	return offset
}

// readIndex reads element i of an integer tensor.
func readIndex(p unsafe.Pointer, dtype dtypes.DType, i int) int {
	switch dtype {
	case dtypes.Int8:
		return int(execSlice[int8](p, i+1)[i])
	case dtypes.Int16:
		return int(execSlice[int16](p, i+1)[i])
	case dtypes.Int32:
		return int(execSlice[int32](p, i+1)[i])
	case dtypes.Int64:
		return int(execSlice[int64](p, i+1)[i])
	case dtypes.Uint8:
		return int(execSlice[uint8](p, i+1)[i])
	case dtypes.Uint16:
		return int(execSlice[uint16](p, i+1)[i])
	case dtypes.Uint32:
		return int(execSlice[uint32](p, i+1)[i])
	case dtypes.Uint64:
		return int(min(execSlice[uint64](p, i+1)[i], 1<<62))
	}
	panic(fmt.Sprintf("indices of type %s", dtype))
}

// dynamicSliceInstr copies a box whose position is computed.
type dynamicSliceInstr struct {
	src   denseIn
	dst   int
	start startReader
	box   box
}

func (d *dynamicSliceInstr) run(fr *frame) {
	if d.box.empty() {
		return
	}
	d.box.transfer(fr.ptrs[d.dst], unsafe.Add(d.src.at(fr), d.start.offset(fr)))
}

// dynamicUpdateInstr copies a tensor and overwrites a box of it. Over the memory of the tensor itself, nothing is copied.
type dynamicUpdateInstr struct {
	src, update denseIn
	dst, bytes  int
	start       startReader
	box         box
}

func (d *dynamicUpdateInstr) run(fr *frame) {
	dst := fr.ptrs[d.dst]
	if src := d.src.at(fr); src != dst {
		copyBytes(dst, src, d.bytes)
	}
	if d.box.empty() {
		return
	}
	d.box.transfer(unsafe.Add(dst, d.start.offset(fr)), d.update.at(fr))
}
