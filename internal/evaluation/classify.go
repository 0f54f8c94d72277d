package evaluation

import (
	"context"
	"fmt"
	"slices"

	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/decoding"
	"universal-transformer/internal/batch"
	"universal-transformer/internal/capacity"
	"universal-transformer/internal/feed"
	"universal-transformer/internal/objective"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
	"universal-transformer/universal"
)

var none = shapes.Make(feed.Integer, 1)

// Classify returns the most probable class of every example.
func (e *Evaluator) Classify(ctx context.Context, examples []task.Example) ([]task.Classified, error) {
	if _, decodes := e.Model.(decoding.Model); decodes {
		return nil, fmt.Errorf("a model of type %T has no classes", e.Model)
	}
	classified := make([]task.Classified, len(examples))
	var encoder, decoder counter
	graph := func(scope *model.Scope, nodes []*Node, c capacity.Capacities) ([]*Node, universal.Result) {
		in, result := e.forward(scope, nodes, c)
		outputs := []*Node{
			bestClass(result.Logits), objective.TargetLogProbs(result.Logits, in.Target),
			ConvertDType(result.Encoder.Updates, feed.Integer),
		}
		return append(outputs, e.updates(result)...), result
	}
	err := e.each(ctx, examples, graph, func(b batch.Batch, out []*tensors.Tensor) {
		class, logProb := tensors.MustCopyFlatData[int32](out[0]), tensors.MustCopyFlatData[float32](out[1])
		steps := tensors.MustCopyFlatData[int32](out[2])
		for i, at := range b.Index {
			row := steps[i*b.SourcePositions() : (i+1)*b.SourcePositions()]
			classified[at] = task.Classified{Class: class[i], LogProb: float64(logProb[i]), Updates: withoutPadding(row)}
		}
		e.observe(out[3:], &encoder, &decoder)
	})
	return classified, err
}

// Tag returns the probabilities of the classes at every position of every example. Targets are not read. The plan must be Aligned.
func (e *Evaluator) Tag(ctx context.Context, examples []task.Example) ([]task.Tagged, error) {
	if _, decodes := e.Model.(decoding.Model); decodes {
		return nil, fmt.Errorf("a model of type %T has no classes", e.Model)
	}
	tagged := make([]task.Tagged, len(examples))
	var encoder, decoder counter
	err := e.eachKept(ctx, examples, "class probabilities", e.static().classProbabilities, func(b batch.Batch, out []*tensors.Tensor) {
		all, n := tensors.MustCopyFlatData[float32](out[0]), out[0].Shape().Dimensions[2]
		for i, at := range b.Index {
			positions := len(examples[at].Source) / max(b.TokensPerPosition, 1)
			for p := range positions {
				start := (i*b.SourcePositions() + p) * n
				probabilities := wide(all[start : start+n])
				best := slices.Index(probabilities, slices.Max(probabilities))
				tagged[at].Tags = append(tagged[at].Tags, vocab.ID(firstClass+best))
				tagged[at].Probabilities = append(tagged[at].Probabilities, probabilities)
			}
		}
		e.observe(out[1:], &encoder, &decoder)
	})
	return tagged, err
}

// classProbabilities is the graph of Tag and Probabilities: the probabilities of the classes, [B, 1, V-2] or [B, M, V-2], and the steps.
func (e *Evaluator) classProbabilities(scope *model.Scope, nodes []*Node, c capacity.Capacities) ([]*Node, universal.Result) {
	_, result := e.forward(scope, nodes, c)
	return append([]*Node{Softmax(classes(result.Logits), -1)}, e.updates(result)...), result
}

// firstClass is the first id of a class: padding and End are none.
const firstClass = int(vocab.End) + 1

// classes returns the logits of the classes: [B, 1, V] -> [B, 1, V-2].
func classes(logits *Node) *Node {
	return Slice(logits, AxisRange(), AxisRange(), AxisRange(firstClass))
}

// bestClass returns the most probable class, [B, 1].
func bestClass(logits *Node) *Node {
	return AddScalar(objective.Best(classes(logits), feed.Integer), firstClass)
}

// ClassProbabilities is how a classifier answers an example.
type ClassProbabilities struct {
	Probabilities []float64 // of each class of the target vocabulary, the first one being that of the first token
	Updates       []int     // steps of each source position
}

// Probabilities returns the probabilities of all classes for every example. Targets are not read.
func (e *Evaluator) Probabilities(ctx context.Context, examples []task.Example) ([]ClassProbabilities, error) {
	found := make([]ClassProbabilities, len(examples))
	counting := *e
	counting.CountSteps = true
	sources := make([]task.Example, len(examples))
	for i, example := range examples {
		sources[i] = task.Example{Source: example.Source, Target: []vocab.ID{vocab.End}}
	}
	err := counting.eachKept(ctx, sources, "class probabilities", counting.static().classProbabilities, func(b batch.Batch, out []*tensors.Tensor) {
		all, n := tensors.MustCopyFlatData[float32](out[0]), out[0].Shape().Dimensions[2]
		steps := tensors.MustCopyFlatData[int32](out[1])
		for i, at := range b.Index {
			row := steps[i*b.SourcePositions() : (i+1)*b.SourcePositions()]
			found[at] = ClassProbabilities{wide(all[i*n : (i+1)*n]), withoutPadding(row)}
		}
	})
	return found, err
}

func wide(single []float32) []float64 {
	values := make([]float64, len(single))
	for i, v := range single {
		values[i] = float64(v)
	}
	return values
}

// LastAttention returns the attention of the last source position of every example: for every step, a weight per position, averaged
// over heads.
func (e *Evaluator) LastAttention(ctx context.Context, examples []task.Example) ([][][]float64, error) {
	attention := make([][][]float64, len(examples))
	whole := *e
	whole.ComputeHalted = true
	err := whole.each(ctx, examples, func(scope *model.Scope, nodes []*Node, _ capacity.Capacities) ([]*Node, universal.Result) {
		scope.Store().SetTraining(nodes[0].Graph(), false)
		in, _ := feed.Inputs(nodes, true, false)
		result := e.Model.Forward(scope, in, universal.Options{ReturnAttention: true})
		steps := make([]*Node, len(result.Encoder.Attention))
		for t, shares := range result.Encoder.Attention { // [B, K, M, M]
			steps[t] = universal.Last(ReduceMean(shares, 1), result.Encoder.Mask) // [B, 1, M]
		}
		return append(steps, result.Logits), result // the logits are not read, but an engine may require that every parameter is used before its last output
	}, func(b batch.Batch, out []*tensors.Tensor) {
		for _, tensor := range out[:len(out)-1] {
			appendStep(attention, b, examples, tensors.MustCopyFlatData[float32](tensor))
		}
	})
	return attention, err
}

// appendStep adds one step of a batch to its examples.
func appendStep(attention [][][]float64, b batch.Batch, examples []task.Example, shares []float32) {
	for i, at := range b.Index {
		row := make([]float64, len(examples[at].Source)/max(b.TokensPerPosition, 1))
		for p := range row {
			row[p] = float64(shares[i*b.SourcePositions()+p])
		}
		attention[at] = append(attention[at], row)
	}
}
