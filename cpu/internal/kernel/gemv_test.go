package kernel

import (
	"math/rand"
	"slices"
	"testing"

	"github.com/gomlx/compute/dtypes"
)

// A row alone has the bits that it has among others if the right operand is packed: columns of whole panels, four and two at a time, and the
// others; sums longer than a block; added to what was there; and areas. Caught when planted: panels at the distance of whole blocks; a sum
// that is not added; the columns of an area at the beginning of the row.
func TestOneRowOfPackedPanels(t *testing.T) {
	for _, set := range sets {
		t.Run(string(set.Level)+"/float32", func(t *testing.T) { compareOneRow[float32](t, set.Gemm[dtypes.Float32]) })
		t.Run(string(set.Level)+"/float64", func(t *testing.T) { compareOneRow[float64](t, set.Gemm[dtypes.Float64]) })
		if rounding, err := set.WithBFloat16(true); err == nil {
			t.Run(string(set.Level)+"/bf16", func(t *testing.T) { compareOneRow[float32](t, rounding.Rounded) })
		}
	}
}

func compareOneRow[T Float](t *testing.T, kernel *Gemm) {
	rng := rand.New(rand.NewSource(3))
	for _, k := range []int{0, 1, 7, 64, 192, 513, 1100} {
		for _, n := range []int{1, 31, 64, 77, 192, 32*11 + 5} {
			const rows, row = 5, 3
			a, b := draw[T](rng, rows*k+1, false), draw[T](rng, k*n+1, false)
			many := Matmul{M: rows, N: n, K: k, ARow: k * kernel.size, AK: kernel.size, BK: n * kernel.size, BN: kernel.size, CRow: n * kernel.size, Kernel: kernel}
			one := many
			one.M = 1
			for _, accumulate := range []bool{false, true} {
				want := slices.Repeat([]T{2}, rows*n)
				got, behind := slices.Repeat([]T{2}, n+2*kernel.NR), slices.Repeat([]T{2}, 2*kernel.NR)
				multiplyOnce(&many, a, b, want, accumulate)
				multiplyOnce(&one, a[row*k:], b, got, accumulate)
				if want = want[row*n : (row+1)*n]; !slices.Equal(got, append(want[:n:n], behind...)) {
					t.Fatalf("%d terms, %d columns, added: %v: a row alone is %v, among others %v", k, n, accumulate, got, want)
				}
				comparePart(t, &one, a[row*k:], b, want, accumulate)
			}
		}
	}
}

// comparePart compares the panels of a row from the second on with those of the whole row.
func comparePart[T Float](t *testing.T, one *Matmul, a, b, whole []T, accumulate bool) {
	if one.Panels() < 2 || one.K == 0 {
		return
	}
	packed, strips := make([]T, one.PackedBytes()/one.Kernel.size+1), make([]T, one.StripBytes()/one.Kernel.size+1)
	one.Pack(pointer(packed), pointer(b), 0, one.Panels())
	area := one.All()
	area.P0 = 1
	got := slices.Repeat([]T{2}, one.N)
	var call GemmCall
	one.Multiply(&call, pointer(a), pointer(packed), pointer(got), pointer(strips), area, accumulate)
	if nr := one.Kernel.NR; !slices.Equal(got[nr:], whole[nr:]) || got[0] != 2 {
		t.Fatalf("%d terms, %d columns, added: %v: from the second panel on %v, want %v", one.K, one.N, accumulate, got, whole)
	}
}

// The columns of a product from partial sums have the same bits whatever columns are computed together.
// Caught when planted: partial sums added in another order; a vector beyond the columns.
func TestPartialSumsOfWideColumns(t *testing.T) {
	for _, set := range sets {
		if g := set.Gemm[dtypes.Float32]; len(g.gemvSplitK) > 0 { // other kernels add all terms in order
			t.Run(string(set.Level)+"/float32", func(t *testing.T) { compareWidths[float32](t, g) })
		}
		if g := set.Gemm[dtypes.Float64]; len(g.gemvSplitK) > 0 {
			t.Run(string(set.Level)+"/float64", func(t *testing.T) { compareWidths[float64](t, g) })
		}
	}
}

func compareWidths[T Float](t *testing.T, kernel *Gemm) {
	rng := rand.New(rand.NewSource(4))
	narrow := *kernel
	narrow.gemvSplitK = kernel.gemvSplitK[:1]
	for lines := 1; lines <= 9; lines++ {
		for _, k := range []int{1, 3, 4, 18, 31, 600} {
			n := lines * splitKBytes / kernel.size
			a, b := draw[T](rng, k, false), draw[T](rng, k*n, false)
			g := Matmul{M: 1, N: n, K: k, ARow: k * kernel.size, AK: kernel.size, BK: n * kernel.size, BN: kernel.size, CRow: n * kernel.size, Kernel: kernel, Reading: InPlace, SplitK: true}
			one := g
			one.Kernel = &narrow
			for _, accumulate := range []bool{false, true} {
				got, want := slices.Repeat([]T{2}, n+1), slices.Repeat([]T{2}, n+1)
				multiplyOnce(&g, a, b, got, accumulate)
				multiplyOnce(&one, a, b, want, accumulate)
				if !slices.Equal(got, want) {
					t.Fatalf("%d terms, %d columns: %v, and a line at a time %v", k, n, got, want)
				}
			}
		}
	}
}
