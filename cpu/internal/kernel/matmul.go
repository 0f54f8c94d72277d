package kernel

import "unsafe"

const (
	// BlockK is the number of terms of a sum that are multiplied before the next ones.
	BlockK = 512 // rows of a packed panel: with 32 columns of float32, 64 KB
	blockM = 384 // rows of the left operand that are multiplied with one panel after the other
)

// RoundUp returns the smallest multiple that is at least n.
func RoundUp(n, multiple int) int { return (n + multiple - 1) / multiple * multiple }

// A Matmul is c = a b for strided matrices: a has M rows of K, b K rows of N. Strides are in bytes; columns of c are consecutive.
type Matmul struct {
	M, N, K  int
	ARow, AK int
	BK, BN   int
	CRow     int
	Kernel   *Gemm
	PackA    bool    // elements of a strip of a are far apart: copy them first
	Reading  Reading // of b
	SplitK   bool    // a single row may be computed from partial sums, so its last bits may differ from those among other rows
}

// A Reading is the way in which Multiply reads b.
type Reading int

const (
	Packed  Reading = iota // panels that Pack has copied
	InPlace                // where b is
	Late                   // where b is, but each panel is packed just before it is used; requires CanPackLate
	Dots                   // where b is, column by column, with partial sums as with SplitK; requires CanDot
)

// Direct reports whether Multiply reads b itself, not packed panels.
func (g *Matmul) Direct() bool { return g.Reading != Packed }

// CanDot reports whether a single row can be computed by Gemm.gemvDots.
func (g *Matmul) CanDot() bool {
	size := g.Kernel.size
	whole := g.K > 0 && g.K*size%dotsBytes == 0 && g.N > 0 && g.N%DotsColumns == 0
	return whole && g.M == 1 && g.AK == size && g.BK == size && g.Kernel.gemvDots != nil && !g.Kernel.Rounds()
}

// Panels returns the number of panels of b.
func (g *Matmul) Panels() int { return (g.N + g.Kernel.NR - 1) / g.Kernel.NR }

// collide reports whether the rows of a consist of adjacent terms and share lines of the cache.
func (g *Matmul) collide() bool { return g.adjacent() && g.ARow > 0 && g.ARow%2048 == 0 }

// adjacent reports whether the terms of a row of a are adjacent.
func (g *Matmul) adjacent() bool { return g.AK == g.Kernel.size }

// Transposed reports whether the terms of a row of a are apart, and there are many columns to multiply them with.
func (g *Matmul) Transposed() bool { return !g.adjacent() && g.K > 1 && g.N > g.Kernel.NR }

// CanReadDirectly reports whether rows of b consist of whole vectors.
func (g *Matmul) CanReadDirectly() bool {
	return g.BN == g.Kernel.size && g.N%g.Kernel.lanes == 0 && !g.Kernel.Rounds()
}

// raggedPanel returns the last panel if b is read in place and the rows of that panel are no whole vectors, so that it is packed
// nevertheless, or -1.
func (g *Matmul) raggedPanel() int {
	if g.Reading == InPlace && g.N%g.Kernel.lanes != 0 {
		return g.Panels() - 1
	}
	return -1
}

// PackedBytes returns the memory of all of b, packed.
func (g *Matmul) PackedBytes() int {
	if g.Direct() {
		return 0
	}
	return g.Panels() * g.Kernel.panelBytes(g.K)
}

// StripBytes returns the memory that Multiply needs: of a packed block of a, and of the last panel of b.
func (g *Matmul) StripBytes() int {
	if g.Kernel.Rounds() {
		rows := min(g.M, g.roundedRows())
		return RoundUp(rows, roundedStrip)*g.Kernel.rounded.row(min(g.K, BlockK)) + g.widenedBytes(rows) + roundedEdge
	}
	bytes := 0
	if g.Reading == Late || g.raggedPanel() >= 0 {
		bytes = g.Kernel.panelBytes(min(g.K, BlockK))
	}
	if g.PackA {
		row, rows := min(g.K, BlockK)*g.Kernel.size, min(g.M, blockM)
		if g.adjacent() {
			bytes += rows * copiedBytes(row)
		} else {
			bytes += RoundUp(rows, g.Kernel.MR) / g.Kernel.MR * copiedBytes(g.Kernel.MR*row)
		}
	}
	return bytes
}

