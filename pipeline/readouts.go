package pipeline

import (
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"universal-transformer/internal/vocab"
	"universal-transformer/universal"
	"universal-transformer/viewer"
)

// readoutTop is the number of tokens that a readout of a trace lists after each step.
const readoutTop = 5

// readouts collects the readouts of a pass over one sequence.
type readouts struct {
	token         func(vocab.ID) string
	steps         []readoutStep
	probabilities int // k
}

// readoutStep is one step: tokens and their probabilities [N, k], and the probability of each written token, [N].
type readoutStep struct {
	ids           []int32
	probabilities []float64
	written       []float64
}

// nodes returns, for each step, the ids of the most probable tokens, their probabilities, both [1, N, k], and the probabilities of the
// tokens of target [1, N], which may be nil. first is the first id that can be an answer.
func (r *readouts) nodes(result universal.Result, first vocab.ID, target *graph.Node) (outputs []*graph.Node, readers []func(*tensors.Tensor)) {
	r.steps = make([]readoutStep, len(result.Readouts))
	for t, logits := range result.Readouts {
		step, g := &r.steps[t], logits.Graph()
		p := graph.Softmax(logits, -1)
		id := graph.Iota(g, shapes.Make(dtypes.Int32, p.Shape().Dimensions...), -1)
		none := graph.AddScalar(graph.ZerosLike(p), -1)
		rest := graph.Where(graph.LessThan(id, graph.Scalar(g, dtypes.Int32, first)), none, p)
		var ids, top []*graph.Node
		for range min(readoutTop, logits.Shape().Dim(-1)-int(first)) {
			best := graph.ArgMax(rest, -1, dtypes.Int32)
			ids, top = append(ids, best), append(top, graph.ReduceMax(rest, -1))
			rest = graph.Where(graph.Equal(id, graph.InsertAxes(best, -1)), none, rest)
		}
		r.probabilities = len(ids)
		outputs = append(outputs, graph.Stack(ids, -1), graph.Stack(top, -1))
		readers = append(readers,
			func(x *tensors.Tensor) { step.ids = tensors.MustCopyFlatData[int32](x) },
			func(x *tensors.Tensor) { step.probabilities = wide(tensors.MustCopyFlatData[float32](x)) })
		if target == nil {
			continue
		}
		written := graph.ReduceSum(graph.Where(graph.Equal(id, graph.InsertAxes(target, -1)), p, graph.ZerosLike(p)), -1)
		outputs = append(outputs, written)
		readers = append(readers, func(x *tensors.Tensor) { step.written = wide(tensors.MustCopyFlatData[float32](x)) })
	}
	return outputs, readers
}

// list returns a readout for each position, of the first steps.
func (r *readouts) list(steps int) []viewer.Readout {
	if len(r.steps) == 0 {
		return nil
	}
	kept := r.steps[:min(steps, len(r.steps))]
	list := make([]viewer.Readout, len(r.steps[0].ids)/r.probabilities)
	for i := range list {
		tops := make([][]viewer.Candidate, len(kept))
		var written []float64
		for t, step := range kept {
			for k := i * r.probabilities; k < (i+1)*r.probabilities; k++ {
				tops[t] = append(tops[t], viewer.Candidate{Token: r.token(step.ids[k]), Probability: step.probabilities[k]})
			}
			if step.written != nil {
				written = append(written, step.written[i])
			}
		}
		list[i] = viewer.NewReadout(tops, written)
	}
	return list
}
