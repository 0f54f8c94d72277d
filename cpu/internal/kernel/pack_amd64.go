package kernel

import "unsafe"

// packTransposed32 is Gemm.pack for columns that lie far apart while their elements follow each other: it transposes blocks of 8 x 8 in
// registers.
func packTransposed32(dst, b unsafe.Pointer, k, cols, nr, nStride int) {
	blocks, rest := cols/8*8, k/8*8
	for j := 0; j < blocks && rest > 0; j += 8 {
		packTurned(unsafe.Add(dst, j*4), unsafe.Add(b, j*nStride), rest/8, nr*4, nStride)
	}
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

// packTurned copies 8 columns, whose elements follow each other, of blocks * 8 elements each: element i of column j to row i, place j of dst.
//
//go:noescape
func packTurned(dst, b unsafe.Pointer, blocks, dstRow, bRow int)

// packRows512 is Gemm.packRows for panels of two registers of 64 bytes.
//
//go:noescape
func packRows512(dst, b unsafe.Pointer, k, panels, kStride, panelBytes int)

// packRows256 is Gemm.packRows for panels of two registers of 32 bytes.
//
//go:noescape
func packRows256(dst, b unsafe.Pointer, k, panels, kStride, panelBytes int)

// packStripZ32 is Gemm.packStrip for strips of twelve rows of 4 bytes. Behind the last term it writes 16 bytes more.
//
//go:noescape
func packStripZ32(dst, a unsafe.Pointer, k, kStride int, mask uintptr)
