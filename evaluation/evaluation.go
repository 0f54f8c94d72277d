// Package evaluation measures a trained model on examples it has not seen: by real decoding, token after token from its
// own output, or with teacher forcing, where every token is predicted from the true ones before it. A row says which.
//
// For greedy decoding the two agree on whole sequences (a sequence is right exactly if each of its tokens is most probable
// after the true ones before it) but not on tokens: one wrong token may lead decoding astray.
package evaluation

import (
	"context"
	"fmt"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/batch"
	"universal-transformer/decoding"
	"universal-transformer/internal/capacity"
	"universal-transformer/internal/feed"
	"universal-transformer/score"
	"universal-transformer/task"
	"universal-transformer/universal"
	"universal-transformer/vocab"
)

// Ways to predict.
const (
	GreedyDecoding = "greedy decoding"
	BeamSearch     = "beam search"
	TeacherForcing = "teacher forcing"
)

// Row is one measurement.
type Row struct {
	Task      string      `json:"task"`
	Examples  int         `json:"examples"`
	Lengths   string      `json:"lengths"`    // which examples: "length 40", "lengths 1..40", ...
	Method    string      `json:"method"`     // GreedyDecoding, BeamSearch or TeacherForcing
	BeamWidth int         `json:"beam_width"` // 0 unless beam search
	Alpha     float64     `json:"alpha"`      // of beam search
	Score     score.Score `json:"score"`
	Unended   int         `json:"unended"` // decoded sequences that were cut off at the length limit

	// Steps that a real position took on average, with teacher forcing and adaptive depth; else 0.
	EncoderUpdates float64 `json:"encoder_updates"`
	DecoderUpdates float64 `json:"decoder_updates"`
}

// String says what was measured, how, and what came out, in a line.
func (r Row) String() string {
	how := r.Method
	if r.Method == BeamSearch {
		how = fmt.Sprintf("%s of width %d, alpha %v", how, r.BeamWidth, r.Alpha)
	}
	return fmt.Sprintf("%s, %s, %d examples, %s: token accuracy %s, sequence accuracy %s",
		r.Task, r.Lengths, r.Examples, how, r.Score.Tokens, r.Score.Sequences)
}

// Evaluator measures one model. Plan says how many positions a batch may have.
type Evaluator struct {
	Backend  compute.Backend
	Store    *model.Store
	Plan     batch.Plan
	Masked   bool                  // transform halted positions like the others, as published; results are the same, but for rounding
	Progress func(done, total int) // examples; may be nil
}

// Decode decodes examples and scores what comes out: greedily if beam.Width is 0, by beam search otherwise. A sequence may
// become a quarter longer than its reference, and 10 tokens more, before it is cut off.
func (e Evaluator) Decode(ctx context.Context, m universal.EncoderDecoder, examples []task.Example, beam decoding.Beam) (Row, error) {
	row := Row{Examples: len(examples), Method: GreedyDecoding, BeamWidth: beam.Width, Alpha: beam.Alpha}
	if beam.Width > 0 {
		row.Method = BeamSearch
	}
	d, err := decoding.New(e.Backend, e.Store, m)
	if err != nil {
		return row, err
	}
	defer d.Close()
	done := 0
	for _, b := range batch.Chunk(examples, e.Plan) {
		if err := ctx.Err(); err != nil {
			return row, err
		}
		sources, limits := make([][]vocab.ID, b.Examples), make([]int, b.Examples)
		for i := range sources {
			sources[i], limits[i] = examples[b.Index[i]].Source, Limit(len(examples[b.Index[i]].Target))
		}
		hypotheses, err := d.Decode(ctx, sources, limits, decoding.Method{Beam: beam}, nil)
		if err != nil {
			return row, err
		}
		for i, h := range hypotheses {
			row.Score.Add(h.Tokens, examples[b.Index[i]].Target)
			if !h.Finished {
				row.Unended++
			}
		}
		e.report(&done, b.Examples, len(examples))
	}
	return row, nil
}

