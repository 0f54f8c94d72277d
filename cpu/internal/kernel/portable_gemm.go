package kernel

import (
	"math"
	"unsafe"
)

// portableGemm returns the kernel in plain loops for any number type.
func portableGemm[T Number]() *Gemm {
	const mr, nr = 4, 16
	return &Gemm{
		MR: mr, NR: nr, lanes: 1, directRows: math.MaxInt, nearTerms: farApart, size: int(unsafe.Sizeof(T(0))),
		pack: func(dst, b unsafe.Pointer, k, cols, kStride, nStride int) {
			packPanel[T](dst, b, k, cols, nr, kStride, nStride)
		},
		run: func(call *GemmCall, rows, cols int) {
			for r := range rows {
				row := slice[T](unsafe.Add(call.c, r*call.cRow), cols)
				var sum [nr]T
				if call.add != 0 {
					copy(sum[:], row)
				}
				from := unsafe.Add(call.a, r*call.aRow)
				for i := range call.k {
					x := *(*T)(unsafe.Add(from, i*call.aK))
					for j, y := range slice[T](unsafe.Add(call.panel, i*call.panelRow), cols) {
						sum[j] += x * y
					}
				}
				copy(row, sum[:cols])
			}
		},
	}
}
