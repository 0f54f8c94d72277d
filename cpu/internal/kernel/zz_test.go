package kernel

import (
	"fmt"
	"testing"
	"unsafe"
)

func BenchmarkTiles(b *testing.B) {
	kr := bestRounded(Best().Level, false, detect())
	for _, c := range [][3]int{{32, 32, 512}, {384, 32, 512}, {384, 512, 512}, {1024, 512, 512}, {2048, 128, 128}, {2048, 512, 128}, {384, 512, 128}} {
		m, n, k := c[0], c[1], c[2]
		b.Run(fmt.Sprint(c), func(b *testing.B) {
			g := &Matmul{M: m, N: n, K: k, ARow: 4 * k, AK: 4, BK: 4 * n, BN: 4, CRow: 4 * n, Kernel: kr}
			x, y, z := make([]float32, m*k), make([]float32, k*n), make([]float32, m*n)
			packed, strips := make([]float32, g.PackedBytes()/4+1), make([]float32, g.StripBytes()/4+16)
			g.Pack(pointer(packed), pointer(y), 0, g.Panels())
			kr.rounded.packLeft(pointer(strips), pointer(x), k, min(m, 384), 4*k, 4)
			var call GemmCall
			before := threadTime()
			for b.Loop() {
				call.k = k / 2
				call.aRow = roundedRow(k)
				call.cRow = 4 * n
				for m0 := 0; m0 < m; m0 += 384 {
					for p := range g.Panels() {
						call.a = pointer(strips)
						call.panel = g.panel(pointer(packed), 0, k, p)
						call.c = unsafe.Add(pointer(z), m0*4*n+p*128)
						kr.rounded.run(&call, min(384, m-m0), 32, nil)
					}
				}
			}
			b.ReportMetric(2*float64(m*n*k)*float64(b.N)/float64(threadTime()-before), "GF")
		})
	}
}
