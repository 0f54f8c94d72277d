package experiment

import (
	"math"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine/enginetest"
	"universal-transformer/halting"
	"universal-transformer/internal/objective"
	"universal-transformer/universal"
)

// With a vocabulary so large that the loss is computed from factors of the logits, the loss of every supervision and its gradients are those
// of the same model without factors.
// Caught when planted: a supervision whose loss reads the costs of single positions and whose weighsPositions returns false.
func TestSupervisionsOfManyWords(t *testing.T) {
	for _, r := range (supervisions{}).rows() {
		t.Run(r.key, func(t *testing.T) {
			m := universal.Decoder{Config: universal.Config{
				TargetVocabulary: 2100, Width: 6, Heads: 2, Transition: universal.FeedForward{Filter: 5}, Seed: 4,
				Halting: halting.Frozen{ACT: halting.ACT{MaxSteps: 3, Epsilon: 0.01, Bias: -1}},
			}}
			o := objective.Objective{Supervision: r.defaults, LabelSmoothing: 0.1}
			exec, err := model.NewExec(enginetest.Backend(t), model.NewStore(), func(scope *model.Scope, target *graph.Node) []*graph.Node {
				result := m.Forward(scope, universal.Inputs{Target: target}, o.Options())
				if len(result.ReadoutFactors) != len(result.Readouts) {
					t.Fatal("the model has no factors: the test shows nothing")
				}
				zero := graph.ScalarZero(target.Graph(), result.Logits.DType())
				factored, _ := o.Of(result, target, zero)
				result.Factors, result.ReadoutFactors = nil, nil
				whole, _ := o.Of(result, target, zero)
				out := append([]*graph.Node{factored}, scope.BuildTrainableVariablesGradientsGraph(factored)...)
				return append(append(out, whole), scope.BuildTrainableVariablesGradientsGraph(whole)...)
			})
			if err != nil {
				t.Fatal(err)
			}
			defer exec.Finalize()
			out, err := exec.Call([][]int32{{1700, 3, 2, 900, 1}, {5, 2099, 1, 0, 0}})
			if err != nil {
				t.Fatal(err)
			}
			factored, whole := out[:len(out)/2], out[len(out)/2:]
			for i := range whole {
				got, want := tensors.MustCopyFlatData[float32](factored[i]), tensors.MustCopyFlatData[float32](whole[i])
				for j := range want {
					if math.Abs(float64(got[j]-want[j])) > 1e-5*max(1, math.Abs(float64(want[j]))) {
						t.Fatalf("output %d, %d: %v, want %v", i, j, got[j], want[j])
					}
				}
			}
		})
	}
}
