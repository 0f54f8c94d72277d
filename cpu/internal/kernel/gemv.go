package kernel

import "unsafe"

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

// gemvSplitK computes all columns of the row of a block.
func (g *Matmul) gemvSplitK(call *GemmCall, x *block) {
	for at := 0; at < g.N*g.Kernel.size; at += splitKBytes {
		call.a, call.panel, call.c = x.left, unsafe.Add(x.b, x.K0*g.BK+at), unsafe.Add(x.at(g, 0), at)
		g.Kernel.gemvSplitK(call)
	}
}
