package cpu

import (
	"fmt"
	"unsafe"

	"github.com/gomlx/compute/dtypes"
)

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
