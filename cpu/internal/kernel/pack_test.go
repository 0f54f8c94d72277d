package kernel

import (
	"math/rand"
	"slices"
	"testing"
	"unsafe"

	"github.com/gomlx/compute/dtypes"
)

// A strip of a transposed operand is copied as Go's loops copy it, for each number of rows, and nothing is written more than 16 bytes behind it, nor
// read behind the last row.
// Caught when planted: the step from one term to the next 64 bytes; all rows in place of those of the mask; one term too many.
func TestPackStrip(t *testing.T) {
	for _, set := range sets {
		kr := set.Gemm[dtypes.Float32]
		if kr.packStrip == nil {
			continue
		}
		rng := rand.New(rand.NewSource(7))
		for rows := 1; rows <= kr.MR; rows++ {
			for _, k := range []int{0, 1, 2, 77} {
				const row = 29
				a := draw[float32](rng, max(0, k-1)*row+rows, false)
				want, got := slices.Repeat([]float32{-1}, k*kr.MR+32), slices.Repeat([]float32{-1}, k*kr.MR+32)
				for i := range k {
					clear(want[i*kr.MR : (i+1)*kr.MR])
					copy(want[i*kr.MR:], a[i*row:i*row+rows])
				}
				kr.packStrip(pointer(got), unsafe.Pointer(unsafe.SliceData(a)), k, 4*row, 1<<rows-1)
				if end := k * kr.MR; !slices.Equal(want[:end], got[:end]) || !slices.Equal(want[end+4:], got[end+4:]) {
					t.Errorf("%s: %d rows, %d terms: %v, want %v", set.Level, rows, k, got, want)
				}
			}
		}
	}
}
