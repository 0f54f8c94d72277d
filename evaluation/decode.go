package evaluation

import (
	"context"
	"fmt"

	"universal-transformer/batch"
	"universal-transformer/decoding"
	"universal-transformer/task"
	"universal-transformer/vocab"
)

// Decode decodes every example's source: greedily, or by beam search. A sequence may become as long as [Limit] says, or,
// without a reference, [SourceLimit].
func (e *Evaluator) Decode(ctx context.Context, examples []task.Example) ([]task.Decoded, error) {
	d, err := e.decoder()
	if err != nil {
		return nil, err
	}
	defer d.Close()
	answers, done := make([]task.Decoded, len(examples)), 0
	plan := e.Plan
	plan.RoundUp = decoding.Rows
	for _, b := range batch.Chunk(examples, plan) {
		sources, limits := make([][]vocab.ID, b.Examples), make([]int, b.Examples)
		for i := range sources {
			example := examples[b.Index[i]]
			sources[i], limits[i] = example.Source, Limit(len(example.Target))
			if len(example.Target) == 0 {
				limits[i] = SourceLimit(len(example.Source))
			}
		}
		found, err := d.Decode(ctx, sources, limits, decoding.Method{Beam: e.Beam}, nil)
		if err != nil {
			return nil, err
		}
		for i, h := range found {
			answers[b.Index[i]] = task.Decoded{Tokens: h.Tokens, Finished: h.Finished}
		}
		e.report(&done, b.Examples, len(examples))
	}
	return answers, nil
}

// decoder makes a decoder of the model, if it answers sources.
func (e *Evaluator) decoder() (*decoding.Decoder, error) {
	m, decodes := e.Model.(decoding.Model)
	if decodes {
		if source, _ := m.Vocabularies(); source > 0 {
			return decoding.New(e.Backend, e.Store, m)
		}
	}
	return nil, fmt.Errorf("a model of type %T decodes no answers to sources", e.Model)
}

// SourceLimit is how long an answer may become where there is no reference: four times its source, and 50 tokens more.
func SourceLimit(source int) int { return 4*source + 50 }

// Limit is how long a sequence may become whose reference has the given length: a quarter longer, and 10 tokens more.
func Limit(reference int) int { return reference + reference/4 + 10 }
