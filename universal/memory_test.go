package universal_test

import (
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine/enginetest"
	"universal-transformer/halting"
	"universal-transformer/universal"
)

// The memory of inference and of a training step grows with the length, not with its square: encoders and causal decoders, with dropout, and
// with positions that are left out. Graphs are only compiled. Caught when planted: whole scores with dropout; a mask of selected queries
// and keys; a triangular matrix for the positions of a selection.
func TestMemoryGrowsWithLength(t *testing.T) {
	adaptive := halting.Frozen{ACT: halting.ACT{MaxSteps: 3}}
	for _, c := range []struct {
		name     string
		policy   halting.Policy
		dropout  float64
		training bool
	}{
		{"fixed", halting.Fixed{Steps: 2}, 0, false}, {"fixed, training", halting.Fixed{Steps: 2}, 0, true},
		{"dropout", halting.Fixed{Steps: 2}, 0.1, true}, {"selected", adaptive, 0, true}, {"selected, dropout", adaptive, 0.1, true},
	} {
		config := universal.Config{SourceVocabulary: 5, TargetVocabulary: 5, Width: 16, Heads: 2, Transition: universal.FeedForward{Filter: 16},
			Halting: c.policy, Dropout: universal.Dropout{Attention: c.dropout}}
		need := func(length int) int {
			var capacities halting.Capacities
			if c.policy == halting.Policy(adaptive) {
				for _, share := range []int{8, 6, 4} {
					capacities = append(capacities, halting.Capacity{Positions: length * share / 8, Rows: 1, Longest: length * share / 8})
				}
			}
			return bytesOf(t, universal.EncoderDecoder{Config: config}, length, capacities, c.training)
		}
		if short, long := need(2000), need(8000); short == 0 {
			t.Skip("the backend does not report the memory of a graph")
		} else if float64(long) > 4.4*float64(short) {
			t.Errorf("%s: %d bytes for 2000 positions, %d for 8000", c.name, short, long)
		}
	}
}

// bytesOf returns the memory that a graph of one example needs, or 0 if the backend does not report it.
func bytesOf(t *testing.T, m universal.EncoderDecoder, length int, capacities halting.Capacities, training bool) int {
	t.Helper()
	exec, err := model.NewExec(enginetest.Backend(t), model.NewStore(), func(scope *model.Scope, source, target *Node) []*Node {
		scope.Store().SetTraining(source.Graph(), training)
		in := universal.Inputs{Source: source, Target: target, SourceCapacities: capacities, TargetCapacities: capacities}
		logits := m.Forward(scope, in, universal.Options{}).Logits
		if !training {
			return []*Node{logits}
		}
		var variables []*Node
		for v := range scope.Store().IterVariables() {
			if v.Trainable {
				variables = append(variables, v.NodeValue(logits))
			}
		}
		return Gradient(ReduceAllSum(Mul(logits, logits)), variables...)
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	ids := shapes.Make(dtypes.Int32, 1, length)
	g, err := exec.Compile(ids, ids)
	if err != nil {
		t.Fatal(err)
	}
	executable, ok := g.Executable().(interface{ Cost() (float64, int) })
	if !ok {
		return 0
	}
	_, bytes := executable.Cost()
	t.Logf("%d positions: %d bytes", length, bytes)
	return bytes
}
