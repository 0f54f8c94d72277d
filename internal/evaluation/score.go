package evaluation

import (
	"context"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/internal/batch"
	"universal-transformer/internal/capacity"
	"universal-transformer/internal/feed"
	"universal-transformer/internal/objective"
	"universal-transformer/task"
	"universal-transformer/universal"
)

// Score returns the log-probability of every target token, given the true tokens before it (teacher forcing), by the model or by its mixture
// with a Cache.
func (e *Evaluator) Score(ctx context.Context, examples []task.Example) ([]task.Scored, error) {
	if e.Cache != nil {
		histories, err := e.histories(ctx, examples)
		return e.Cache.scores(histories), err
	}
	scored := make([]task.Scored, len(examples))
	var encoder, decoder counter
	err := e.eachKept(ctx, examples, "score", e.static().scores, func(b batch.Batch, out []*tensors.Tensor) {
		logProbs, best := tensors.MustCopyFlatData[float32](out[0]), tensors.MustCopyFlatData[int32](out[1])
		for i, at := range b.Index {
			start, n := i*b.TargetLength, len(examples[at].Target)
			for _, p := range logProbs[start : start+n] {
				scored[at].LogProbs = append(scored[at].LogProbs, float64(p))
			}
			scored[at].Best = append(scored[at].Best, best[start:start+n]...)
		}
		e.observe(out[2:], &encoder, &decoder)
	})
	return scored, err
}

// scores is the graph of Score.
func (e *Evaluator) scores(scope *model.Scope, nodes []*Node, c capacity.Capacities) ([]*Node, universal.Result) {
	in, result := e.forward(scope, nodes, c)
	outputs := []*Node{objective.TargetLogProbs(result.Logits, in.Target), objective.Best(result.Logits, feed.Integer)}
	return append(outputs, e.updates(result)...), result
}

// updates returns the steps of every position for encoder and decoder, with an empty tensor for a stack that does not exist or whose
// steps are not counted.
func (e *Evaluator) updates(result universal.Result) []*Node {
	var list []*Node
	for _, pass := range []*universal.Pass{result.Encoder, result.Decoder} {
		if pass == nil || !pass.Weighted() && !e.CountSteps {
			list = append(list, Zeros(result.Logits.Graph(), none))
			continue
		}
		list = append(list, ConvertDType(pass.Updates, feed.Integer))
	}
	return list
}

// observe adds the steps of a batch.
func (e *Evaluator) observe(out []*tensors.Tensor, encoder, decoder *counter) {
	encoder.add(out[0])
	decoder.add(out[1])
	if e.Steps != nil {
		e.Steps(encoder.steps(), decoder.steps())
	}
}
