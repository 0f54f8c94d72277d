package kernel

import (
	"slices"
	"unsafe"
)

// gemv computes the row of a block, in whole widths of Gemm.gemv, and returns the first remaining panel.
func (g *Matmul) gemv(call *GemmCall, x *block) int {
	each := gemvBytes / (g.Kernel.NR * g.Kernel.size)
	p := x.P0
	for ; p+each <= x.P1 && (p+each)*g.Kernel.NR <= g.N; p += each {
		call.a, call.panel = x.left, g.panel(x.b, x.K0, 0, p)
		call.c = x.at(g, p)
		g.Kernel.gemv(call)
	}
	return p
}

// gemvPanels computes the row of a block from whole packed panels, some at once, and returns the first remaining panel. call has the row and
// whether to add; c is the first element of the row.
func (g *Matmul) gemvPanels(call *GemmCall, b, c unsafe.Pointer, from, to, k0, kn int) int {
	kr := g.Kernel
	call.panels = kr.panelBytes(kn)
	p, whole := from, min(to, g.N/kr.NR)
	for i, run := range slices.Backward(kr.gemvPanels[:]) {
		for each := 2 << i; run != nil && p+each <= whole; p += each {
			call.panel, call.c = g.panel(b, k0, kn, p), unsafe.Add(c, (p-from)*kr.NR*kr.size)
			run(call)
		}
	}
	return p
}

// gemvSplitK computes all columns of the row of a block.
func (g *Matmul) gemvSplitK(call *GemmCall, x *block) {
	size := g.N * g.Kernel.size
	for at := 0; at < size; {
		units := min((size-at)/splitKBytes, len(g.Kernel.gemvSplitK))
		call.a, call.panel, call.c = x.left, unsafe.Add(x.b, x.K0*g.BK+at), unsafe.Add(x.at(g, 0), at)
		g.Kernel.gemvSplitK[units-1](call)
		at += units * splitKBytes
	}
}
