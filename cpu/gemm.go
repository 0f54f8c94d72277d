package cpu

import "unsafe"

//go:generate go run gen_gemm.go
//go:generate go run gen_kernels.go

// gemmKernel multiplies a strip of at most mr rows with a panel of at most nr columns.
type gemmKernel struct {
	mr, nr, size int
	lanes        int // columns that are loaded at once, even where fewer are wanted

	// pack copies k x cols elements (cols <= nr), strided in bytes, to [k][nr], with zeros behind cols.
	pack func(dst, b unsafe.Pointer, k, cols, kStride, nStride int)

	// packRows copies k rows of whole panels, one after the other in b, to panels that lie panelBytes apart; nil if
	// pack does as well.
	packRows func(dst, b unsafe.Pointer, k, panels, kStride, panelBytes int)

	// run computes c[r, j] (+)= sum over i of a[r, i] * panel[i, j], each sum in the order of i.
	run func(call *gemmCall, rows, cols int)

	// gemv computes one row of c in gemvBytes of columns, which lie side by side in the right operand, and does not add to
	// c; nil if run does as well.
	gemv func(call *gemmCall)

	// gemvSplitK computes one row of c in splitKBytes of columns, which lie side by side, each from several partial sums;
	// nil if run does as well.
	gemvSplitK func(call *gemmCall)
}

const (
	gemvBytes   = 256 // of the columns of gemmKernel.gemv
	splitKBytes = 64  // of gemmKernel.gemvSplitK
)

// gemmCall holds the arguments of an inner loop: c[r, j] (+)= sum over i < k of a[r*aRow + i*aK] * panel[i*panelRow + j].
// Distances are in bytes. gen_gemm.go knows its layout.
type gemmCall struct {
	k     int
	a     unsafe.Pointer
	aRow  int
	aK    int
	panel unsafe.Pointer
	c     unsafe.Pointer
	cRow  int

	// Columns to load and store, of the first and second vector of a row: bits, or the address of a mask vector.
	masks    [2]uintptr
	add      int // not 0: add to c
	panelRow int

	next uintptr // where the next call's a begins: fetched into the cache, 64 bytes for each k; never read
}

const (
	gemmK = 512 // rows of a packed panel: with 32 columns of float32, 32 KB
	gemmM = 384 // rows of the left operand that are multiplied with one panel after the other
)

// roundUp is the smallest multiple that is not below n.
func roundUp(n, multiple int) int { return (n + multiple - 1) / multiple * multiple }

// matmul is c = a b for strided matrices; strides in bytes, columns of c consecutive.
type matmul struct {
	m, n, k  int
	aRow, aK int
	bK, bN   int
	cRow     int
	kernel   *gemmKernel
	packA    bool // elements along k are far apart: copy strips of a first
	direct   bool // b is read where it is
	splitK   bool // a single row may be computed from partial sums: not what it is among other rows, to the last bit
}

func (g *matmul) panels() int { return (g.n + g.kernel.nr - 1) / g.kernel.nr }

// canReadDirectly tells whether rows of b are made of whole vectors.
func (g *matmul) canReadDirectly() bool {
	return g.bN == g.kernel.size && g.n%g.kernel.lanes == 0
}

// packedBytes is the memory for all of b, packed.
func (g *matmul) packedBytes() int {
	if g.direct {
		return 0
	}
	return g.k * g.panels() * g.kernel.nr * g.kernel.size
}

// stripBytes is the memory for a packed block of a.
func (g *matmul) stripBytes() int {
	if !g.packA {
		return 0
	}
	return roundUp(min(g.m, gemmM), g.kernel.mr) * min(g.k, gemmK) * g.kernel.size
}

// panel is the place of rows k0 on of panel p: in b itself, or packed, where blocks of k follow each other.
func (g *matmul) panel(b unsafe.Pointer, k0, kn, p int) unsafe.Pointer {
	if g.direct {
		return unsafe.Add(b, k0*g.bK+p*g.kernel.nr*g.bN)
	}
	return unsafe.Add(b, (k0*g.panels()+p*kn)*g.kernel.nr*g.kernel.size)
}

// pack copies panels lo to hi of b.
func (g *matmul) pack(packed, b unsafe.Pointer, lo, hi int) {
	nr := g.kernel.nr
	for k0 := 0; k0 < g.k; k0 += gemmK {
		kn := min(gemmK, g.k-k0)
		lo := lo
		if whole := min(hi, g.n/nr); g.kernel.packRows != nil && g.bN == g.kernel.size && whole > lo {
			g.kernel.packRows(g.panel(packed, k0, kn, lo), unsafe.Add(b, k0*g.bK+lo*nr*g.bN), kn, whole-lo, g.bK, kn*nr*g.kernel.size)
			lo = whole
		}
		for p := lo; p < hi; p++ {
			g.kernel.pack(g.panel(packed, k0, kn, p), unsafe.Add(b, k0*g.bK+p*nr*g.bN), kn, min(nr, g.n-p*nr), g.bK, g.bN)
		}
	}
}

