package kernel

import "unsafe"

// Products whose operands are rounded when they are packed, to bfloat16 or to int8. Both operands are packed in the same way for all kernels of a
// kind: rows of the left one, and panels of the right one that hold four bytes of a column, 2 or 4 terms, next to each other. Panels are filled
// with zeros up to a multiple of roundedDepth terms, and so are rows of bfloat16; in rows of int8, anything may stand there.
const (
	roundedDepth   = 32  // terms of a tile of AMX, of bfloat16
	roundedColumns = 32  // columns of a panel
	roundedStrip   = 32  // minimum number of packed rows: those of two tiles
	roundedBlockM  = 768 // rows of the left operand that are multiplied with one panel after the other
	roundedWord    = 4   // bytes of a row or column that are multiplied at once
)

// roundedEdge is the memory of a block of results of which only a part is written.
const roundedEdge = roundedStrip * roundedColumns * 4

// A packedForm is how rounded operands are packed.
type packedForm struct {
	termBytes int // of a term
	tail      int // bytes of a panel behind its terms, at most BlockK of them
}

// row returns the distance of rows of the left operand. It is a cache line longer than necessary, so that the rows of a tile map to different
// sets of the L1 cache.
func (f packedForm) row(k int) int { return f.termsBytes(k) + 64 }

// termsBytes returns the memory of k terms of a row or column.
func (f packedForm) termsBytes(k int) int { return RoundUp(k, roundedDepth) * f.termBytes }

// panelBytes returns the memory of k terms of a panel, in blocks of BlockK.
func (f packedForm) panelBytes(k int) int {
	return f.termsBytes(k)*roundedColumns + (k+BlockK-1)/BlockK*f.tail
}

// rounded holds the functions of a Gemm that rounds its operands.
type rounded struct {
	packedForm

	// packLeft rounds rows of k terms, strides in bytes, to rows of that form. With bfloat16 it may write up to 15 rows more.
	packLeft func(dst, a unsafe.Pointer, k, rows, rowStride, kStride int)

	// run computes rows x cols of c, both up to any number of rows and one panel, from rows of words: call has everything but masks; it may
	// change a and c. edge is room for roundedEdge bytes.
	run func(call *GemmCall, rows, cols int, edge unsafe.Pointer)

	widened *widening // if not nil, products of at least leastWidened rows use it in place of run
}

// multiplyRounded is Multiply for kernels that round.
func (g *Matmul) multiplyRounded(call *GemmCall, a, b, c, strips unsafe.Pointer, w Area) {
	kr := g.Kernel
	edge := unsafe.Add(strips, g.StripBytes()-roundedEdge)
	call.panelRow = kr.NR * roundedWord
	add := call.add
	row, panel := w.origin()
	for k0 := w.K0; k0 < w.K1; k0 += BlockK {
		kn := min(BlockK, g.K-k0)
		call.k = kr.rounded.termsBytes(kn) / roundedWord
		call.aRow, call.aK = kr.rounded.row(kn), roundedWord
		for m0 := w.R0; m0 < w.R1; m0 += g.roundedRows() {
			m1 := min(m0+g.roundedRows(), w.R1)
			kr.rounded.packLeft(strips, unsafe.Add(a, m0*g.ARow+k0*g.AK), kn, m1-m0, g.ARow, g.AK)
			to := unsafe.Add(c, (m0-row)*g.CRow+(w.P0-panel)*kr.NR*kr.size)
			if g.widens() {
				call.add = add
				g.multiplyWidened(call, b, to, strips, Area{R0: m0, R1: m1, P0: w.P0, P1: w.P1, K0: k0, K1: k0 + kn})
				continue
			}
			first := w.P0
			if m1-m0 == 1 {
				call.a, call.add = strips, add
				first = g.gemvPanels(call, b, to, w.P0, w.P1, k0, kn)
			}
			for p := first; p < w.P1; p++ {
				call.a, call.panel, call.add = strips, g.panel(b, k0, kn, p), add
				call.c = unsafe.Add(c, (m0-row)*g.CRow+(p-panel)*kr.NR*kr.size)
				call.following = 0
				if p+1 < w.P1 {
					call.following = uintptr(g.panel(b, k0, kn, p+1))
				}
				kr.rounded.run(call, m1-m0, min(kr.NR, g.N-p*kr.NR), edge)
			}
		}
		add = 1
	}
}
