package universal

import (
	"math"
	"testing"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine/enginetest"
)

// The layer norm is that of a plain loop, also where channels differ so little that epsilon, 1e-6 as in tensor2tensor's layer_norm,
// counts for more than their variance.
// Caught when planted: another epsilon, one outside of the root, a variance of one channel fewer.
func TestLayerNorm(t *testing.T) {
	const epsilon = 1e-6
	rows := [][]float64{{3, -1, 0.5, 2, -2}, {1e-3, 2e-3, -1e-3, 0, 3e-3}, {1 + 1e-4, 1, 1 - 1e-4, 1, 1}, {4, 4, 4, 4, 4}}
	exec, err := model.NewExec(enginetest.Backend(t), model.NewStore(), func(scope *model.Scope, x *Node) *Node {
		s := &stack{Config: Config{Width: 5, Precision: dtypes.Float64}, layer: scope}
		return s.norm("norm", x)
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	out, err := exec.Call(rows)
	if err != nil {
		t.Fatal(err)
	}
	got := tensors.MustCopyFlatData[float64](out[0])
	for i, row := range rows {
		mean, variance := 0.0, 0.0
		for _, x := range row {
			mean += x / 5
		}
		for _, x := range row {
			variance += (x - mean) * (x - mean) / 5
		}
		for j, x := range row {
			if want := (x - mean) / math.Sqrt(variance+epsilon); math.Abs(got[5*i+j]-want) > 1e-9 {
				t.Errorf("row %d, channel %d: %v, want %v", i, j, got[5*i+j], want)
			}
		}
	}
}
