//go:build amd64 && goexperiment.simd

package cpu

import (
	"unsafe"

	"github.com/gomlx/compute/dtypes"
)

// gemmCall holds the arguments of an inner loop: c[r, j] (+)= sum over i < k of a[r*aRow + i*aK] * panel[i, j].
// Its layout is known to gen_gemm.go.
type gemmCall struct {
	k     int
	a     unsafe.Pointer
	aRow  int // bytes
	aK    int // bytes
	panel unsafe.Pointer
	c     unsafe.Pointer
	cRow  int // bytes

	// Columns to load and store, of the first and second vector of a row: bits, or the address of a mask vector.
	masks [2]uintptr
	add   int // not 0: add to c
}

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

// simdGemm makes a kernel of a table of inner loops.
func simdGemm[T float](table [][2]func(*gemmCall), lanes int, bits bool) *gemmKernel {
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
	return &gemmKernel{
		mr: len(table), nr: nr, size: size,
		pack: func(dst, b unsafe.Pointer, k, cols, kStride, nStride int) {
			packPanel[T](dst, b, k, cols, nr, kStride, nStride)
		},
		run: func(k int, a unsafe.Pointer, rowStride, kStride int, panel, c unsafe.Pointer, cStride, rows, cols int, accumulate bool) {
			call := gemmCall{k: k, a: a, aRow: rowStride, aK: kStride, panel: panel, c: c, cRow: cStride, masks: masks[cols]}
			if accumulate {
				call.add = 1
			}
			vectors := 1
			if cols > lanes {
				vectors = 2
			}
			table[rows-1][vectors-1](&call)
		},
	}
}

// laneMask is the address of a mask whose first lanes are set, skip fewer than all.
func laneMask(size, skip int) uintptr {
	if size == 4 {
		return uintptr(unsafe.Pointer(&laneMasks32[skip]))
	}
	return uintptr(unsafe.Pointer(&laneMasks64[skip]))
}

func addGemm(s *kernelSet) {
	if s.level == levelAVX512 {
		s.gemm[dtypes.Float32] = simdGemm[float32](gemmZ32Table[:], 16, true)
		s.gemm[dtypes.Float64] = simdGemm[float64](gemmZ64Table[:], 8, true)
		return
	}
	s.gemm[dtypes.Float32] = simdGemm[float32](gemmY32Table[:], 8, false)
	s.gemm[dtypes.Float64] = simdGemm[float64](gemmY64Table[:], 4, false)
}
