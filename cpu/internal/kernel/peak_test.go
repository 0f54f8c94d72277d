package kernel

import (
	"testing"
	"unsafe"

	"github.com/gomlx/compute/dtypes"
)

// The loop computes a whole product, which has as many multiplications and additions as it says: with ones, each element of the result is
// the number of terms.
func TestPeakLoopMultiplies(t *testing.T) {
	for _, set := range []*Set{Best(), Portable} {
		l := set.Gemm[dtypes.Float32].NewPeakLoop()
		ones := func(memory []float64) []float32 { return slice[float32](unsafe.Pointer(&memory[0]), 2*len(memory)) }
		for _, memory := range [][]float64{l.left, l.panel} {
			for i := range ones(memory) {
				ones(memory)[i] = 1
			}
		}
		l.Run(3)
		elements := l.product.M * l.product.N
		sum := 0.0
		for _, v := range ones(l.right)[:elements] {
			if v != 128 {
				t.Fatalf("%s: an element is %v, want 128", set.Level, v)
			}
			sum += float64(v)
		}
		if got := l.Operations(); got != 2*sum {
			t.Errorf("%s: %v operations, want %v", set.Level, got, 2*sum)
		}
	}
}
