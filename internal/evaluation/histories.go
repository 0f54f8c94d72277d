package evaluation

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/internal/batch"
	"universal-transformer/internal/capacity"
	"universal-transformer/internal/feed"
	"universal-transformer/internal/objective"
	"universal-transformer/internal/score"
	"universal-transformer/task"
	"universal-transformer/universal"
)

// Constants from which [Evaluator.TuneCache] chooses.
var (
	cacheThetas  = []float64{0, 0.003, 0.01, 0.03, 0.1, 0.3, 1}
	cacheLambdas = []float64{0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}
)

// TuneCache returns the constants, from a fixed grid, with which the first perplexity of the measure is lowest on the examples. The model runs
// once. Examples should be those of validation.
func (e *Evaluator) TuneCache(ctx context.Context, by task.Measure, examples []task.Example) (best Cache, err error) {
	histories, err := e.histories(ctx, examples)
	if err != nil {
		return best, err
	}
	lowest := math.Inf(1)
	for _, theta := range cacheThetas {
		shares := make([][][]float32, len(histories))
		for i, h := range histories {
			shares[i] = h.shares(theta)
		}
		for _, lambda := range cacheLambdas {
			if err := ctx.Err(); err != nil {
				return best, err
			}
			p, err := perplexityOf(ctx, by, remembered{e, histories, shares, lambda}, examples)
			if err != nil {
				return best, err
			}
			if p < lowest {
				best, lowest = Cache{theta, lambda}, p
			}
		}
	}
	if math.IsInf(lowest, 1) {
		return best, fmt.Errorf("the constants of a cache cannot be chosen: no perplexity is finite")
	}
	return best, nil
}

// perplexityOf returns the first perplexity of a measure.
func perplexityOf(ctx context.Context, by task.Measure, m task.Model, examples []task.Example) (float64, error) {
	result, err := by.Measure(ctx, m, examples)
	if err != nil {
		return 0, err
	}
	at := slices.IndexFunc(result.Metrics, func(m score.Metric) bool { return strings.Contains(m.Name, "perplexity") })
	if at < 0 {
		return 0, fmt.Errorf("the measure has no perplexity by which the constants of a cache could be chosen")
	}
	return result.Metrics[at].Value, nil
}

// remembered scores the examples of histories.
type remembered struct {
	*Evaluator
	histories []history
	shares    [][][]float32 // p_cache of each example
	lambda    float64
}

// Score mixes the histories with the cache.
func (r remembered) Score(context.Context, []task.Example) ([]task.Scored, error) {
	scored := make([]task.Scored, len(r.histories))
	for i, h := range r.histories {
		scored[i] = h.mixed(r.shares[i], r.lambda)
	}
	return scored, nil
}

// histories runs a language model over examples.
func (e *Evaluator) histories(ctx context.Context, examples []task.Example) ([]history, error) {
	list := make([]history, len(examples))
	var encoder, decoder counter
	err := e.each(ctx, examples, e.static().cached, func(b batch.Batch, out []*tensors.Tensor) {
		logProbs, best := tensors.MustCopyFlatData[float32](out[0]), tensors.MustCopyFlatData[int32](out[1])
		bestLogProbs := tensors.MustCopyFlatData[float32](out[2])
		similar, logits := tensors.MustCopyFlatData[float32](out[3]), tensors.MustCopyFlatData[float32](out[4])
		for i, at := range b.Index {
			h := history{tokens: examples[at].Target}
			h.setFirst()
			start, n := i*b.TargetLength, len(h.tokens)
			h.logProbs, h.best = wide(logProbs[start:start+n]), slices.Clone(best[start:start+n])
			for t := range n {
				h.bestProb = append(h.bestProb, math.Exp(float64(bestLogProbs[start+t])))
				row := (start + t) * b.TargetLength
				h.similar = append(h.similar, slices.Clone(similar[row:row+t]))
				of := slices.Clone(logits[row : row+t+1])
				for i, logit := range of {
					of[i] = float32(math.Exp(h.logProbs[t] + float64(logit) - float64(logits[row+t])))
				}
				h.model = append(h.model, of)
			}
			list[at] = h
		}
		e.observe(out[5:], &encoder, &decoder)
	})
	return list, err
}

// cached is the graph of histories: log-probabilities and best tokens as of Score, the log-probabilities of the best tokens, the products of
// all pairs of states, and the logits of all tokens of an example at all of its positions. The last two are [B, N, N].
func (e *Evaluator) cached(scope *model.Scope, nodes []*Node, c capacity.Capacities) ([]*Node, universal.Result) {
	in, result := e.forward(scope, nodes, c)
	if result.Factors == nil || result.Encoder != nil {
		panic(fmt.Errorf("a model of type %T has no continuous cache, which needs a language model", e.Model))
	}
	best, h, readout := objective.Best(result.Logits, feed.Integer), result.Factors.States, result.Factors.Weights
	if !result.Factors.Tied {
		readout = Transpose(readout, 0, 1) // [V, D]
	}
	tokens := Gather(readout, InsertAxes(in.Target, -1)) // [B, N, D]
	outputs := []*Node{
		objective.TargetLogProbs(result.Logits, in.Target), best, objective.TargetLogProbs(result.Logits, best),
		Einsum("bnd,bmd->bnm", h, h), Einsum("bnd,bmd->bnm", h, tokens),
	}
	return append(outputs, e.updates(result)...), result
}
