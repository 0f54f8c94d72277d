package exec

import (
	"fmt"
	"unsafe"

	"github.com/gomlx/compute/dtypes"
	"universal-transformer/cpu/internal/kernel"
)

// IndexVectors enumerates the index vectors of a gather or scatter, in the order of the batch axes.
type IndexVectors struct {
	Indices Operand
	DType   dtypes.DType
	Dims    []int // batch axes
	Strides []int // of the batch axes, in elements of indices
	Length  int   // of a vector
	Step    int   // between the elements of a vector
}

// at splits a flat batch position into axes and returns the position of its vector in indices.
func (v *IndexVectors) at(flat int, axes []int) int {
	pos := 0
	for i := len(v.Dims) - 1; i >= 0; i-- {
		axes[i] = flat % v.Dims[i]
		flat /= v.Dims[i]
		pos += axes[i] * v.Strides[i]
	}
	return pos
}

// Gather copies one box of the operand for each index vector.
type Gather struct {
	Src         Operand
	Dst         int
	Vectors     IndexVectors
	AxisStrides []int // for each element of a vector: stride of its axis, in bytes
	Limit       []int // and its largest value
	BatchOut    []int // for each batch axis: stride in the result, in bytes
	Box         box
	Count       int
}

func (g *Gather) run(fr *frame) {
	if g.Box.empty() {
		return
	}
	if g.Count*g.Box.block*product(g.Box.dims) < 1<<15 {
		g.part(fr, whole)
		return
	}
	fr.do(g, fr.prog.Machine.Threads)
}

func (g *Gather) part(fr *frame, mine share) {
	axes := make([]int, len(g.Vectors.Dims))
	indices := g.Vectors.Indices.at(fr)
	lo, hi := mine.of(g.Count)
	for i := lo; i < hi; i++ {
		pos := g.Vectors.at(i, axes)
		from, to := 0, 0
		for j, stride := range g.AxisStrides {
			index := readIndex(indices, g.Vectors.DType, pos+j*g.Vectors.Step)
			from += min(max(index, 0), g.Limit[j]) * stride
		}
		for j, stride := range g.BatchOut {
			to += axes[j] * stride
		}
		g.Box.transfer(unsafe.Add(fr.ptrs[g.Dst], to), unsafe.Add(g.Src.at(fr), from))
	}
}

// Scatter copies the operand and combines one box of the updates into it for each index vector, in
// their order. Threads share the innermost axis, so that the order of additions stays the same.
type Scatter struct {
	Src, Updates Operand
	Dst, Bytes   int
	Vectors      IndexVectors
	AxisStrides  []int // as in Gather
	Limit        []int
	BatchIn      []int // for each batch axis: stride in the updates, in bytes
	Box          box
	Size         int
	Combine      kernel.Func
	Count        int
}

func (s *Scatter) run(fr *frame) {
	copyBytes(fr.ptrs[s.Dst], s.Src.at(fr), s.Bytes)
	if s.Box.empty() {
		return
	}
	if len(s.Box.dims) > 0 || s.Box.block < 2*CacheLine || s.Count*s.Box.block < 1<<16 {
		s.part(fr, whole)
		return
	}
	fr.do(s, fr.prog.Machine.Threads)
}

func (s *Scatter) part(fr *frame, mine share) {
	axes := make([]int, len(s.Vectors.Dims))
	indices := s.Vectors.Indices.at(fr)
	lo, hi := mine.of(s.Box.block / s.Size)
	if lo == hi {
		return
	}
	for i := range s.Count {
		pos := s.Vectors.at(i, axes)
		to, from := 0, 0
		inside := true
		for j, stride := range s.AxisStrides {
			index := readIndex(indices, s.Vectors.DType, pos+j*s.Vectors.Step)
			inside = inside && index >= 0 && index <= s.Limit[j]
			to += index * stride
		}
		if !inside {
			continue // as in XLA, updates outside are dropped
		}
		for j, stride := range s.BatchIn {
			from += axes[j] * stride
		}
		s.Box.each(unsafe.Add(fr.ptrs[s.Dst], to), unsafe.Add(s.Updates.at(fr), from), func(d, u unsafe.Pointer) {
			d, u = unsafe.Add(d, lo*s.Size), unsafe.Add(u, lo*s.Size)
			s.Combine(d, d, u, nil, 1, hi-lo)
		})
	}
}

// Starts computes the position given by dynamic start indices, moved so that the box is inside.
type Starts struct {
	Indices []Operand
	Types   []dtypes.DType
	Limits  []int // maximum start of each axis
	Strides []int // bytes
}

func (r *Starts) offset(fr *frame) int {
	offset := 0
	for i, s := range r.Indices {
		offset += min(max(readIndex(s.at(fr), r.Types[i], 0), 0), r.Limits[i]) * r.Strides[i]
	}
	return offset
}

// readIndex reads element i of an integer tensor.
func readIndex(p unsafe.Pointer, dtype dtypes.DType, i int) int {
	switch dtype {
	case dtypes.Int8:
		return int(slice[int8](p, i+1)[i])
	case dtypes.Int16:
		return int(slice[int16](p, i+1)[i])
	case dtypes.Int32:
		return int(slice[int32](p, i+1)[i])
	case dtypes.Int64:
		return int(slice[int64](p, i+1)[i])
	case dtypes.Uint8:
		return int(slice[uint8](p, i+1)[i])
	case dtypes.Uint16:
		return int(slice[uint16](p, i+1)[i])
	case dtypes.Uint32:
		return int(slice[uint32](p, i+1)[i])
	case dtypes.Uint64:
		return int(min(slice[uint64](p, i+1)[i], 1<<62))
	}
	panic(fmt.Sprintf("indices of type %s", dtype))
}

// DynamicSlice copies a box whose position is computed.
type DynamicSlice struct {
	Src   Operand
	Dst   int
	Start Starts
	Box   box
}

func (d *DynamicSlice) run(fr *frame) {
	if d.Box.empty() {
		return
	}
	d.Box.transfer(fr.ptrs[d.Dst], unsafe.Add(d.Src.at(fr), d.Start.offset(fr)))
}

// DynamicUpdateSlice copies a tensor and overwrites a box of it. If source and destination are the same memory, it only overwrites.
type DynamicUpdateSlice struct {
	Src, Update Operand
	Dst, Bytes  int
	Start       Starts
	Box         box
}

func (d *DynamicUpdateSlice) run(fr *frame) {
	dst := fr.ptrs[d.Dst]
	if src := d.Src.at(fr); src != dst {
		copyBytes(dst, src, d.Bytes)
	}
	if d.Box.empty() {
		return
	}
	d.Box.transfer(unsafe.Add(dst, d.Start.offset(fr)), d.Update.at(fr))
}
