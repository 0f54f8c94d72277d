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

func BenchmarkLoss(b *testing.B) {
	for _, name := range []string{"cpu", "cpu:products=bf16"} {
		backend, err := compute.NewWithConfig(name)
		if err != nil {
			b.Fatal(err)
		}
		for _, width := range []int{128, 512} {
			for _, words := range []int{1000, 3000, 12000, 48000} {
				b.Run(fmt.Sprintf("%s/width%d/words%d", name, width, words), func(b *testing.B) {
					exec, err := model.NewExec(backend, model.NewStore(), func(_ *model.Scope, h, w, target *Node) []*Node {
						factors := &universal.Factors{States: h, Weights: w, Tied: true}
						result := universal.Result{Logits: factors.Logits(), Factors: factors}
						loss, tally := objective.Objective{LabelSmoothing: 0.1}.Of(result, target, Scalar(h.Graph(), dtypes.Float32, 0))
						g := Gradient(loss, h, w)
						return []*Node{tally, g[0], g[1]}
					})
					if err != nil {
						b.Fatal(err)
					}
					defer exec.Finalize()
					h, w := tensors.FromShape(shapes.Make(dtypes.Float32, 32, 64, width)), tensors.FromShape(shapes.Make(dtypes.Float32, words, width))
					target := tensors.FromShape(shapes.Make(dtypes.Int32, 32, 64))
					tensors.MustMutableFlatData(target, func(flat []int32) {
						for i := range flat {
							flat[i] = int32(i * 7919 % words)
						}
					})
					for _, x := range []*tensors.Tensor{h, w} {
						tensors.MustMutableFlatData(x, func(flat []float32) {
							for i := range flat {
								flat[i] = float32(i*7919%1000)/1000 - .5
							}
						})
					}
					for b.Loop() {
						out := exec.MustCall(h, w, target)
						for _, o := range out {
							o.MustFinalizeAll()
						}
					}
					products := 6 * 2048 * float64(width*words)
					b.ReportMetric(products*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
				})
			}
		}
	}
}
