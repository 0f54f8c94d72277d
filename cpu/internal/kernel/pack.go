package kernel

import "unsafe"

// copyRows copies rows of adjacent elements from one distance to another.
func copyRows(dst, a unsafe.Pointer, bytes, rows, from, to int) {
	for r := range rows {
		copy(slice[byte](unsafe.Add(dst, r*to), bytes), slice[byte](unsafe.Add(a, r*from), bytes))
	}
}

// copiedBytes returns the distance of copied rows or strips of so many bytes: an odd number of lines of the cache. At a distance of a power of
// two, elements of all of them that are used together would displace each other from the cache.
func copiedBytes(bytes int) int { return RoundUp(bytes, 128) + 64 }

// packStrips copies rows x k elements of a to strips of [k][mr], which are copiedBytes apart.
func packStrips(dst, a unsafe.Pointer, k, rows, rowStride, kStride int, kr *Gemm) {
	strip := copiedBytes(k * kr.MR * kr.size)
	done := 0
	switch {
	case rowStride == kr.size && kr.packStrip != nil:
		for r := 0; r < rows; r += kr.MR {
			kr.packStrip(unsafe.Add(dst, r/kr.MR*strip), unsafe.Add(a, r*kr.size), k, kStride, 1<<min(kr.MR, rows-r)-1)
		}
		return
	case rowStride == kr.size:
		switch kr.size * kr.MR {
		case 24:
			done = packWhole24(dst, a, k, rows/kr.MR, kStride, strip)
		case 48:
			done = packWhole48(dst, a, k, rows/kr.MR, kStride, strip)
		case 96:
			done = packWhole96(dst, a, k, rows/kr.MR, kStride, strip)
		}
	}
	for r := done * kr.MR; r < rows; r += kr.MR {
		to, from, n := unsafe.Add(dst, r/kr.MR*strip), unsafe.Add(a, r*rowStride), min(kr.MR, rows-r)
		switch kr.size {
		case 1:
			packStripOf[uint8](to, from, k, n, rowStride, kStride, kr.MR)
		case 2:
			packStripOf[uint16](to, from, k, n, rowStride, kStride, kr.MR)
		case 4:
			packStripOf[uint32](to, from, k, n, rowStride, kStride, kr.MR)
		default:
			packStripOf[uint64](to, from, k, n, rowStride, kStride, kr.MR)
		}
	}
}

// packWhole48 copies strips of 48 bytes, reading a in order, and returns their number. The copy is written out because for a loop the
// compiler calls a routine for memory that might overlap.
func packWhole48(dst, a unsafe.Pointer, k, strips, kStride, strip int) int {
	for i := range k {
		from, to := unsafe.Add(a, i*kStride), unsafe.Add(dst, i*48)
		for s := range strips {
			x, y := (*[6]uint64)(unsafe.Add(from, s*48)), (*[6]uint64)(unsafe.Add(to, s*strip))
			v0, v1, v2, v3, v4, v5 := x[0], x[1], x[2], x[3], x[4], x[5]
			y[0], y[1], y[2], y[3], y[4], y[5] = v0, v1, v2, v3, v4, v5
		}
	}
	return strips
}

func packWhole24(dst, a unsafe.Pointer, k, strips, kStride, strip int) int {
	for i := range k {
		from, to := unsafe.Add(a, i*kStride), unsafe.Add(dst, i*24)
		for s := range strips {
			x, y := (*[3]uint64)(unsafe.Add(from, s*24)), (*[3]uint64)(unsafe.Add(to, s*strip))
			v0, v1, v2 := x[0], x[1], x[2]
			y[0], y[1], y[2] = v0, v1, v2
		}
	}
	return strips
}

func packWhole96(dst, a unsafe.Pointer, k, strips, kStride, strip int) int {
	for i := range k {
		from, to := unsafe.Add(a, i*kStride), unsafe.Add(dst, i*96)
		for s := range strips {
			x, y := (*[12]uint64)(unsafe.Add(from, s*96)), (*[12]uint64)(unsafe.Add(to, s*strip))
			v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11 := x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8], x[9], x[10], x[11]
			y[0], y[1], y[2], y[3], y[4], y[5], y[6], y[7], y[8], y[9], y[10], y[11] = v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11
		}
	}
	return strips
}

func packStripOf[T Unsigned](dst, a unsafe.Pointer, k, rows, rowStride, kStride, mr int) {
	size := int(unsafe.Sizeof(T(0)))
	for i := range k {
		from := unsafe.Add(a, i*kStride)
		to := slice[T](unsafe.Add(dst, i*mr*size), mr)
		for r := range rows {
			to[r] = *(*T)(unsafe.Add(from, r*rowStride))
		}
	}
}

// packPanel is Gemm.pack for panels nr wide.
func packPanel[T any](dst, b unsafe.Pointer, k, cols, nr, kStride, nStride int) {
	size := int(unsafe.Sizeof(*new(T)))
	d := slice[T](dst, k*nr)
	if cols < nr {
		clear(d)
	}
	if nStride == size {
		for i := range k {
			copy(d[i*nr:i*nr+cols], slice[T](unsafe.Add(b, i*kStride), cols))
		}
		return
	}
	for j := range cols {
		from := unsafe.Add(b, j*nStride)
		for i := range k {
			d[i*nr+j] = *(*T)(unsafe.Add(from, i*kStride))
		}
	}
}
