package experiment

import (
	"context"
	"fmt"
	"strings"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/decoding"
	"universal-transformer/halting"
	"universal-transformer/runlog"
	"universal-transformer/universal"
	"universal-transformer/viewer"
	"universal-transformer/vocab"
)

// Trace answers one line of text, or a story, and records what the model did on the way: steps and weights of every position, attention of
// every step and head.
func (t *Trained) Trace(line string) (*viewer.Trace, error) {
	if t.Run.Model.Classifier != nil {
		return t.traceStory(line)
	}
	source, _, err := t.Encode(line)
	if err != nil {
		return nil, err
	}
	d, err := t.decoding()
	if err != nil {
		return nil, err
	}
	found, err := d.Decode(context.Background(), [][]vocab.ID{source}, []int{longestAnswer(len(source))}, decoding.Method{}, nil)
	if err != nil {
		return nil, err
	}
	target := found[0].Tokens
	encoder, decoder, err := t.watch(source, target)
	if err != nil {
		return nil, err
	}
	spell := func(v *vocab.Vocabulary, ids []vocab.ID) (tokens []string) {
		for _, id := range ids {
			tokens = append(tokens, v.Token(id))
		}
		return tokens
	}
	trace := &viewer.Trace{
		Version: runlog.Version(), Model: t.Describe(), Task: t.Run.Task.name(), Experiment: t.Run.Name, Checkpoint: t.Step,
		Source: spell(t.Words.Source, source), Target: spell(t.Words.Target, target),
		Output: t.Words.Target.Decode(target), Encoder: encoder, Decoder: decoder,
	}
	encoder.Tokens, decoder.Tokens = trace.Source, trace.Target
	return trace, nil
}

// Describe says in a line what the model is.
func (t *Trained) Describe() string {
	c, err := t.Run.Model.complete()
	if err != nil {
		return ""
	}
	how := ""
	switch p := c.Halting.(type) {
	case halting.Fixed:
		how = fmt.Sprintf("%d steps", p.Steps)
	case halting.Length:
		how = "as many steps as source tokens"
	case halting.Listing:
		how = fmt.Sprintf("adaptive (listing), at most %d steps", p.MaxSteps)
	case halting.Graves:
		how = fmt.Sprintf("adaptive (graves), at most %d steps", p.MaxSteps)
	case halting.Frozen:
		how = fmt.Sprintf("adaptive (frozen), at most %d steps", p.MaxSteps)
	}
	name := "Universal Transformer"
	if k := t.Run.Model.Classifier; k != nil && k.Untied {
		name, how = "Transformer", strings.Replace(how, "steps", "layers", 1)
	}
	return fmt.Sprintf("%s, %s, width %d, %d heads", name, how, c.Width, c.Heads)
}

// watch runs the model once over a source and a target and copies out what it did.
func (t *Trained) watch(source, target []vocab.ID) (encoder, decoder *viewer.Stack, err error) {
	encoder, decoder = &viewer.Stack{}, &viewer.Stack{}
	var readers []func(*tensors.Tensor)
	exec, err := model.NewExec(t.Backend, t.Store, func(scope *model.Scope, nodes []*graph.Node) []*graph.Node {
		scope.Store().SetTraining(nodes[0].Graph(), false)
		result := t.Model.Forward(scope, universal.Inputs{Source: nodes[0], Target: nodes[1]}, universal.Options{ReturnAttention: true})
		outputs, more := record(encoder, result.Encoder)
		decoderOutputs, decoderReaders := record(decoder, result.Decoder)
		readers = append(more, decoderReaders...)
		// Nobody reads the logits. GoMLX's portable backend fails where a parameter comes after the last output.
		return append(append(outputs, decoderOutputs...), result.Logits)
	})
	if err != nil {
		return nil, nil, err
	}
	defer exec.Finalize()
	out, err := exec.Call([][]int32{source}, [][]int32{target})
	if err != nil {
		return nil, nil, err
	}
	for i, read := range readers {
		read(out[i])
	}
	for _, tensor := range out {
		_ = tensor.FinalizeAll()
	}
	crop(encoder)
	crop(decoder)
	return encoder, decoder, nil
}

// record lists what is to be known of a pass over one sequence, and how each value finds its place in the stack.
func record(s *viewer.Stack, pass *universal.Pass) (outputs []*graph.Node, readers []func(*tensors.Tensor)) {
	want := func(node *graph.Node, place func([]float64)) {
		outputs = append(outputs, node)
		readers = append(readers, func(t *tensors.Tensor) { place(wide(tensors.MustCopyFlatData[float32](t))) })
	}
	want(pass.Updates, func(v []float64) { s.Updates = v })
	if pass.Adaptive() {
		want(pass.Remainders, func(v []float64) { s.Remainders = v })
	}
	for _, u := range pass.Weights {
		want(u, func(v []float64) { s.Weights = append(s.Weights, v) })
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

// fold gives a flat [K * queries * keys] its axes.
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

// crop drops the steps that no position ran: the graph always has all of them.
func crop(s *viewer.Stack) {
	ran := 0
	for _, n := range s.Updates {
		ran = max(ran, int(n))
	}
	s.Weights, s.Attention, s.CrossAttention = first(s.Weights, ran), first(s.Attention, ran), first(s.CrossAttention, ran)
}

func first[T any](list []T, n int) []T { return list[:min(n, len(list))] }

func wide(single []float32) []float64 {
	values := make([]float64, len(single))
	for i, v := range single {
		values[i] = float64(v)
	}
	return values
}
