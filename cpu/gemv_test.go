package cpu_test

import (
	"math/rand/v2"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// A product of one row has the bits that the row has among others, whatever the kernel: what is decoded alone is what is decoded in a batch.
// Caught when planted: sums in another order; columns of the next panel; a block of terms that is not added to those before.
func TestOneRowAlone(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	for _, config := range configs {
		b, err := compute.NewWithConfig(config)
		if err != nil {
			continue
		}
		for _, dtype := range []dtypes.DType{dtypes.Float32, dtypes.Float64} {
			exec := MustNewExec(b, func(x, w *Node) []*Node {
				x, w = ConvertDType(x, dtype), ConvertDType(w, dtype)
				alone := Dot(Slice(x, AxisElem(2)), w).Product()
				return []*Node{alone, Slice(Dot(x, w).Product(), AxisElem(2))}
			})
			for _, c := range []struct{ k, n int }{{7, 64}, {128, 128}, {128, 512}, {700, 200}, {1100, 72}, {33, 96}, {5, 24}, {64, 13}} {
				x, w := make([]float64, 5*c.k), make([]float64, c.k*c.n)
				for i := range x {
					x[i] = rng.NormFloat64()
				}
				for i := range w {
					w[i] = rng.NormFloat64()
				}
				out := exec.MustCall(tensors.FromFlatDataAndDimensions(x, 5, c.k), tensors.FromFlatDataAndDimensions(w, c.k, c.n))
				if !out[0].Equal(out[1]) {
					t.Errorf("%s, %s, %+v: %v alone, %v among others", config, dtype, c, out[0], out[1])
				}
			}
			exec.Finalize()
		}
		b.Finalize()
	}
}
