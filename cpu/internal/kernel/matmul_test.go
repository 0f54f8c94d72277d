package kernel

import (
	"math"
	"math/rand"
	"testing"
	"unsafe"

	"github.com/gomlx/compute/dtypes"
)

// Strips of the left operand are copied if it is transposed, has many columns to be multiplied with, and its terms are apart by more than the
// kernel's bound or its rows are apart; or if its rows share lines of the cache and have many columns to be multiplied with.
// Caught when planted: terms at the bound itself copied; rows that are apart read in place; a single term or panel copied; all rows of adjacent
// terms copied; few columns copied at any distance.
func TestPaysToPackA(t *testing.T) {
	for _, c := range []struct {
		near           int
		aRow, aK, k, n int
		want           bool
	}{
		{8192, 4, 512, 2048, 512, false}, {8192, 4, 8192, 2048, 512, false}, {8192, 4, 8196, 2048, 512, true}, {8192, 4, 16384, 2048, 512, true}, // transposed
		{255, 4, 128, 2048, 512, false}, {255, 4, 255, 2048, 512, false}, {255, 4, 256, 2048, 512, true}, // the same, with another bound
		{255, 4, 1024, 2048, 63, false}, {255, 4, 1024, 2048, 64, true}, {255, 4, 8196, 2048, 63, true}, // three panels, four
		{8192, 4032, 4, 1008, 512, false}, {8192, 4096, 4, 1024, 512, true}, {8192, 2048, 4, 64, 256, true}, {8192, 2048, 4, 64, 255, false}, // rows of adjacent terms, which share lines of the cache or do not
		{8192, 4096, 8, 1024, 512, true},                                                                     // neither rows nor terms are adjacent
		{8192, 4, 16384, 1, 512, false}, {8192, 4, 16384, 2048, 16, false}, {8192, 4, 16384, 2048, 17, true}, // one term, one panel, two
	} {
		g := Matmul{M: 64, N: c.n, K: c.k, ARow: c.aRow, AK: c.aK, Kernel: &Gemm{MR: 6, NR: 16, size: 4, nearTerms: c.near}}
		if got := g.PaysToPackA(); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// Copies are an odd number of cache lines apart, at least their own length. Caught when planted: whole lines in place of an odd number.
func TestCopies(t *testing.T) {
	for _, bytes := range []int{1, 64, 65, 512 * 24, 512*24 + 8, 512 * 48} {
		if got := copiedBytes(bytes); got < bytes || got >= bytes+192 || got%64 != 0 || got/64%2 == 0 {
			t.Errorf("%d bytes: %d", bytes, got)
		}
	}
	for _, set := range sets {
		if got := set.Gemm[dtypes.Float32].nearTerms; got != farApart && set.Level != levelAVX2 && set.Level != levelAVX512 {
			t.Errorf("%s: %d bytes, want %d", set.Level, got, farApart)
		}
	}
}

// Panels are packed late for transposed left operands of up to as many rows as the kernel has it, if enough of them are computed together.
// Caught when planted: any number of rows; few rows; a left operand that is not transposed; a right operand that is.
func TestPaysToPackLate(t *testing.T) {
	packRows := func(dst, b unsafe.Pointer, k, panels, kStride, panelBytes int) {}
	gradient := Matmul{M: 512, N: 128, K: 2048, ARow: 4, AK: 2048, BK: 512, BN: 4, Kernel: &Gemm{MR: 12, NR: 32, size: 4, lateRows: 512, packRows: packRows}}
	more, forward, turned, none := gradient, gradient, gradient, gradient
	more.M = 513
	forward.ARow, forward.AK = 8192, 4
	turned.BK, turned.BN = 4, 8192
	kernel := *gradient.Kernel
	kernel.lateRows, none.Kernel = 0, &kernel
	for _, c := range []struct {
		name string
		g    Matmul
		rows int
		want bool
	}{
		{"all rows", gradient, 512, true}, {"128 rows", gradient, 128, true}, {"127 rows", gradient, 127, false}, {"513 rows", more, 513, false},
		{"not transposed", forward, 512, false}, {"b transposed", turned, 512, false}, {"another kernel", none, 512, false},
	} {
		if got := c.g.PaysToPackLate(c.rows); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// Panels that are packed late give the same bits as those that are packed before: whole products, and areas of one row, of several, and of panels,
// over several blocks of rows and of terms, with a last panel of fewer columns.
// Caught when planted: the first block of terms packed for all; rows of a panel as far apart as those of b;
// the first panel of an area in place of its own.
func TestLatePanelsGiveTheSameBits(t *testing.T) {
	const m, k = blockM + 30, BlockK + 77
	rng := rand.New(rand.NewSource(6))
	for _, set := range sets {
		for _, n := range []int{7 * 32, 7*32 + 5} {
			a, b := draw[float32](rng, m*k, false), draw[float32](rng, k*n, false)
			g := Matmul{M: m, N: n, K: k, ARow: 4, AK: 4 * m, BK: 4 * n, BN: 4, CRow: 4 * n, Kernel: set.Gemm[dtypes.Float32]}
			if !g.CanPackLate() {
				continue
			}
			want := make([]float32, m*n)
			multiplyOnce(&g, a, b, want, false)
			g.Reading, g.PackA = Late, true
			got := make([]float32, m*n)
			multiplyOnce(&g, a, b, got, false)
			equalBits(t, string(set.Level)+", whole", want, got, n)

			parts := make([]float32, m*n)
			strips := make([]float32, g.StripBytes()/4)
			for _, w := range []Area{{R1: 1}, {R0: 1, R1: 130}, {R0: 130, R1: m, P1: 3}, {R0: 130, R1: m, P0: 3}} {
				if w.K1 = k; w.P1 == 0 {
					w.P1 = g.Panels()
				}
				g.Multiply(&GemmCall{}, pointer(a), pointer(b), pointer(parts), pointer(strips), w, false)
			}
			equalBits(t, string(set.Level)+", areas", want, parts, n)
		}
	}
}

// equalBits compares matrices of n columns.
func equalBits(t *testing.T, name string, want, got []float32, n int) {
	t.Helper()
	for i := range want {
		if math.Float32bits(want[i]) != math.Float32bits(got[i]) {
			t.Fatalf("%s: element %d, %d: %v, want %v", name, i/n, i%n, got[i], want[i])
		}
	}
}

// Copied rows give the same bits as rows that are read in place, over several blocks of rows and of terms, the last ones smaller.
// Caught when planted: the rows of the second block of terms copied from the first; the last strip's rows not copied.
func TestCopiedRowsGiveTheSameBits(t *testing.T) {
	rng := rand.New(rand.NewSource(5))
	const m, n, k, row = blockM + 29, 333, 2*BlockK + 77, 1536
	a, b := draw[float32](rng, m*row, false), draw[float32](rng, k*n, false)
	g := Matmul{M: m, N: n, K: k, ARow: 4 * row, AK: 4, BK: 4 * n, BN: 4, CRow: 4 * n, Kernel: Best().Gemm[dtypes.Float32]}
	if !g.PaysToPackA() {
		t.Fatal("such rows are not copied")
	}
	want, got := make([]float32, m*n), make([]float32, m*n)
	multiplyOnce(&g, a, b, want, false)
	g.PackA = true
	multiplyOnce(&g, a, b, got, false)
	equalBits(t, "copied", want, got, n)
}
