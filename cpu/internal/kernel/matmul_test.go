package kernel

import (
	"math"
	"math/rand"
	"testing"

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

// Copies are an odd number of cache lines apart, at least their own length, and kernels of AVX2 copy strips of terms that those of AVX-512 read in place.
// Caught when planted: whole lines in place of an odd number; one bound for all kernels.
func TestCopies(t *testing.T) {
	for _, bytes := range []int{1, 64, 65, 512 * 24, 512*24 + 8, 512 * 48} {
		if got := copiedBytes(bytes); got < bytes || got >= bytes+192 || got%64 != 0 || got/64%2 == 0 {
			t.Errorf("%d bytes: %d", bytes, got)
		}
	}
	for _, set := range sets {
		want := farApart
		if set.Level == levelAVX2 {
			want = 255
		}
		if got := set.Gemm[dtypes.Float32].nearTerms; got != want {
			t.Errorf("%s: %d bytes, want %d", set.Level, got, want)
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
	for i := range want {
		if math.Float32bits(want[i]) != math.Float32bits(got[i]) {
			t.Fatalf("element %d, %d: %v in place, %v copied", i/n, i%n, want[i], got[i])
		}
	}
}
