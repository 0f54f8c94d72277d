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

// Without an exit and without readouts, graphs have the nodes that they had before there were any: recorded then, a token of cached
// decoding and a pass of a classifier for each policy. Caught when planted: readouts that are always computed.
func TestNoNodesWithoutExit(t *testing.T) {
	a := halting.ACT{MaxSteps: 4, Epsilon: 0.05}
	for _, c := range []struct {
		policy               halting.Policy
		decoding, classifier int
	}{
		{halting.Fixed{Steps: 4}, 936, 364}, {halting.Length{Max: 4}, 987, 391}, {halting.Listing{ACT: a}, 1135, 463}, {halting.Graves{ACT: a}, 1105, 448}, {halting.Frozen{ACT: a}, 1129, 460},
	} {
		config := small()
		config.Halting = c.policy
		m := universal.EncoderDecoder{Config: config}
		decoding := nodesOf(t, func(scope *model.Scope, ids *Node) *Node {
			cache := &universal.Cache{Length: Scalar(ids.Graph(), ids.DType(), 3), Source: m.CacheSource(scope, ids)}
			for _, shape := range m.CacheShapes(2, 16, 5) {
				cache.Tensors = append(cache.Tensors, Zeros(ids.Graph(), shape))
			}
			return m.DecodeStep(scope, SliceAxis(ids, 1, AxisRange(0, 1)), cache)
		})
		classifier := nodesOf(t, func(scope *model.Scope, ids *Node) *Node {
			return universal.Encoder{Config: config}.Forward(scope, universal.Inputs{Source: ids}, universal.Options{}).Logits
		})
		if decoding != c.decoding || classifier != c.classifier {
			t.Errorf("%T: %d nodes of decoding, %d of a classifier; recorded were %d and %d: record the new numbers if the step itself has more nodes; "+
				"otherwise they are nodes of readouts or exits, which nothing asks for here", c.policy, decoding, classifier, c.decoding, c.classifier)
		}
	}
}

// nodesOf returns the number of nodes of a graph over ids [2, 5].
func nodesOf(t *testing.T, build func(scope *model.Scope, ids *Node) *Node) (count int) {
	t.Helper()
	exec, err := model.NewExec(enginetest.Backend(t), model.NewStore(), func(scope *model.Scope, ids *Node) *Node {
		out := build(scope, ids)
		count = len(out.Graph().Nodes())
		return out
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	if _, err := exec.Compile(shapes.Make(dtypes.Int32, 2, 5)); err != nil {
		t.Fatal(err)
	}
	return count
}
