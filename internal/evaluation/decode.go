package evaluation

import (
	"context"
	"fmt"

	"universal-transformer/decoding"
	"universal-transformer/internal/batch"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// Decode decodes every example's source, greedily or by beam search, with at most [Limit] tokens or, without a reference,
// [Evaluator].Limit.
func (e *Evaluator) Decode(ctx context.Context, examples []task.Example) ([]task.Decoded, error) {
	d, err := e.decoder()
	if err != nil {
		return nil, err
	}
	defer d.Close()
	sourceLimit := e.Limit
	if sourceLimit == nil {
		sourceLimit = SourceLimit
	}
	answers, done := make([]task.Decoded, len(examples)), 0
	plan := e.Plan
	plan.RoundUp = decoding.Rows
	for _, b := range batch.Chunk(examples, plan) {
		sources, limits := make([][]vocab.ID, b.Examples), make([]int, b.Examples)
		for i := range sources {
			example := examples[b.Index[i]]
			sources[i], limits[i] = example.Source, Limit(len(example.Target))
			if len(example.Target) == 0 {
				limits[i] = sourceLimit(len(example.Source))
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

// SourceLimit returns the default maximum length of an answer without a reference: four times the source length plus 50.
func SourceLimit(source int) int { return 4*source + 50 }

// Limit returns the maximum length of an answer with a reference of the given length: five quarters of it plus 10.
func Limit(reference int) int { return reference + reference/4 + 10 }