// Limit is how long a sequence may become whose reference has the given length.
func Limit(reference int) int { return reference + reference/4 + 10 }

// TeacherForce predicts every token of the examples' targets from the true tokens before it.
func (e Evaluator) TeacherForce(ctx context.Context, m universal.Model, examples []task.Example) (Row, error) {
	row := Row{Examples: len(examples), Method: TeacherForcing}
	runner := e.runner(m, func(scope *model.Scope, nodes []*Node, room capacity.Capacities) ([]*Node, universal.Result) {
		scope.Store().SetTraining(nodes[0].Graph(), false)
		in, _ := feed.Inputs(nodes, len(nodes) == 2, false)
		in.SourceCapacities, in.TargetCapacities = room.Source, room.Target
		result := m.Forward(scope, in, universal.Options{})
		return append([]*Node{ArgMax(result.Logits, -1, feed.Integer)}, updates(result)...), result
	})
	defer runner.Close()
	var taken, positions [2]float64
	done := 0
	for _, b := range batch.Chunk(examples, e.Plan) {
		if err := ctx.Err(); err != nil {
			return row, err
		}
		out, err := runner.Call(capacity.ShapeOf(b), feed.Tensors(b, nil)...)
		if err != nil {
			return row, err
		}
		predicted := tensors.MustCopyFlatData[int32](out[0])
		for i, tensor := range out[1:] {
			sums := tensors.MustCopyFlatData[float32](tensor)
			taken[i], positions[i] = taken[i]+float64(sums[0]), positions[i]+float64(sums[1])
			_ = tensor.FinalizeAll()
		}
		_ = out[0].FinalizeAll()
		for i := range b.Examples {
			reference := examples[b.Index[i]].Target
			start := i * b.TargetLength
			row.Score = row.Score.Plus(forced(predicted[start:start+len(reference)], reference))
		}
		e.report(&done, b.Examples, len(examples))
	}
	row.EncoderUpdates, row.DecoderUpdates = taken[0]/max(1, positions[0]), taken[1]/max(1, positions[1])
	return row, nil
}

// updates gives for encoder and decoder, if depth is adaptive, the steps of all real positions and their number, [2] each.
func updates(result universal.Result) (sums []*Node) {
	for _, pass := range []*universal.Pass{result.Encoder, result.Decoder} {
		switch {
		case pass == nil:
			sums = append(sums, Zeros(result.Logits.Graph(), shapes.Make(dtypes.Float32, 2)))
		case pass.Adaptive():
			real := ConvertDType(pass.Mask, dtypes.Float32)
			sums = append(sums, Stack([]*Node{ReduceAllSum(ConvertDType(pass.Updates, dtypes.Float32)), ReduceAllSum(real)}, 0))
		}
	}
	return sums
}

// forced scores predictions that were made one by one, each from the true tokens before it: a wrong End among them ends nothing,
// as it would in a decoded sequence.
func forced(predicted, reference []vocab.ID) (s score.Score) {
	s.Tokens.Total, s.Sequences.Total = len(reference), 1
	for i, id := range reference {
		if predicted[i] == id {
			s.Tokens.Correct++
		}
	}
	if s.Tokens.Correct == len(reference) {
		s.Sequences.Correct = 1
	}
	return s
}

// runner runs a graph of the model, halted positions left out unless e.Masked.
func (e Evaluator) runner(m universal.Model, graph capacity.GraphBuilder) *capacity.Runner {
	if e.Masked {
		return capacity.NewRunner(e.Backend, e.Store, graph, nil)
	}
	return capacity.NewRunner(e.Backend, e.Store, graph, capacity.NewPlanner(m))
}

func (e Evaluator) report(done *int, more, total int) {
	*done += more
	if e.Progress != nil {
		e.Progress(*done, total)
	}
}
