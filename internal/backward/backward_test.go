package backward_test

import (
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"universal-transformer/engine/enginetest"
	"universal-transformer/internal/backward"
)

// The value is that of the product, and the gradients are those of the function, 3 and -2 times dx, not those of the product.
// Caught when planted: the gradients of the inputs exchanged; dx of the product in place of the function's.
func TestWith(t *testing.T) {
	out := MustExecOnceN(enginetest.Backend(t), func(a, b *Node) []*Node {
		product := Mul(a, b)
		y := backward.With(StopGradient(product), []*Node{a, b}, func(dx *Node) []*Node {
			return []*Node{MulScalar(dx, 3), MulScalar(dx, -2)}
		})
		weights := IotaFull(y.Graph(), y.Shape()) // 0, 1, 2
		return append([]*Node{y}, Gradient(ReduceAllSum(Mul(y, weights)), a, b)...)
	}, []float32{2, 3, 5}, []float32{7, 11, 13})
	for i, want := range [][]float32{{14, 33, 65}, {0, 3, 6}, {0, -2, -4}} {
		if have := out[i].Value().([]float32); !slices.Equal(have, want) {
			t.Errorf("output %d: %v, want %v", i, have, want)
		}
	}
}

// Gradients that x has remain. Caught when planted: StopGradient of x in With.
func TestOtherGradientsRemain(t *testing.T) {
	out := MustExecOnce(enginetest.Backend(t), func(a, b *Node) *Node {
		y := backward.With(Mul(a, b), []*Node{b}, func(dx *Node) []*Node { return []*Node{dx} })
		return Gradient(ReduceAllSum(y), a)[0]
	}, []float32{2, 3}, []float32{7, 11})
	if have := out.Value().([]float32); !slices.Equal(have, []float32{7, 11}) {
		t.Errorf("%v", have)
	}
}