// area is the part of a product that is computed: rows r0 to r1, panels p0 to p1, terms k0 to k1 of each sum.
// k0 must be 0 unless b is read directly.
type area struct{ r0, r1, p0, p1, k0, k1 int }

func (g *matmul) all() area { return area{0, g.m, 0, g.panels(), 0, g.k} }

// multiply computes an area of c. b is packed unless direct; strips is room for a block of a if that is packed.
func (g *matmul) multiply(call *gemmCall, a, b, c, strips unsafe.Pointer, w area, accumulate bool) {
	kr := g.kernel
	call.cRow = g.cRow
	call.panelRow = kr.nr * kr.size
	if g.direct {
		call.panelRow = g.bK
	}
	call.add = 0
	if accumulate {
		call.add = 1
	}
	for k0 := w.k0; k0 < w.k1; k0 += gemmK {
		block := min(gemmK, g.k-k0) // rows of a packed panel
		call.k = min(block, w.k1-k0)
		for m0 := w.r0; m0 < w.r1; m0 += gemmM {
			m1 := min(m0+gemmM, w.r1)
			left := unsafe.Add(a, m0*g.aRow+k0*g.aK)
			strip := g.aRow * kr.mr
			call.aRow, call.aK = g.aRow, g.aK
			if g.packA {
				packStrips(strips, left, call.k, m1-m0, g.aRow, g.aK, kr)
				left, strip = strips, call.k*kr.mr*kr.size
				call.aRow, call.aK = kr.size, kr.mr*kr.size
			}
			first := w.p0
			if g.splitK && kr.gemvSplitK != nil && g.direct && m1-m0 == 1 && g.n*kr.size%splitKBytes == 0 && w.p0 == 0 && w.p1 == g.panels() {
				g.gemvSplitK(call, left, b, c, m0, k0)
				continue
			}
			if kr.gemv != nil && g.direct && m1-m0 == 1 && call.add == 0 {
				first = g.gemv(call, left, b, c, m0, k0, w)
			}
			for p := first; p < w.p1; p++ {
				call.panel = g.panel(b, k0, block, p)
				cols := min(kr.nr, g.n-p*kr.nr)
				call.a = left
				call.c = unsafe.Add(c, m0*g.cRow+p*kr.nr*kr.size)
				panel := call.panel
				for m := m0; m < m1; m += kr.mr {
					call.panel = panel
					call.next = uintptr(call.a) + uintptr(strip)
					kr.run(call, min(kr.mr, m1-m), cols)
					if m+kr.mr < m1 {
						call.a = unsafe.Add(call.a, strip)
						call.c = unsafe.Add(call.c, kr.mr*g.cRow)
					}
				}
			}
		}
		call.add = 1
	}
}

// gemv computes row m0 of an area, whole widths of gemmKernel.gemv, and gives the first panel that is left.
func (g *matmul) gemv(call *gemmCall, left, b, c unsafe.Pointer, m0, k0 int, w area) int {
	each := gemvBytes / (g.kernel.nr * g.kernel.size)
	p := w.p0
	for ; p+each <= w.p1 && (p+each)*g.kernel.nr <= g.n; p += each {
		call.a, call.panel = left, g.panel(b, k0, 0, p)
		call.c = unsafe.Add(c, m0*g.cRow+p*g.kernel.nr*g.kernel.size)
		g.kernel.gemv(call)
	}
	return p
}

// gemvSplitK computes row m0 of all columns.
func (g *matmul) gemvSplitK(call *gemmCall, left, b, c unsafe.Pointer, m0, k0 int) {
	for at := 0; at < g.n*g.kernel.size; at += splitKBytes {
		call.a, call.panel, call.c = left, unsafe.Add(b, k0*g.bK+at), unsafe.Add(c, m0*g.cRow+at)
		g.kernel.gemvSplitK(call)
	}
}

// portableGemm is the kernel for every number type.
func portableGemm[T number]() *gemmKernel {
	const mr, nr = 4, 16
	return &gemmKernel{
		mr: mr, nr: nr, lanes: 1, size: int(unsafe.Sizeof(T(0))),
		pack: func(dst, b unsafe.Pointer, k, cols, kStride, nStride int) {
			packPanel[T](dst, b, k, cols, nr, kStride, nStride)
		},
		run: func(call *gemmCall, rows, cols int) {
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
