package kernel

import (
	"math/rand"
	"testing"
)

// A product that is computed in areas, each with a part of the rows and panels, has the bits of the whole, also if the memory is that of the area alone.
// Caught when planted: a panel counted from the first of the product where the memory begins with the area's, and the reverse.
func TestRoundedAreas(t *testing.T) {
	for name, kernel := range roundedKernels() {
		rng := rand.New(rand.NewSource(7))
		const m, n, k = 70, 100, 530
		a, b, whole, parts := draw[float32](rng, m*k, false), draw[float32](rng, k*n, false), make([]float32, m*n), make([]float32, m*n)
		g := Matmul{M: m, N: n, K: k, ARow: 4 * k, AK: 4, BK: 4 * n, BN: 4, CRow: 4 * n, Kernel: kernel}
		multiplyOnce(&g, a, b, whole, false)
		packed, strips := make([]float32, g.PackedBytes()/4), make([]float32, g.StripBytes()/4)
		g.Pack(pointer(packed), pointer(b), 0, g.Panels())
		for _, rows := range [][2]int{{0, 24}, {24, m}} {
			for _, panels := range [][2]int{{0, 1}, {1, 3}, {3, g.Panels()}} {
				area := Area{R0: rows[0], R1: rows[1], P0: panels[0], P1: panels[1], K1: k}
				var call GemmCall
				g.Multiply(&call, pointer(a), pointer(packed), pointer(parts), pointer(strips), area, false)
				area.Alone = true
				alone := make([]float32, m*n)
				g.Multiply(&call, pointer(a), pointer(packed), pointer(alone), pointer(strips), area, false)
				first := panels[0] * kernel.NR
				for r := rows[0]; r < rows[1]; r++ {
					for j := first; j < min(panels[1]*kernel.NR, n); j++ {
						if got, want := alone[(r-rows[0])*n+j-first], whole[r*n+j]; got != want {
							t.Fatalf("%s: element %d, %d of area %+v is %v, of the whole %v", name, r, j, area, got, want)
						}
					}
				}
			}
		}
		for i := range parts {
			if parts[i] != whole[i] {
				t.Fatalf("%s: element %d of all areas is %v, of the whole %v", name, i, parts[i], whole[i])
			}
		}
	}
}
