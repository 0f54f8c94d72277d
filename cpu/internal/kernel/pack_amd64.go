//go:build amd64 && goexperiment.simd

package kernel

import (
	"simd/archsimd"
	"unsafe"
)

// packRows512 is Gemm.packRows for panels of two registers of 64 bytes.
func packRows512(dst, b unsafe.Pointer, k, panels, kStride, panelBytes int) {
	for i := range k {
		from, to := unsafe.Add(b, i*kStride), unsafe.Add(dst, i*128)
		for p := range panels {
			x := archsimd.LoadUint8x64((*[64]uint8)(unsafe.Add(from, p*128)))
			y := archsimd.LoadUint8x64((*[64]uint8)(unsafe.Add(from, p*128+64)))
			x.Store((*[64]uint8)(unsafe.Add(to, p*panelBytes)))
			y.Store((*[64]uint8)(unsafe.Add(to, p*panelBytes+64)))
		}
	}
	archsimd.ClearAVXUpperBits()
}

// packRows256 is Gemm.packRows for panels of two registers of 32 bytes.
func packRows256(dst, b unsafe.Pointer, k, panels, kStride, panelBytes int) {
	for i := range k {
		from, to := unsafe.Add(b, i*kStride), unsafe.Add(dst, i*64)
		for p := range panels {
			x := archsimd.LoadUint8x32((*[32]uint8)(unsafe.Add(from, p*64)))
			y := archsimd.LoadUint8x32((*[32]uint8)(unsafe.Add(from, p*64+32)))
			x.Store((*[32]uint8)(unsafe.Add(to, p*panelBytes)))
			y.Store((*[32]uint8)(unsafe.Add(to, p*panelBytes+32)))
		}
	}
	archsimd.ClearAVXUpperBits()
}

// packTransposed32 is Gemm.pack for columns that lie far apart while their elements follow each other: it
// turns blocks of 8 x 8 around in registers.
func packTransposed32(dst, b unsafe.Pointer, k, cols, nr, nStride int) {
	blocks, rest := cols/8*8, k/8*8
	for j := 0; j < blocks; j += 8 {
		from := unsafe.Add(b, j*nStride)
		to := unsafe.Add(dst, j*4)
		for i := 0; i < rest; i += 8 {
			transpose8x8(unsafe.Add(to, i*nr*4), unsafe.Add(from, i*4), nr*4, nStride)
		}
	}
	archsimd.ClearAVXUpperBits()
	for j := range cols {
		first := rest // elements of this column that no block has
		if j >= blocks {
			first = 0
		}
		from := unsafe.Add(b, j*nStride)
		for i := first; i < k; i++ {
			*(*float32)(unsafe.Add(dst, (i*nr+j)*4)) = *(*float32)(unsafe.Add(from, i*4))
		}
	}
	if cols < nr {
		for i := range k {
			clear(slice[float32](unsafe.Add(dst, (i*nr+cols)*4), nr-cols))
		}
	}
}

func load8(p unsafe.Pointer, at int) archsimd.Int32x8 {
	return archsimd.LoadInt32x8((*[8]int32)(unsafe.Add(p, at)))
}

// transpose8x8 writes rows of 8 elements of src as columns of dst. Distances in bytes.
func transpose8x8(dst, src unsafe.Pointer, dstRow, srcRow int) {
	a0, a1, a2, a3 := load8(src, 0), load8(src, srcRow), load8(src, 2*srcRow), load8(src, 3*srcRow)
	a4, a5, a6, a7 := load8(src, 4*srcRow), load8(src, 5*srcRow), load8(src, 6*srcRow), load8(src, 7*srcRow)
	b0, b1 := a0.InterleaveLoGrouped(a1).AsInt64x4(), a0.InterleaveHiGrouped(a1).AsInt64x4()
	b2, b3 := a2.InterleaveLoGrouped(a3).AsInt64x4(), a2.InterleaveHiGrouped(a3).AsInt64x4()
	b4, b5 := a4.InterleaveLoGrouped(a5).AsInt64x4(), a4.InterleaveHiGrouped(a5).AsInt64x4()
	b6, b7 := a6.InterleaveLoGrouped(a7).AsInt64x4(), a6.InterleaveHiGrouped(a7).AsInt64x4()
	c0, c1 := b0.InterleaveLoGrouped(b2), b0.InterleaveHiGrouped(b2)
	c2, c3 := b1.InterleaveLoGrouped(b3), b1.InterleaveHiGrouped(b3)
	c4, c5 := b4.InterleaveLoGrouped(b6), b4.InterleaveHiGrouped(b6)
	c6, c7 := b5.InterleaveLoGrouped(b7), b5.InterleaveHiGrouped(b7)
	put := func(r int, x archsimd.Int64x4) { x.Store((*[4]int64)(unsafe.Add(dst, r*dstRow))) }
	put(0, c0.Select128FromPair(0, 2, c4))
	put(1, c1.Select128FromPair(0, 2, c5))
	put(2, c2.Select128FromPair(0, 2, c6))
	put(3, c3.Select128FromPair(0, 2, c7))
	put(4, c0.Select128FromPair(1, 3, c4))
	put(5, c1.Select128FromPair(1, 3, c5))
	put(6, c2.Select128FromPair(1, 3, c6))
	put(7, c3.Select128FromPair(1, 3, c7))
}
