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
// The same holds for weights that do not change any more, which are packed, and for both together.
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
				x = ConvertDType(x, dtype)
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
				rows, weights := tensors.FromFlatDataAndDimensions(x, 5, c.k), converted(t, b, w, dtype, c.k, c.n)
				out := exec.MustCall(rows, weights)
				freeze(t, b, weights)
				out = append(out, exec.MustCall(rows, weights)...)
				for i, y := range out {
					if !y.Equal(out[0]) {
						t.Errorf("%s, %s, %+v: %v alone, %v as result %d (alone, among others, both with frozen weights)", config, dtype, c, out[0], y, i)
					}
				}
			}
			exec.Finalize()
		}
		b.Finalize()
	}
}

// converted returns numbers as a tensor of a type.
func converted(t *testing.T, b compute.Backend, values []float64, dtype dtypes.DType, dims ...int) *tensors.Tensor {
	t.Helper()
	return MustExecOnce(b, func(x *Node) *Node { return ConvertDType(x, dtype) }, tensors.FromFlatDataAndDimensions(values, dims...))
}

// freeze promises that a tensor does not change any more.
func freeze(t *testing.T, b compute.Backend, weights *tensors.Tensor) {
	t.Helper()
	buffer, err := weights.Buffer(b, 0)
	if err != nil {
		t.Fatal(err)
	}
	buffer.(interface{ Freeze() }).Freeze()
}
