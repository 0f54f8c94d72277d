package kernel

import (
	"fmt"
	"math"
	"math/rand"
	"testing"
	"unsafe"

	"github.com/gomlx/compute/dtypes"
)

// The kernels of attention agree with loops in double precision: rows padded and not, one row of additions for all or one for each, hidden
// elements, and rows of which every element is hidden.
func TestAttention(t *testing.T) {
	for _, set := range sets {
		t.Run(string(set.Level)+"/float32", func(t *testing.T) { compareAttention[float32](t, set.Attention[dtypes.Float32], 3e-6) })
		t.Run(string(set.Level)+"/float64", func(t *testing.T) { compareAttention[float64](t, set.Attention[dtypes.Float64], 1e-14) })
	}
}

func compareAttention[T Float](t *testing.T, kernels *Attention, tolerance float64) {
	rng := rand.New(rand.NewSource(1))
	size := int(unsafe.Sizeof(T(0)))
	for i, width := range []int{1, 2, 5, 9, 40} {
		width, rows, scale, shared := width*kernels.Lanes, 3+i, 0.3, i%2 == 0
		stride := width + 16
		scores, gradients := draw[T](rng, rows*stride, false), draw[T](rng, rows*stride, false)
		add := draw[T](rng, rows*width, false)
		addRow := width
		if shared {
			addRow = 0
		}
		for j := range add {
			if rng.Intn(4) == 0 || j >= width && j < 2*width {
				add[j] = T(math.Inf(-1)) // with additions of its own, row 1 is hidden
			}
		}
		p, d := make([]float64, rows*width), make([]float64, rows*width)
		for r := range rows {
			largest, sum, dot := math.Inf(-1), 0.0, 0.0
			for j := range width {
				p[r*width+j] = float64(scores[r*stride+j])*scale + float64(add[r*addRow+j])
				largest = max(largest, p[r*width+j])
			}
			for j := range width {
				if p[r*width+j] = math.Exp(p[r*width+j] - largest); math.IsInf(largest, -1) {
					p[r*width+j] = 0
				}
				sum += p[r*width+j]
			}
			for j := range width {
				p[r*width+j] /= max(sum, 1e-300)
				dot += p[r*width+j] * float64(gradients[r*stride+j])
			}
			for j := range width {
				d[r*width+j] = scale * p[r*width+j] * (float64(gradients[r*stride+j]) - dot)
			}
		}
		again := append([]T(nil), scores...)
		largest, inverse := make([]T, rows), make([]T, rows)
		call := &AttentionCall{Scores: pointer(scores), DScores: pointer(gradients), Add: pointer(add), Largest: pointer(largest), Inverse: pointer(inverse),
			Rows: rows, Width: width, RowBytes: stride * size, AddRow: addRow * size, Scale: scale}
		outside := append([]T(nil), scores[width:stride]...)
		kernels.Softmax(call)
		same := func(what string, got []T, want []float64) {
			for k, v := range want {
				if x := got[k/width*stride+k%width]; !(math.Abs(float64(x)-v) <= tolerance) {
					t.Errorf("%s, width %d, row %d, element %d: %v, want %v", what, width, k/width, k%width, x, v)
					return
				}
			}
		}
		same("softmax", scores, p)
		if fmt.Sprint(outside) != fmt.Sprint(scores[width:stride]) {
			t.Errorf("width %d: written behind a row", width)
		}
		call.Scores = pointer(again)
		kernels.Gradient(call)
		same("weights of the gradient", again, p)
		same("gradient", gradients, d)
	}
}
