package evaluation

import (
	"context"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/internal/batch"
	"universal-transformer/internal/capacity"
	"universal-transformer/internal/feed"
	"universal-transformer/task"
	"universal-transformer/universal"
)

// Inspected is what the model did at the positions of an example.
type Inspected struct {
	Source, Target  []int     // number of steps of each position; nil for a stack that the model does not have
	Aligned         []int     // for each target position, the source position with most of its attention, from 0; nil without attention to a source
	AttentionShares []float64 // the share of that position: the mean over heads and over the steps that the target position ran
}

// Inspect runs the model once over examples, whose targets are given to it, and returns its steps and its attention to the sources.
func (e *Evaluator) Inspect(ctx context.Context, examples []task.Example) ([]Inspected, error) {
	list := make([]Inspected, len(examples))
	counting := *e
	counting.CountSteps, counting.ComputeHalted = true, true
	aligned := false
	graph := func(scope *model.Scope, nodes []*Node, _ capacity.Capacities) ([]*Node, universal.Result) {
		scope.Store().SetTraining(nodes[0].Graph(), false)
		in, _ := feed.Inputs(nodes, len(nodes) == 2, false)
		result := e.Model.Forward(scope, in, universal.Options{ReturnAttention: true})
		outputs := counting.updates(result)
		if aligned = result.Decoder != nil && len(result.Decoder.CrossAttention) > 0; aligned {
			shares := meanAttention(result.Decoder) // [B, N, M]
			outputs = append(outputs, ArgMax(shares, -1, feed.Integer), ReduceMax(shares, -1))
		}
		return append(outputs, result.Logits), result // the logits are not read; see LastAttention
	}
	err := counting.each(ctx, examples, graph, func(b batch.Batch, out []*tensors.Tensor) {
		for i, at := range b.Index {
			one := &list[at]
			one.Source, one.Target = stepsOfRow(out[0], i), stepsOfRow(out[1], i)
			if !aligned {
				continue
			}
			n := len(examples[at].Target)
			for _, position := range tensors.MustCopyFlatData[int32](out[2])[i*b.TargetLength:][:n] {
				one.Aligned = append(one.Aligned, int(position))
			}
			for _, share := range tensors.MustCopyFlatData[float32](out[3])[i*b.TargetLength:][:n] {
				one.AttentionShares = append(one.AttentionShares, float64(share))
			}
		}
	})
	return list, err
}

// meanAttention returns the attention to the source, [B, N, M], as a mean over heads and over the steps that each position ran.
func meanAttention(decoder *universal.Pass) *Node {
	var sum *Node
	for t, weights := range decoder.CrossAttention { // [B, K, N, M]
		ran := ConvertDType(GreaterThan(decoder.Updates, Scalar(weights.Graph(), decoder.Updates.DType(), float64(t))), weights.DType()) // [B, N]
		step := Mul(ReduceMean(weights, 1), InsertAxes(ran, -1))
		if sum == nil {
			sum = step
		} else {
			sum = Add(sum, step)
		}
	}
	return Div(sum, InsertAxes(MaxScalar(ConvertDType(decoder.Updates, sum.DType()), 1.0), -1))
}

// stepsOfRow returns row i of steps [B, M] without padding, or nil for the empty tensor of a missing stack.
func stepsOfRow(steps *tensors.Tensor, i int) []int {
	if steps.Shape().Rank() != 2 {
		return nil
	}
	n := steps.Shape().Dim(1)
	return withoutPadding(tensors.MustCopyFlatData[int32](steps)[i*n : (i+1)*n])
}
