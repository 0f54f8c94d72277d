package cpu_test

import (
	"errors"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/layers/attention"
	"universal-transformer/cpu"
)

// The memory of attention to 4,096 keys: attention.Core without options, causal or with a mask does not keep the scores, with and without
// gradients. Attention in other forms does: written in plain operations, with a bias, lengths, a cap of the scores or coefficients, or with
// fewer heads of keys than of queries. Caught when planted: attention in blocks for twice as many keys only; a gradient that is computed as
// a whole.
func TestAttentionMemory(t *testing.T) {
	const length, heads, channels = 4096, 4, 16
	const scores = 4 * heads * length * length // bytes
	core := func(options func(q *Node) attention.CoreOptions) func(q, k *Node) *Node {
		return func(q, k *Node) *Node {
			y, _ := attention.Core(q, k, k, attention.LayoutBSHD, options(q))
			return y
		}
	}
	for _, c := range []struct {
		name   string
		keys   int // heads of keys
		blocks bool
		build  func(q, k *Node) *Node
	}{
		{"attention.Core", heads, true, core(func(*Node) attention.CoreOptions { return attention.CoreOptions{} })},
		{"causal", heads, true, core(func(*Node) attention.CoreOptions { return attention.CoreOptions{UseCausalMask: true} })},
		{"mask", heads, true, core(func(q *Node) attention.CoreOptions {
			return attention.CoreOptions{AttentionMask: GreaterThan(Reshape(IotaFull(q.Graph(), shapes.Make(dtypes.Float32, length)), 1, 1, 1, length), Scalar(q.Graph(), dtypes.Float32, 7))}
		})},
		{"plain operations", heads, false, func(q, k *Node) *Node {
			return Einsum("bhmn,bnhd->bmhd", Softmax(MulScalar(Einsum("bmhd,bnhd->bhmn", q, k), 0.25), -1), k)
		}},
		{"bias", heads, false, core(func(q *Node) attention.CoreOptions {
			return attention.CoreOptions{AttentionBias: Zeros(q.Graph(), shapes.Make(dtypes.Float32, 1, heads, 1, length))}
		})},
		{"lengths", heads, false, core(func(q *Node) attention.CoreOptions {
			return attention.CoreOptions{KVSeqLen: Const(q.Graph(), []int32{length - 5})}
		})},
		{"cap", heads, false, core(func(*Node) attention.CoreOptions { return attention.CoreOptions{ScoreSoftCap: 5} })},
		{"coefficients", heads, false, core(func(*Node) attention.CoreOptions { return attention.CoreOptions{WantCoefficients: true} })},
		{"shared keys", heads / 2, false, core(func(*Node) attention.CoreOptions { return attention.CoreOptions{} })},
	} {
		for _, gradient := range []bool{false, true} {
			backend, err := compute.NewWithConfig("cpu:threads=2")
			if err != nil {
				t.Fatal(err)
			}
			cpu.SetMemory(backend, scores/4, 0)
			exec := MustNewExec(backend, func(q, k *Node) *Node {
				y := c.build(q, k)
				if gradient {
					return Gradient(ReduceAllSum(Square(y)), k)[0]
				}
				return y
			})
			_, err = exec.Compile(shapes.Make(dtypes.Float32, 1, length, heads, channels), shapes.Make(dtypes.Float32, 1, length, c.keys, channels))
			var short *cpu.MemoryError
			switch refused := errors.As(err, &short); {
			case err != nil && !refused:
				t.Errorf("%s, gradient %v: %v", c.name, gradient, err)
			case c.blocks && refused:
				t.Errorf("%s, gradient %v: needs %d bytes, whole scores are %d", c.name, gradient, short.Need, scores)
			case !c.blocks && (!refused || short.Need < scores):
				t.Errorf("%s, gradient %v: does not need the %d bytes of whole scores; say so in docs/cpu.md", c.name, gradient, scores)
			}
			backend.Finalize()
		}
	}
}
