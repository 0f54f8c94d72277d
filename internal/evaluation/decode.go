package evaluation

import (
	"context"
	"fmt"

	"universal-transformer/decoding"
	"universal-transformer/internal/batch"
	"universal-transformer/task"
)

// Decode decodes every example's source, greedily or by beam search, with at most [Evaluator].Limit tokens. It does not read the targets.
func (e *Evaluator) Decode(ctx context.Context, examples []task.Example) ([]task.Decoded, error) {
	d, err := e.decoder()
	if err != nil {
		return nil, err
	}
	defer d.Close()
	limit := e.Limit
	if limit == nil {
		limit = SourceLimit
	}
	answers, done := make([]task.Decoded, len(examples)), 0
	plan := e.Plan
	plan.RoundUp = decoding.Rows
	for _, b := range batch.Chunk(examples, plan) {
		queries := make([]decoding.Query, b.Examples)
		for i := range queries {
			source := examples[b.Index[i]].Source
			queries[i] = decoding.Query{Source: source, Limit: limit(len(source))}
		}
		found, err := d.Answer(ctx, queries, decoding.Method{Beam: e.Beam}, 0, e.Pause)
		if err != nil {
			return nil, err
		}
		for i, h := range found {
			answers[b.Index[i]] = task.Decoded{Tokens: h.Tokens, Finished: h.Finished}
		}
		e.report(&done, b.Examples, len(examples))
	}
	if e.CountSteps {
		return answers, e.countSteps(ctx, examples, answers)
	}
	return answers, nil
}

// countSteps reports the steps of the sources and of the answers, which are given to the model.
func (e *Evaluator) countSteps(ctx context.Context, examples []task.Example, answers []task.Decoded) error {
	var answered []task.Example
	for i, a := range answers {
		if len(a.Tokens) > 0 {
			answered = append(answered, task.Example{Source: examples[i].Source, Target: a.Tokens})
		}
	}
	silent := *e
	silent.Progress = nil
	_, err := silent.Score(ctx, answered)
	return err
}

// decoder returns a decoder of the model, or an error if the model cannot decode answers.
func (e *Evaluator) decoder() (*decoding.Decoder, error) {
	m, decodes := e.Model.(decoding.Model)
	if decodes {
		if source, _ := m.Vocabularies(); source > 0 {
			return decoding.New(e.Backend, e.Store, m)
		}
	}
	return nil, fmt.Errorf("a model of type %T cannot decode answers to sources", e.Model)
}

// SourceLimit returns the default maximum length of an answer: four times the source length plus 50.
func SourceLimit(source int) int { return 4*source + 50 }
