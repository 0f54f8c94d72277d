package kernel

import (
	"math"
	"unsafe"

	"github.com/gomlx/compute/dtypes"
)

// ScalarReason says why no vector kernels are used: every ARM64 processor has them.
const ScalarReason = ""

// vectorSets returns what this processor can run.
func vectorSets() []*Set {
	s := (&Set{Level: levelNEON}).over(Portable)
	addKernelsV32(s)
	addKernelsV64(s)
	s.Gemm[dtypes.Float32] = neonGemm[float32](&gemmV32Table, gemvV32)
	s.Gemm[dtypes.Float64] = neonGemm[float64](&gemmV64Table, gemvV64)
	return []*Set{s}
}

// neonGemm makes a kernel of a table of inner loops. They store whole vectors: what is narrower goes through a block that is not.
func neonGemm[T Float](table *[6][4]func(*GemmCall), gemv func(*GemmCall)) *Gemm {
	const mr, vectors, vectorBytes = 6, 4, 16
	size := int(unsafe.Sizeof(T(0)))
	lanes := vectorBytes / size
	nr := vectors * lanes
	return &Gemm{
		MR: mr, NR: nr, lanes: lanes, size: size, directRows: math.MaxInt, nearTerms: farApart, gemv: gemv,
		pack: func(dst, b unsafe.Pointer, k, cols, kStride, nStride int) {
			packPanel[T](dst, b, k, cols, nr, kStride, nStride)
		},
		run: func(call *GemmCall, rows, cols int) {
			inner := table[rows-1][(cols-1)/lanes]
			if cols%lanes == 0 {
				inner(call)
				return
			}
			var block [mr * vectors * vectorBytes / 4]T
			edge := *call
			edge.c, edge.cRow, edge.add = unsafe.Pointer(&block), vectors*vectorBytes, 0
			inner(&edge)
			for r := range rows {
				row := slice[T](unsafe.Add(call.c, r*call.cRow), cols)
				for j := range row {
					sum := *(*T)(unsafe.Add(edge.c, r*edge.cRow+j*size))
					if call.add != 0 {
						sum += row[j]
					}
					row[j] = sum
				}
			}
		},
	}
}
