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

// oneRow holds inner loops for products of one row.
type oneRow struct {
	panels [2]func(*GemmCall) // Gemm.gemvPanels
	splitK []func(*GemmCall)  // Gemm.gemvSplitK
}

var (
	oneRowZ32 = oneRow{[2]func(*GemmCall){gemvPanels2Z32, gemvPanels4Z32}, []func(*GemmCall){gemvSplitK1Z32, gemvSplitK2Z32, gemvSplitK3Z32, gemvSplitK4Z32}}
	oneRowZ64 = oneRow{[2]func(*GemmCall){gemvPanels2Z64, gemvPanels4Z64}, []func(*GemmCall){gemvSplitK1Z64, gemvSplitK2Z64, gemvSplitK3Z64, gemvSplitK4Z64}}
	oneRowY32 = oneRow{[2]func(*GemmCall){gemvPanels2Y32, gemvPanels4Y32}, []func(*GemmCall){gemvSplitK1Y32}}
	oneRowY64 = oneRow{[2]func(*GemmCall){gemvPanels2Y64, gemvPanels4Y64}, []func(*GemmCall){gemvSplitK1Y64}}
)

// simdGemm returns a kernel that uses a table of inner loops.
func simdGemm[T Float](table [][2]func(*GemmCall), one oneRow, lanes int, bits bool) *Gemm {
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
	rows := packRows256
	var strip func(dst, a unsafe.Pointer, k, kStride int, mask uintptr)
	if bits {
		rows = packRows512
		if size == 4 {
			strip = packStripZ32
		}
	}
	directRows, nearTerms, lateRows := copied(bits, vendor())
	gemv, dots := gemvY32, gemvDotsY32
	if size == 8 {
		gemv, dots = gemvY64, gemvDotsY64
	}
	return &Gemm{
		packRows: rows, gemv: gemv, gemvSplitK: one.splitK, gemvPanels: one.panels, gemvDots: dots,
		MR: len(table), NR: nr, lanes: lanes, size: size, directRows: directRows, nearTerms: nearTerms, lateRows: lateRows,
		packStrip: strip,
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
		runStrips: func(call *GemmCall, cols int) {
			call.masks = masks[cols]
			table[len(table)-1][(cols-1)/lanes](call)
		},
	}
}

// copied returns Gemm's bounds of what is read in place. A row of a panel is one cache line with 256 bits, and two with 512, where packing
// saves no time on AMD's processors (docs/log.md, 2026-11-23). A transposed left operand is copied at smaller distances, as a strip has
// fewer rows and uses less of each line (docs/log.md, 2026-11-29). On Intel's, both operands of gradients of weights are copied with 512
// bits, too (docs/log.md, 2026-11-30).
func copied(bits bool, vendor uint32) (directRows, nearTerms, lateRows int) {
	switch {
	case !bits:
		return 96, 255, 0
	case vendor == intel:
		return 96, 255, 512
	}
	return math.MaxInt, farApart, 0
}

// laneMask returns the address of a mask in which all but the last skip lanes are set.
func laneMask(size, skip int) uintptr {
	if size == 4 {
		return uintptr(unsafe.Pointer(&laneMasks32[skip]))
	}
	return uintptr(unsafe.Pointer(&laneMasks64[skip]))
}

// intel is what vendor returns on Intel's processors: GenuineIntel.
const intel = 'G' | 'e'<<8 | 'n'<<16 | 'u'<<24

// vendor returns the first four letters of the name of the processor's vendor, the first one lowest.
func vendor() uint32

func addGemm(s *Set) {
	if s.Level == levelAVX512 {
		s.Gemm[dtypes.Float32] = simdGemm[float32](gemmZ32Table[:], oneRowZ32, 16, true)
		s.Gemm[dtypes.Float64] = simdGemm[float64](gemmZ64Table[:], oneRowZ64, 8, true)
		return
	}
	s.Gemm[dtypes.Float32] = simdGemm[float32](gemmY32Table[:], oneRowY32, 8, false)
	s.Gemm[dtypes.Float64] = simdGemm[float64](gemmY64Table[:], oneRowY64, 4, false)
}