// panel returns the address of rows k0 on of panel p: in b itself or, if packed, in the packed memory, where blocks of k follow each
// other.
func (g *Matmul) panel(b unsafe.Pointer, k0, kn, p int) unsafe.Pointer {
	if g.Direct() {
		return unsafe.Add(b, k0*g.BK+p*g.Kernel.NR*g.BN)
	}
	return unsafe.Add(b, g.Panels()*g.Kernel.panelBytes(k0)+p*g.Kernel.panelBytes(kn))
}

// Pack copies panels lo to hi of b.
func (g *Matmul) Pack(packed, b unsafe.Pointer, lo, hi int) {
	nr := g.Kernel.NR
	for k0 := 0; k0 < g.K; k0 += BlockK {
		kn := min(BlockK, g.K-k0)
		lo := lo
		if whole := min(hi, g.N/nr); g.Kernel.packRows != nil && g.BN == g.Kernel.size && whole > lo {
			g.Kernel.packRows(g.panel(packed, k0, kn, lo), unsafe.Add(b, k0*g.BK+lo*nr*g.BN), kn, whole-lo, g.BK, g.Kernel.panelBytes(kn))
			lo = whole
		}
		for p := lo; p < hi; p++ {
			g.Kernel.pack(g.panel(packed, k0, kn, p), unsafe.Add(b, k0*g.BK+p*nr*g.BN), kn, min(nr, g.N-p*nr), g.BK, g.BN)
		}
	}
}

// An Area is a part of a product: rows R0 to R1, panels P0 to P1, terms K0 to K1 of each sum. K0 must be 0 unless b is read directly.
type Area struct {
	R0, R1, P0, P1, K0, K1 int
	Alone                  bool // c is this area, not the whole product
}

// All returns the whole product.
func (g *Matmul) All() Area { return Area{R1: g.M, P1: g.Panels(), K1: g.K} }

// origin returns the row and the panel of the first element of c.
func (w Area) origin() (row, panel int) {
	if w.Alone {
		return w.R0, w.P0
	}
	return 0, 0
}

// Multiply computes an area of c. b is packed unless direct; strips is memory of StripBytes.
func (g *Matmul) Multiply(call *GemmCall, a, b, c, strips unsafe.Pointer, w Area, accumulate bool) {
	kr := g.Kernel
	call.cRow = g.CRow
	if g.Reading == Dots {
		call.k, call.a, call.panel, call.c, call.panelRow, call.strips = g.K, a, b, c, g.BN, g.N/DotsColumns
		kr.gemvDots(call)
		return
	}
	call.add, call.strips = 0, 0
	if accumulate {
		call.add = 1
	}
	if kr.Rounds() {
		g.multiplyRounded(call, a, b, c, strips, w)
		return
	}
	x := block{Area: w, b: b, c: c, ragged: g.raggedPanel()}
	x.row, x.panel = w.origin()
	if g.Reading == Late || x.ragged >= 0 {
		x.last, strips = strips, unsafe.Add(strips, kr.panelBytes(min(g.K, BlockK)))
	}
	for x.K0 = w.K0; x.K0 < w.K1; x.K0 += BlockK {
		x.rows = min(BlockK, g.K-x.K0)
		call.k = min(x.rows, w.K1-x.K0)
		if x.ragged >= 0 && x.ragged < w.P1 {
			kr.pack(x.last, g.panel(b, x.K0, 0, x.ragged), call.k, g.N-x.ragged*kr.NR, g.BK, g.BN)
		}
		for x.R0 = w.R0; x.R0 < w.R1; x.R0 += blockM {
			x.R1 = min(x.R0+blockM, w.R1)
			x.left, x.strip = unsafe.Add(a, x.R0*g.ARow+x.K0*g.AK), g.ARow*kr.MR
			call.aRow, call.aK = g.ARow, g.AK
			switch {
			case g.PackA && g.adjacent():
				call.aRow = copiedBytes(call.k * kr.size)
				copyRows(strips, x.left, call.k*kr.size, x.R1-x.R0, g.ARow, call.aRow)
				x.left, x.strip = strips, kr.MR*call.aRow
			case g.PackA:
				packStrips(strips, x.left, call.k, x.R1-x.R0, g.ARow, g.AK, kr)
				x.left, x.strip = strips, copiedBytes(call.k*kr.MR*kr.size)
				call.aRow, call.aK = kr.size, kr.MR*kr.size
			}
			g.multiplyBlock(call, &x)
		}
		call.add = 1
	}
}

