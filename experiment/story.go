package experiment

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/runlog"
	"universal-transformer/task/babi"
	"universal-transformer/universal"
	"universal-transformer/viewer"
	"universal-transformer/vocab"
)

// Answered is a story's question, answered.
type Answered struct {
	Question    babi.Question // as it was understood
	Answer      string
	Probability float64 // that the model gives the answer
	Looks       []Look  // what the question looked at, most first
	Unknown     []string
	Trace       *viewer.Trace
}

// Look is how much of its attention the question gave to one position: the mean over heads, and over the steps that it ran.
type Look struct {
	Position int // from 0; the last is the question itself
	Share    float64
}

// Answer answers a story as babi.Story reads it. Words that training never showed are read as unknown, and listed.
func (t *Trained) Answer(story string) (*Answered, error) {
	if t.Run.Model.Classifier == nil {
		return nil, fmt.Errorf("%s answers no stories: it was trained on %s; use ut decode", t.log.Dir(), t.Run.Task.name())
	}
	q, err := babi.Story(story)
	if err != nil {
		return nil, err
	}
	return t.answer(q)
}

func (t *Trained) answer(q babi.Question) (*Answered, error) {
	coding := babi.Coding{Source: t.Words.Source, Target: t.Words.Target, TokensPerPosition: t.Run.Model.TokensPerPosition}
	unknown, long := coding.Unknown(q)
	if long {
		return nil, fmt.Errorf("a sentence has more than the %d words, marks included, that the model reads: make it shorter", coding.TokensPerPosition)
	}
	example := coding.Example(q)
	encoder, probabilities, err := t.watchClass(example.Source)
	if err != nil {
		return nil, err
	}
	best := vocab.ID(0)
	for id, p := range probabilities {
		if p > probabilities[best] {
			best = vocab.ID(id)
		}
	}
	a := &Answered{Question: q, Answer: t.Words.Target.Token(best), Probability: probabilities[best], Unknown: unknown}
	encoder.Tokens = append(slices.Clone(q.Facts), q.Text)
	a.Looks = looks(encoder)
	a.Trace = &viewer.Trace{
		Version: runlog.Version(), Model: t.Describe(), Task: t.Run.Task.name(), Experiment: t.Run.Name, Checkpoint: t.Step,
		Source: encoder.Tokens, Output: []string{a.Answer}, Encoder: encoder,
	}
	if q.Answer != "" {
		a.Trace.Reference = []string{q.Answer}
	}
	return a, a.Trace.Validate()
}

// looks sums up the attention of the last position.
func looks(s *viewer.Stack) []Look {
	last := len(s.Tokens) - 1
	list := make([]Look, last+1)
	ran := min(int(s.Updates[last]), len(s.Attention))
	for i := range list {
		list[i].Position = i
	}
	for _, heads := range s.Attention[:ran] {
		for _, queries := range heads {
			for i, weight := range queries[last] {
				list[i].Share += weight / float64(ran*len(heads))
			}
		}
	}
	slices.SortStableFunc(list, func(a, b Look) int { return cmp.Compare(b.Share, a.Share) })
	return list
}

// watchClass runs a classifier once and copies out what it did, and how probable every class is.
func (t *Trained) watchClass(source []vocab.ID) (encoder *viewer.Stack, probabilities []float64, err error) {
	encoder = &viewer.Stack{}
	var readers []func(*tensors.Tensor)
	exec, err := model.NewExec(t.Backend, t.Store, func(scope *model.Scope, nodes []*graph.Node) []*graph.Node {
		scope.Store().SetTraining(nodes[0].Graph(), false)
		result := t.Model.Forward(scope, universal.Inputs{Source: nodes[0]}, universal.Options{ReturnAttention: true})
		var outputs []*graph.Node
		outputs, readers = record(encoder, result.Encoder)
		return append(outputs, graph.Softmax(result.Logits, -1))
	})
	if err != nil {
		return nil, nil, err
	}
	defer exec.Finalize()
	out, err := exec.Call([][]int32{source})
	if err != nil {
		return nil, nil, err
	}
	for i, read := range readers {
		read(out[i])
	}
	probabilities = wide(tensors.MustCopyFlatData[float32](out[len(out)-1]))
	for _, tensor := range out {
		_ = tensor.FinalizeAll()
	}
	crop(encoder)
	return encoder, probabilities, nil
}

// traceStory is Trace of a model that answers stories. A text that is one of the paper's stories brings its answer along.
func (t *Trained) traceStory(story string) (*viewer.Trace, error) {
	a, err := t.Answer(story)
	if err != nil {
		return nil, err
	}
	for _, s := range babi.Stories {
		if strings.TrimSpace(s.Text) == strings.TrimSpace(story) {
			a.Trace.Reference = []string{s.Answer}
		}
	}
	return a.Trace, nil
}
