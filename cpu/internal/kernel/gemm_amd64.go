package kernel

import (
	"math"
	"unsafe"

	"github.com/gomlx/compute/dtypes"
)

// laneMasks has lanes set before its middle: a window into it masks any number of columns.
var laneMasks32 = func() (m [16]int32) {
	for i := range 8 {
		m[i] = -1
	}
	return m
}()

var laneMasks64 = func() (m [8]int64) {
	for i := range 4 {
		m[i] = -1
	}
	return m
}()

// simdGemm returns a kernel that uses a table of inner loops.
func simdGemm[T Float](table [][2]func(*GemmCall), lanes int, bits bool) *Gemm {
	nr := 2 * lanes
	size := int(unsafe.Sizeof(T(0)))
	var masks [][2]uintptr // by columns
	for cols := range nr + 1 {
		first, second := min(cols, lanes), max(0, cols-lanes)
		if bits {
			masks = append(masks, [2]uintptr{1<<first - 1, 1<<second - 1})
		} else {
			masks = append(masks, [2]uintptr{laneMask(size, lanes-first), laneMask(size, lanes-second)})
		}
	}
	// A row of a panel is one cache line with 256 bits, and two with 512, where packing saves no time (docs/log.md, 2026-11-23).
	rows, directRows := packRows256, 96
	if bits {
		rows, directRows = packRows512, math.MaxInt
	}
	gemv, splitK, dots := gemvY32, gemvSplitKY32, gemvDotsY32
	if size == 8 {
		gemv, splitK, dots = gemvY64, gemvSplitKY64, gemvDotsY64
	}
	return &Gemm{
		packRows: rows, gemv: gemv, gemvSplitK: splitK, gemvDots: dots,
		MR: len(table), NR: nr, lanes: lanes, size: size, directRows: directRows,
		pack: func(dst, b unsafe.Pointer, k, cols, kStride, nStride int) {
			if size == 4 && kStride == 4 && nStride != 4 {
				packTransposed32(dst, b, k, cols, nr, nStride)
				return
			}
			packPanel[T](dst, b, k, cols, nr, kStride, nStride)
		},
		run: func(call *GemmCall, rows, cols int) {
			call.masks = masks[cols]
			table[rows-1][(cols-1)/lanes](call)
		},
	}
}

// laneMask returns the address of a mask in which all but the last skip lanes are set.
func laneMask(size, skip int) uintptr {
	if size == 4 {
		return uintptr(unsafe.Pointer(&laneMasks32[skip]))
	}
	return uintptr(unsafe.Pointer(&laneMasks64[skip]))
}

func addGemm(s *Set) {
	if s.Level == levelAVX512 {
		s.Gemm[dtypes.Float32] = simdGemm[float32](gemmZ32Table[:], 16, true)
		s.Gemm[dtypes.Float64] = simdGemm[float64](gemmZ64Table[:], 8, true)
		return
	}
	s.Gemm[dtypes.Float32] = simdGemm[float32](gemmY32Table[:], 8, false)
	s.Gemm[dtypes.Float64] = simdGemm[float64](gemmY64Table[:], 4, false)
}