// A block is a part of a product, an area, that is multiplied with strips of the left operand.
type block struct {
	Area
	left   unsafe.Pointer // first strip
	strip  int            // distance of strips in bytes
	b, c   unsafe.Pointer // of the whole product, or of an area alone
	row    int            // of the first element of c, and its panel
	panel  int
	rows   int            // of a packed panel
	ragged int            // the panel that is packed in last, or -1
	last   unsafe.Pointer // memory for that panel, or for the one that is packed late
}

// at returns the address of the first row of the block in a panel of c.
func (x *block) at(g *Matmul, panel int) unsafe.Pointer {
	return unsafe.Add(x.c, (x.R0-x.row)*g.CRow+(panel-x.panel)*g.Kernel.NR*g.Kernel.size)
}

// multiplyBlock computes a block.
func (g *Matmul) multiplyBlock(call *GemmCall, x *block) {
	kr, single := g.Kernel, x.R1-x.R0 == 1
	call.panelRow = kr.NR * kr.size
	if g.Direct() {
		call.panelRow = g.BK
	}
	if g.SplitK && len(kr.gemvSplitK) > 0 && g.Direct() && single && g.N*kr.size%splitKBytes == 0 && x.P0 == 0 && x.P1 == g.Panels() {
		g.gemvSplitK(call, x)
		return
	}
	first := x.P0
	switch {
	case !single:
	case g.Direct() && kr.gemv != nil && call.add == 0:
		first = g.gemv(call, x)
	case !g.Direct():
		call.a = x.left
		first = g.gemvPanels(call, x.b, x.at(g, x.P0), x.P0, x.P1, x.K0, x.rows)
	}
	for p := first; p < x.P1; p++ {
		g.multiplyPanel(call, x, p)
	}
}

// multiplyPanel computes the columns of one panel of a block.
func (g *Matmul) multiplyPanel(call *GemmCall, x *block, p int) {
	kr := g.Kernel
	panel := g.panel(x.b, x.K0, x.rows, p)
	if g.Reading == Late {
		g.packLate(x.last, panel, call.k, p)
	}
	if g.Reading == Late || p == x.ragged {
		panel, call.panelRow = x.last, kr.NR*kr.size
	}
	call.following = 0
	if p+1 < x.P1 && !g.Direct() {
		call.following = uintptr(g.panel(x.b, x.K0, x.rows, p+1))
	}
	kr.runPanel(call, x.left, panel, x.at(g, p), x.strip, x.R1-x.R0, min(kr.NR, g.N-p*kr.NR))
}

// runPanel multiplies rows, in strips that are so many bytes apart, by cols columns of a panel. call has the rest.
func (kr *Gemm) runPanel(call *GemmCall, left, panel, c unsafe.Pointer, strip, rows, cols int) {
	m := 0
	if n := rows/kr.MR - 2; kr.runStrips != nil && n > 0 { // the last two strips prefetch something else
		call.a, call.panel, call.c, call.strips, call.strip = left, panel, c, n, strip
		call.next = uintptr(left) + uintptr(strip)
		kr.runStrips(call, cols)
		m += n * kr.MR
	}
	for ; m < rows; m += kr.MR {
		call.a, call.panel, call.c = unsafe.Add(left, m/kr.MR*strip), panel, unsafe.Add(c, m*call.cRow)
		call.prefetch(strip, (rows-m-1)/kr.MR)
		kr.run(call, min(kr.MR, rows-m), cols)
	}
}

// packLate copies k rows of panel p of b.
func (g *Matmul) packLate(dst, panel unsafe.Pointer, k, p int) {
	kr := g.Kernel
	if cols := g.N - p*kr.NR; cols < kr.NR {
		kr.pack(dst, panel, k, cols, g.BK, g.BN)
		return
	}
	kr.packRows(dst, panel, k, 1, g.BK, 0)
}
