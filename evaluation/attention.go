package evaluation

import (
	"context"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/batch"
	"universal-transformer/internal/feed"
	"universal-transformer/task"
	"universal-transformer/universal"
)

// LastAttention is where the last position of every example's source looked: for every step, a share for every real position, the
// mean over heads.
func (e Evaluator) LastAttention(ctx context.Context, m universal.Model, examples []task.Example) ([][][]float64, error) {
	exec, err := model.NewExec(e.Backend, e.Store, func(scope *model.Scope, nodes []*Node) []*Node {
		scope.Store().SetTraining(nodes[0].Graph(), false)
		in, _ := feed.Inputs(nodes, true, false)
		result := m.Forward(scope, in, universal.Options{ReturnAttention: true})
		steps := make([]*Node, len(result.Encoder.Attention))
		for t, shares := range result.Encoder.Attention { // [B, K, M, M]
			steps[t] = universal.Last(ReduceMean(shares, 1), result.Encoder.Mask) // [B, 1, M]
		}
		return append(steps, result.Logits) // nobody reads the logits; an engine may want every parameter used before its last output
	})
	if err != nil {
		return nil, err
	}
	defer exec.Finalize()
	exec.SetMaxCache(-1)
	looked := make([][][]float64, len(examples))
	for _, b := range batch.Chunk(examples, e.Plan) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out, err := exec.Call(feed.Tensors(b, nil)...)
		if err != nil {
			return nil, err
		}
		for t, tensor := range out {
			if t < len(out)-1 {
				spread(looked, b, examples, tensors.MustCopyFlatData[float32](tensor))
			}
			_ = tensor.FinalizeAll()
		}
	}
	return looked, nil
}

// spread adds one step of a batch to its examples.
func spread(looked [][][]float64, b batch.Batch, examples []task.Example, shares []float32) {
	for i, at := range b.Index {
		row := make([]float64, len(examples[at].Source)/max(b.TokensPerPosition, 1))
		for p := range row {
			row[p] = float64(shares[i*b.SourcePositions()+p])
		}
		looked[at] = append(looked[at], row)
	}
}
