package cpu

import "unsafe"

//go:generate go run gen_gemm.go
//go:generate go run gen_kernels.go

// gemmKernel multiplies a strip of at most mr rows with a packed panel of at most nr columns.
type gemmKernel struct {
	mr, nr, size int

	// pack copies k x cols elements (cols <= nr), strided in bytes, to [k][nr], with zeros behind cols.
	pack func(dst, b unsafe.Pointer, k, cols, kStride, nStride int)

	// run computes c[r, j] (+)= sum over i of a[r, i] * panel[i, j], each sum in the order of i.
	run func(k int, a unsafe.Pointer, rowStride, kStride int, panel, c unsafe.Pointer, cStride, rows, cols int, accumulate bool)
}

const (
	gemmK = 256 // rows of a packed panel: with 32 columns of float32, 32 KB
	gemmM = 384 // rows of the left operand that are multiplied with one panel after the other
)

// matmul is c = a b for strided matrices; strides in bytes, columns of c consecutive.
type matmul struct {
	m, n, k  int
	aRow, aK int
	bK, bN   int
	cRow     int
	kernel   *gemmKernel
	packA    bool // elements along k are far apart: copy strips of a first
}

func (g *matmul) panels() int { return (g.n + g.kernel.nr - 1) / g.kernel.nr }

// packedBytes is the memory for all of b, packed.
func (g *matmul) packedBytes() int { return g.k * g.panels() * g.kernel.nr * g.kernel.size }

// stripBytes is the memory for a packed block of a.
func (g *matmul) stripBytes() int {
	if !g.packA {
		return 0
	}
	return roundUp(min(g.m, gemmM), g.kernel.mr) * min(g.k, gemmK) * g.kernel.size
}

// panel is the place of a packed panel: blocks of k follow each other, panels inside.
func (g *matmul) panel(packed unsafe.Pointer, k0, kn, p int) unsafe.Pointer {
	return unsafe.Add(packed, (k0*g.panels()+p*kn)*g.kernel.nr*g.kernel.size)
}

// pack copies panels lo to hi of b.
func (g *matmul) pack(packed, b unsafe.Pointer, lo, hi int) {
	nr := g.kernel.nr
	for k0 := 0; k0 < g.k; k0 += gemmK {
		kn := min(gemmK, g.k-k0)
		for p := lo; p < hi; p++ {
			g.kernel.pack(g.panel(packed, k0, kn, p), unsafe.Add(b, k0*g.bK+p*nr*g.bN), kn, min(nr, g.n-p*nr), g.bK, g.bN)
		}
	}
}

// multiply computes rows r0 to r1 and panels p0 to p1 of c.
func (g *matmul) multiply(a, packed, c, strips unsafe.Pointer, r0, r1, p0, p1 int, accumulate bool) {
	kr := g.kernel
	for k0 := 0; k0 < g.k; k0 += gemmK {
		kn := min(gemmK, g.k-k0)
		add := accumulate || k0 > 0
		for m0 := r0; m0 < r1; m0 += gemmM {
			m1 := min(m0+gemmM, r1)
			block, row, step := unsafe.Add(a, m0*g.aRow+k0*g.aK), g.aRow, g.aK
			strip := g.aRow * kr.mr
			if g.packA {
				for m := m0; m < m1; m += kr.mr {
					packStrip(unsafe.Add(strips, (m-m0)*kn*kr.size), unsafe.Add(a, m*g.aRow+k0*g.aK), kn, min(kr.mr, m1-m), g.aRow, g.aK, kr)
				}
				block, row, step, strip = strips, kr.size, kr.mr*kr.size, kn*kr.mr*kr.size
			}
			for p := p0; p < p1; p++ {
				panel := g.panel(packed, k0, kn, p)
				cols := min(kr.nr, g.n-p*kr.nr)
				at := unsafe.Add(c, m0*g.cRow+p*kr.nr*kr.size)
				for m, i := m0, 0; m < m1; m, i = m+kr.mr, i+1 {
					kr.run(kn, unsafe.Add(block, i*strip), row, step, panel, unsafe.Add(at, (m-m0)*g.cRow), g.cRow, min(kr.mr, m1-m), cols, add)
				}
			}
		}
	}
}

// packStrip copies rows x k elements of a to [k][mr].
func packStrip(dst, a unsafe.Pointer, k, rows, rowStride, kStride int, kr *gemmKernel) {
	if kr.size == 4 {
		packStripOf[uint32](dst, a, k, rows, rowStride, kStride, kr.mr)
		return
	}
	kr.pack2(dst, a, k, rows, rowStride, kStride)
}

func packStripOf[T unsigned](dst, a unsafe.Pointer, k, rows, rowStride, kStride, mr int) {
	size := int(unsafe.Sizeof(T(0)))
	for i := range k {
		from := unsafe.Add(a, i*kStride)
		to := slice[T](unsafe.Add(dst, i*mr*size), mr)
		for r := range rows {
			to[r] = *(*T)(unsafe.Add(from, r*rowStride))
		}
	}
}

// pack2 is packStrip for other sizes than 4.
func (kr *gemmKernel) pack2(dst, a unsafe.Pointer, k, rows, rowStride, kStride int) {
	switch kr.size {
	case 1:
		packStripOf[uint8](dst, a, k, rows, rowStride, kStride, kr.mr)
	case 2:
		packStripOf[uint16](dst, a, k, rows, rowStride, kStride, kr.mr)
	default:
		packStripOf[uint64](dst, a, k, rows, rowStride, kStride, kr.mr)
	}
}

// portableGemm is the kernel for every number type.
func portableGemm[T number]() *gemmKernel {
	const mr, nr = 4, 16
	return &gemmKernel{
		mr: mr, nr: nr, size: int(unsafe.Sizeof(T(0))),
		pack: func(dst, b unsafe.Pointer, k, cols, kStride, nStride int) {
			packPanel[T](dst, b, k, cols, nr, kStride, nStride)
		},
		run: func(k int, a unsafe.Pointer, rowStride, kStride int, panel, c unsafe.Pointer, cStride, rows, cols int, accumulate bool) {
			p := slice[T](panel, k*nr)
			for r := range rows {
				row := slice[T](unsafe.Add(c, r*cStride), cols)
				var sum [nr]T
				if accumulate {
					copy(sum[:], row)
				}
				from := unsafe.Add(a, r*rowStride)
				for i := range k {
					x := *(*T)(unsafe.Add(from, i*kStride))
					for j, y := range p[i*nr : i*nr+nr] {
						sum[j] += x * y
					}
				}
				copy(row, sum[:cols])
			}
		},
	}
}

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
