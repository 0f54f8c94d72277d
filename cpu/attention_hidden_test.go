package cpu_test

import (
	"math/rand/v2"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/layers/attention"
)

// Keys that are hidden from all queries at the end are left out, and nothing else changes, to the last bit: a mask of booleans gives the
// same as one of numbers whose hidden keys have the weight 0 only because their exponential is 0. One query and several, head dimensions
// with and without whole vectors, numbers of keys that are no multiples of anything.
// Caught when planted: one key too few; a number of keys that is no multiple of the partial sums.
func TestHiddenKeysAtTheEnd(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 2))
	for _, config := range configs {
		b, err := compute.NewWithConfig(config)
		if err != nil {
			continue
		}
		for _, dtype := range []dtypes.DType{dtypes.Float32, dtypes.Float64} {
			exec := MustNewExec(b, func(q, k, v, seen *Node) []*Node {
				q, k, v = ConvertDType(q, dtype), ConvertDType(k, dtype), ConvertDType(v, dtype)
				hidden := MulScalar(ConvertDType(LogicalNot(seen), dtype), -1e30)
				left, _ := attention.Core(q, k, v, attention.LayoutBSHD, attention.CoreOptions{AttentionMask: seen, Scale: 0.25})
				all, _ := attention.Core(q, k, v, attention.LayoutBSHD, attention.CoreOptions{AttentionMask: hidden, Scale: 0.25})
				return []*Node{ConvertDType(left, dtypes.Float64), ConvertDType(all, dtypes.Float64)}
			})
			for _, c := range []struct{ rows, queries, keys, heads, channels int }{{3, 1, 32, 2, 48}, {2, 4, 32, 3, 16}, {3, 1, 23, 2, 16}, {2, 1, 8, 2, 5}, {2, 3, 70, 1, 24}, {2, 1, 600, 1, 16}} {
				draw := func(positions int) *tensors.Tensor {
					x := make([]float64, c.rows*positions*c.heads*c.channels)
					for i := range x {
						x[i] = rng.NormFloat64()
					}
					return tensors.FromFlatDataAndDimensions(x, c.rows, positions, c.heads, c.channels)
				}
				q, k, v := draw(c.queries), draw(c.keys), draw(c.keys)
				for _, visible := range []int{1, 2, 5, c.keys / 2, c.keys - 3, c.keys - 1, c.keys} {
					seen := make([]bool, c.rows*c.keys)
					for i := range seen {
						row := i / c.keys // rows differ, and one may see nothing
						seen[i] = i%c.keys < visible-row && i%7 != 3
					}
					out := exec.MustCall(q, k, v, tensors.FromFlatDataAndDimensions(seen, c.rows, 1, 1, c.keys))
					left, all := tensors.MustCopyFlatData[float64](out[0]), tensors.MustCopyFlatData[float64](out[1])
					for i := range left {
						if row := i / (c.queries * c.heads * c.channels); seesAny(seen[row*c.keys:][:c.keys]) && left[i] != all[i] {
							t.Fatalf("%s, %s, %+v, %d visible: element %d is %v, and with all keys %v", config, dtype, c, visible, i, left[i], all[i])
						}
					}
				}
			}
			exec.Finalize()
		}
		b.Finalize()
	}
}

func seesAny(seen []bool) bool {
	for _, s := range seen {
		if s {
			return true
		}
	}
	return false
}
