package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/decoding"
	"universal-transformer/engine"
	"universal-transformer/experiment"
	"universal-transformer/internal/queue"
	"universal-transformer/internal/vocab"
	"universal-transformer/runlog"
	"universal-transformer/task"
	"universal-transformer/universal"
	"universal-transformer/viewer"
)

// Trace answers one text and records the steps and weights of every position, the attention of every step and head, and what the model
// would answer after every step. It returns an error for a model that has neither attention nor halting.
func (m *Model) Trace(ctx context.Context, text string) (*viewer.Trace, error) {
	return m.trace(ctx, text, func(queries []decoding.Query) ([]decoding.Hypothesis, error) {
		found, errs, err := m.queue.Answer(queue.Request{Context: ctx, Queries: queries})
		return found, cmp.Or(err, errors.Join(errs...))
	})
}

// trace is Trace. answer decodes.
func (m *Model) trace(ctx context.Context, text string, answer func([]decoding.Query) ([]decoding.Hypothesis, error)) (*viewer.Trace, error) {
	if !m.Traces() {
		return nil, m.nothingToTrace()
	}
	switch m.Run.Task.Value.Kind() {
	case task.Classification:
		answer, err := m.classify(ctx, text, true)
		if err != nil {
			return nil, err
		}
		return answer.Trace, nil
	case task.Tagging:
		return m.traceTags(ctx, text)
	}
	return m.traceSequence(ctx, text, answer)
}

// traceSequence is trace for a model that answers with a sequence.
func (m *Model) traceSequence(ctx context.Context, text string, answer func([]decoding.Query) ([]decoding.Hypothesis, error)) (*viewer.Trace, error) {
	in, err := m.readToTrace(text)
	if err != nil {
		return nil, err
	}
	found, err := answer([]decoding.Query{{Source: in.Source, Limit: min(maxTraced, m.AnswerLimit(len(in.Source)))}})
	if err != nil {
		return nil, err
	}
	target := found[0].Tokens
	trace := m.traceOf(text, in)
	trace.Output = m.tokens(m.Vocabularies.Target, answered(target))
	inputs := []any{[][]int32{in.Source}, [][]int32{target}}
	trace.Encoder, trace.Decoder = &viewer.Stack{}, &viewer.Stack{}
	if m.Run.Task.Value.Kind() == task.LanguageModeling {
		trace.Source = m.tokens(m.Vocabularies.Target, in.Source)
		target = append(in.Source, target...)
		inputs, trace.Encoder = []any{[][]int32{target}}, nil
	} else {
		trace.Source = m.tokens(m.Vocabularies.Source, in.Source)
		trace.Encoder.Tokens = trace.Source
	}
	trace.Target = m.tokens(m.Vocabularies.Target, target)
	trace.Decoder.Tokens = trace.Target
	if in.Answer != nil {
		trace.Reference = m.tokens(m.Vocabularies.Target, answered(in.Answer))
	}
	if _, err = m.record(ctx, trace, inputs, true); err != nil {
		return nil, err
	}
	return trace, nil
}

// Traces reports whether Trace has something to show: steps or attention.
func (m *Model) Traces() bool {
	if _, deep := m.trained.(universal.Deep); deep {
		return true
	}
	recurrent, ok := m.trained.(interface{ Attends() bool })
	return ok && recurrent.Attends()
}

// CheckTrace returns an error if an input cannot be traced: it is too long, or the model has nothing to show. Errors of Trace after that are those of
// the computation.
func (m *Model) CheckTrace(in task.Input) error {
	if err := checkTraced(in); err != nil {
		return err
	}
	if !m.Traces() {
		return m.nothingToTrace()
	}
	return nil
}

func (m *Model) nothingToTrace() error {
	return fmt.Errorf("nothing to trace: a model of this kind has no attention and %s (%s)", m.fixedReading(), m.Describe())
}

// fixedReading tells how a model reads whose steps are neither traced nor changed by an exit.
func (m *Model) fixedReading() string {
	if _, ok := m.Run.Model.Value.(experiment.NeuralGPU); ok {
		return "runs as many steps as its source has tokens"
	}
	return "reads every position once"
}

// traceOf is newTrace with what was asked.
func (m *Model) traceOf(text string, in task.Input) *viewer.Trace {
	trace := m.newTrace()
	trace.Input, trace.Unknown = text, in.Unknown
	return trace
}

// newTrace returns a trace with the description of the model. record adds the exit.
func (m *Model) newTrace() *viewer.Trace {
	return &viewer.Trace{
		Version: runlog.Version(), Model: m.Describe(), Task: m.Run.Task.Value.String(), Experiment: m.Run.Name, Checkpoint: m.Step,
	}
}

// answered returns the tokens of an answer before its end.
func answered(target []vocab.ID) []vocab.ID {
	if end := slices.Index(target, vocab.End); end >= 0 {
		return target[:end]
	}
	return target
}

