package objective_test

import (
	"fmt"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/internal/objective"
	"universal-transformer/universal"
)

// BenchmarkLoss measures the loss of 2,048 positions, logits and all gradients included, from whole logits and from their factors. The rate
// is that of the three products.
func BenchmarkLoss(b *testing.B) {
	for _, name := range []string{"cpu", "cpu:products=bf16"} {
		backend, err := compute.NewWithConfig(name)
		if err != nil {
			b.Skip(err)
		}
		for _, width := range []int{128, 512} {
			for _, words := range []int{3000, 12000, 48000} {
				for _, layout := range []string{"logits", "tied", "untied"} {
					b.Run(fmt.Sprintf("%s/width=%d/words=%d/%s", name, width, words, layout), func(b *testing.B) {
						benchmarkLoss(b, backend, width, words, layout)
					})
				}
			}
		}
		backend.Finalize()
	}
}

func benchmarkLoss(b *testing.B, backend compute.Backend, width, words int, layout string) {
	b.ReportAllocs()
	weights := shapes.Make(dtypes.Float32, words, width)
	if layout == "untied" {
		weights = shapes.Make(dtypes.Float32, width, words)
	}
	exec, err := model.NewExec(backend, model.NewStore(), func(_ *model.Scope, h, w, target *Node) []*Node {
		f := &universal.Factors{States: h, Weights: w, Tied: layout != "untied"}
		result := universal.Result{Logits: f.Logits(), Factors: f}
		if layout == "logits" {
			result.Factors = nil
		}
		loss, tally := objective.Objective{}.Of(result, target, ScalarZero(h.Graph(), dtypes.Float32))
		return append(Gradient(loss, h, w), tally)
	})
	if err != nil {
		b.Fatal(err)
	}
	defer exec.Finalize()
	in := []any{filled(shapes.Make(dtypes.Float32, 32, 64, width)), filled(weights), tensors.FromShape(shapes.Make(dtypes.Int32, 32, 64))}
	tensors.MustMutableFlatData(in[2].(*tensors.Tensor), func(flat []int32) {
		for i := range flat {
			flat[i] = int32(1 + i*7919%(words-1))
		}
	})
	for b.Loop() {
		for _, out := range exec.MustCall(in...) {
			out.MustFinalizeAll()
		}
	}
	b.ReportMetric(6*2048*float64(width*words*b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}

// filled returns a tensor of numbers between -.5 and .5.
func filled(shape shapes.Shape) *tensors.Tensor {
	x := tensors.FromShape(shape)
	tensors.MustMutableFlatData(x, func(flat []float32) {
		for i := range flat {
			flat[i] = float32(i*7919%1000)/1000 - .5
		}
	})
	return x
}
