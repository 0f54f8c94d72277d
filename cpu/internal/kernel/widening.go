package kernel

import "unsafe"

// leastWidened is the number of rows of a product from which on it takes less time to make float32 of its rounded operands.
const leastWidened = 8

// widening multiplies operands that are rounded to bfloat16 with a kernel of float32, where that has twice the rate of the instructions that
// multiply bfloat16. The products are the same, as float32 holds them exactly; only the order of the sums differs.
type widening struct {
	gemm *Gemm // does not round

	left  func(dst, src unsafe.Pointer, blocks, dstStride, srcStride, rows int) // makes float32 of rows of blocks of roundedDepth terms
	panel func(dst, src unsafe.Pointer, pairs int)                              // makes float32 of pairs of rows of a panel
}

// widens reports whether the product multiplies in float32.
func (g *Matmul) widens() bool { return g.Kernel.rounded.widened != nil && g.M >= leastWidened }

// roundedRows returns the number of rows of a that are rounded together.
func (g *Matmul) roundedRows() int {
	if g.widens() && g.K > BlockK/2 {
		return blockM
	}
	return roundedBlockM
}

// widenedBytes returns the memory of so many rows of float32, and of a panel.
func (g *Matmul) widenedBytes(rows int) int {
	if !g.widens() {
		return 0
	}
	k := min(g.K, BlockK)
	return rows*copiedBytes(4*k) + RoundUp(k, 2)*4*roundedColumns
}

// multiplyWidened computes an area of c from rows that are packed in strips, and panels of b. c is the first element of the area.
func (g *Matmul) multiplyWidened(call *GemmCall, b, c, strips unsafe.Pointer, w Area) {
	x := g.Kernel.rounded.widened
	rows, kn := w.R1-w.R0, w.K1-w.K0
	from := g.Kernel.rounded.row(kn)
	call.k, call.aRow, call.aK, call.panelRow = kn, copiedBytes(4*kn), 4, 4*roundedColumns
	left := unsafe.Add(strips, RoundUp(rows, roundedStrip)*from)
	panel := unsafe.Add(left, rows*call.aRow)
	x.left(left, strips, RoundUp(kn, roundedDepth)/roundedDepth, call.aRow, from, rows)
	for p := w.P0; p < w.P1; p++ {
		x.panel(panel, g.panel(b, w.K0, kn, p), (kn+1)/2)
		call.following = 0
		if p+1 < w.P1 {
			call.following = uintptr(g.panel(b, w.K0, kn, p+1))
		}
		x.gemm.runPanel(call, left, panel, unsafe.Add(c, (p-w.P0)*4*roundedColumns), x.gemm.MR*call.aRow, rows, min(roundedColumns, g.N-p*roundedColumns))
	}
}