// record runs the model once on a source, a target, or both, copies the results into the stacks of a trace, with readouts if they are
// requested, and returns the probabilities at every position of the output, [N][V].
func (m *Model) record(ctx context.Context, trace *viewer.Trace, inputs []any, withReadouts bool) (probabilities [][]float64, err error) {
	if err := m.queue.Acquire(ctx); err != nil {
		return nil, err
	}
	defer m.queue.Release()
	trace.Exit = m.exit.String()
	r := recording{trace: trace, readouts: &readouts{token: func(id vocab.ID) string { return m.tokens(m.Vocabularies.Target, []vocab.ID{id})[0] }}}
	exec, err := model.NewExec(m.backend, m.store, func(scope *model.Scope, nodes []*graph.Node) []*graph.Node {
		scope.Store().SetTraining(nodes[0].Graph(), false)
		in := universal.Inputs{Source: nodes[0], Target: nodes[len(nodes)-1]}
		result := m.graph.Forward(scope, in, universal.Options{ReturnAttention: true, ReturnReadouts: withReadouts})
		return append(r.nodes(result, in.Target), graph.Softmax(result.Logits, -1))
	})
	if err != nil {
		return nil, err
	}
	defer exec.Finalize()
	out, err := exec.Call(inputs...)
	if size := (*TraceSizeError)(nil); errors.As(err, &size) {
		return nil, size
	}
	err = engine.Plain(err)
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return nil, err
	}
	for i, read := range r.readers {
		read(out[i])
	}
	last := out[len(out)-1]
	probabilities = slices.Collect(slices.Chunk(wide(tensors.MustCopyFlatData[float32](last)), last.Shape().Dimensions[2]))
	for _, tensor := range out {
		_ = tensor.FinalizeAll()
	}
	for _, s := range []*viewer.Stack{trace.Encoder, trace.Decoder} {
		if s != nil {
			trace.Readouts = r.readouts.list(crop(s))
		}
	}
	return probabilities, cmp.Or(checkFinite(slices.Concat(probabilities...)), trace.Validate())
}

// A recording copies values of a pass into a trace.
type recording struct {
	trace    *viewer.Trace
	readouts *readouts
	readers  []func(*tensors.Tensor) // store the values of nodes, in their order
}

// nodes lists the nodes to record from a pass over one sequence, and sets their readers. It panics with a [TraceSizeError], which the call of
// the graph returns, if they are too large.
func (r *recording) nodes(result universal.Result, target *graph.Node) (outputs []*graph.Node) {
	add := func(nodes []*graph.Node, readers []func(*tensors.Tensor)) {
		outputs, r.readers = append(outputs, nodes...), append(r.readers, readers...)
	}
	for _, stack := range []struct {
		into *viewer.Stack
		pass *universal.Pass
	}{{r.trace.Encoder, result.Encoder}, {r.trace.Decoder, result.Decoder}} {
		if stack.into != nil && stack.pass != nil {
			add(copies(stack.into, stack.pass))
		}
	}
	if n := size(outputs); n > maxTracedValues {
		panic(&TraceSizeError{n, maxTracedValues})
	}
	if r.trace.Decoder == nil {
		add(r.readouts.nodes(result, vocab.End+1, nil)) // padding and End are not classes
	} else {
		add(r.readouts.nodes(result, vocab.End, target))
	}
	return outputs
}

// copies lists the values to record from a pass over one sequence, and functions that store each of them in the stack.
func copies(s *viewer.Stack, pass *universal.Pass) (outputs []*graph.Node, readers []func(*tensors.Tensor)) {
	want := func(node *graph.Node, place func([]float64)) {
		outputs = append(outputs, node)
		readers = append(readers, func(t *tensors.Tensor) { place(wide(tensors.MustCopyFlatData[float32](t))) })
	}
	want(pass.Updates, func(v []float64) { s.Updates = v })
	if pass.Weighted() {
		want(pass.Remainders, func(v []float64) { s.Remainders = v })
	}
	for _, u := range pass.Weights {
		want(u, func(v []float64) { s.Weights = append(s.Weights, v) })
	}
	for _, change := range pass.Changes {
		want(change, func(v []float64) { s.Changes = append(s.Changes, v) })
	}
	for _, kind := range []struct {
		nodes []*graph.Node
		into  *[][][][]float64
	}{{pass.Attention, &s.Attention}, {pass.CrossAttention, &s.CrossAttention}} {
		for _, node := range kind.nodes {
			dims := node.Shape().Dimensions // [1, K, queries, keys]
			want(node, func(v []float64) { *kind.into = append(*kind.into, fold(v, dims[1], dims[2], dims[3])) })
		}
	}
	return outputs, readers
}

// fold reshapes a flat [K * queries * keys].
func fold(flat []float64, heads, queries, keys int) [][][]float64 {
	folded := make([][][]float64, heads)
	for k := range folded {
		for q := range queries {
			start := (k*queries + q) * keys
			folded[k] = append(folded[k], flat[start:start+keys])
		}
	}
	return folded
}

// crop removes the steps that no position ran, because the graph always contains all of them, and returns the number of the others. It keeps
// the number of all steps of a stack whose positions halt.
func crop(s *viewer.Stack) int {
	s.Limit = len(s.Weights)
	ran := 0
	for _, n := range s.Updates {
		ran = max(ran, int(n))
	}
	s.Weights, s.Changes = first(s.Weights, ran), first(s.Changes, ran)
	s.Attention, s.CrossAttention = first(s.Attention, ran), first(s.CrossAttention, ran)
	return ran
}

func first[T any](list []T, n int) []T { return list[:min(n, len(list))] }

func wide(single []float32) []float64 {
	values := make([]float64, len(single))
	for i, v := range single {
		values[i] = float64(v)
	}
	return values
}
