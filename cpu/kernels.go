package cpu

import (
	"fmt"
	"unsafe"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
)

// kernel works on a tile of rows x cols elements.
//
// Element-wise kernels read rows*cols elements of each operand one after the other; those named "row" read
// one element a row from one operand. Reductions write one element a row; accumulations add all rows into
// one. dst may be the same memory as an operand of the same element size, but must not overlap otherwise.
type kernel func(dst, a, b, c unsafe.Pointer, rows, cols int)

// nativeDTypes are the types that have kernels.
var nativeDTypes = []dtypes.DType{
	dtypes.Bool, dtypes.Int8, dtypes.Int16, dtypes.Int32, dtypes.Int64,
	dtypes.Uint8, dtypes.Uint16, dtypes.Uint32, dtypes.Uint64, dtypes.Float32, dtypes.Float64,
}

// opKey selects a kernel by operation and type of the operands.
type opKey struct {
	op    compute.OpType
	dtype dtypes.DType
}

// level is a set of instructions.
type level string

const (
	levelScalar level = "scalar"
	levelAVX2   level = "avx2"
	levelAVX512 level = "avx512"
)

// kernelSet holds the kernels of one level; those it lacks are taken from the portable ones.
type kernelSet struct {
	level level

	elementwise map[opKey]kernel // all operands full
	rowRight    map[opKey]kernel // second operand: one element a row
	rowLeft     map[opKey]kernel // first operand: one element a row
	reduce      map[opKey]kernel // key is the repeated operation: dst[r] = a[r,0] op a[r,1] ...
	accumulate  map[opKey]kernel // dst[j] = dst[j] op a[0,j] op a[1,j] ...
	convert     map[[2]dtypes.DType]kernel
	where       map[int]kernel // by element size
	fill        map[int]kernel // dst[r,j] = a[r]
	gemm        map[dtypes.DType]*gemmKernel
	attention   map[dtypes.DType]*attentionKernels
}

// over returns a copy of the portable kernels with those of s in their place.
func (s *kernelSet) over(base *kernelSet) *kernelSet {
	out := &kernelSet{level: s.level}
	out.elementwise = override(base.elementwise, s.elementwise)
	out.rowRight = override(base.rowRight, s.rowRight)
	out.rowLeft = override(base.rowLeft, s.rowLeft)
	out.reduce = override(base.reduce, s.reduce)
	out.accumulate = override(base.accumulate, s.accumulate)
	out.convert = override(base.convert, s.convert)
	out.where = override(base.where, s.where)
	out.fill = override(base.fill, s.fill)
	out.gemm = override(base.gemm, s.gemm)
	out.attention = override(base.attention, s.attention)
	return out
}

func override[K comparable, V any](base, over map[K]V) map[K]V {
	out := make(map[K]V, len(base)+len(over))
	for k, v := range base {
		out[k] = v
	}
	for k, v := range over {
		out[k] = v
	}
	return out
}

// kernelSets are the levels that this build and processor have, best first.
var kernelSets = append(simdKernelSets(), portableKernels)

func bestKernels() *kernelSet { return kernelSets[0] }

func kernelsNamed(name string) (*kernelSet, error) {
	for _, s := range kernelSets {
		if string(s.level) == name {
			return s, nil
		}
	}
	return nil, fmt.Errorf("no %s kernels here: %s", name, scalarReason)
}
