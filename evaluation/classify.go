package evaluation

import (
	"context"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/batch"
	"universal-transformer/internal/capacity"
	"universal-transformer/internal/feed"
	"universal-transformer/score"
	"universal-transformer/task"
	"universal-transformer/universal"
	"universal-transformer/vocab"
)

// Classification is the method of models that answer with a class.
const Classification = "classification"

// Answer is what a classifier made of one example.
type Answer struct {
	Class   vocab.ID
	Right   bool
	Updates []int // steps of every real position
}

// Classify answers every example with its most probable class, and scores that. An example whose class classes takes for unknown
// cannot be right.
func (e Evaluator) Classify(ctx context.Context, m universal.Model, examples []task.Example, classes *vocab.Vocabulary) (Row, []Answer, error) {
	row, answers := Row{Examples: len(examples), Method: Classification}, make([]Answer, len(examples))
	unknown, _ := classes.Unknown()
	runner := e.runner(m, func(scope *model.Scope, nodes []*Node, room capacity.Capacities) ([]*Node, universal.Result) {
		scope.Store().SetTraining(nodes[0].Graph(), false)
		in, _ := feed.Inputs(nodes, true, false)
		in.SourceCapacities = room.Source
		result := m.Forward(scope, in, universal.Options{})
		return []*Node{ArgMax(result.Logits, -1, feed.Integer), ConvertDType(result.Encoder.Updates, feed.Integer)}, result
	})
	defer runner.Close()
	done := 0
	for _, b := range batch.Chunk(examples, e.Plan) {
		if err := ctx.Err(); err != nil {
			return row, nil, err
		}
		out, err := runner.Call(capacity.ShapeOf(b), feed.Tensors(b, nil)...)
		if err != nil {
			return row, nil, err
		}
		class, updates := tensors.MustCopyFlatData[int32](out[0]), tensors.MustCopyFlatData[int32](out[1])
		for _, tensor := range out {
			_ = tensor.FinalizeAll()
		}
		for i := range b.Examples {
			truth := examples[b.Index[i]].Target[0]
			a := Answer{Class: class[i], Right: class[i] == truth && (truth != unknown || unknown == vocab.Padding)}
			a.Updates = ran(updates[i*b.SourcePositions() : (i+1)*b.SourcePositions()])
			answers[b.Index[i]] = a
			row.Score = row.Score.Plus(one(a.Right))
		}
		e.report(&done, b.Examples, len(examples))
	}
	return row, answers, nil
}

// ran leaves out padding, which runs for no step.
func ran(updates []int32) (steps []int) {
	for _, n := range updates {
		if n > 0 {
			steps = append(steps, int(n))
		}
	}
	return steps
}

// one scores one answer.
func one(right bool) (s score.Score) {
	s.Tokens.Total, s.Sequences.Total = 1, 1
	if right {
		s.Tokens.Correct, s.Sequences.Correct = 1, 1
	}
	return s
}
