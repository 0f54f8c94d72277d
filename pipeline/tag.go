package pipeline

import (
	"cmp"
	"context"

	"universal-transformer/internal/evaluation"
	"universal-transformer/internal/queue"
	"universal-transformer/internal/score"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
	"universal-transformer/viewer"
)

// Tagged is the answer of a tagger to one of several sentences.
type Tagged struct {
	Input task.Input // the sentence as the model reads it; Labels are its words
	Tags  []string   // of each word
	// Classes holds, for each word, every tag with its probability, the most probable one first; their probabilities sum to 1.
	Classes [][]Class
	Spans   []score.Span // that the tags mark; none if the tags of the model mark no spans
	Err     error        // the reason why this sentence has no answer, or nil
}

// CanTag returns an error unless the model predicts a tag for each word, with Tag.
func (m *Model) CanTag() error {
	if m.Run.Task.Value.Kind() != task.Tagging {
		return m.kindError("%w: it was trained on %s", ErrNoTags, m.Run.Task.Value)
	}
	return nil
}

// Tag tags the words of several sentences. A sentence that cannot be read, or that has more than maxSource words (0: [DefaultMaxSource]),
// has an error of its own.
func (m *Model) Tag(ctx context.Context, sentences []string, maxSource int) ([]Tagged, error) {
	if err := m.CanTag(); err != nil {
		return nil, err
	}
	answers := make([]Tagged, len(sentences))
	var examples []task.Example
	var at []int
	for i, text := range sentences {
		if answers[i].Input, answers[i].Err = m.readUpTo(text, maxSource); answers[i].Err == nil {
			examples, at = append(examples, task.Example{Source: answers[i].Input.Source}), append(at, i)
		}
	}
	failed := func(i int, err error) { answers[at[i]].Err = queue.SourceError(err, len(examples[i].Source)) }
	err := m.inTurns(ctx, failed, func(e *evaluation.Evaluator) error {
		tagged, err := e.Tag(ctx, examples)
		for i, found := range tagged {
			m.spellTags(&answers[at[i]], found)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return answers, nil
}

// spellTags adds what was computed for a sentence.
func (m *Model) spellTags(a *Tagged, found task.Tagged) {
	v := m.Vocabularies.Target
	a.Tags = m.tokens(v, found.Tags)
	for _, p := range found.Probabilities {
		a.Err = cmp.Or(a.Err, checkFinite(p))
		a.Classes = append(a.Classes, sorted(v, p))
	}
	if score.SpanTags(v.Tokens()) {
		a.Spans = score.Spans(a.Tags)
	}
}

// traceTags traces a sentence; the output is the most probable tag of each word.
func (m *Model) traceTags(ctx context.Context, text string) (*viewer.Trace, error) {
	in, err := m.readToTrace(text)
	if err != nil {
		return nil, err
	}
	trace := m.traceOf(text, in)
	trace.Source, trace.Encoder = in.Labels, &viewer.Stack{Tokens: in.Labels}
	probabilities, err := m.record(ctx, trace, []any{[][]int32{in.Source}}, true)
	if err != nil {
		return nil, err
	}
	for _, p := range probabilities {
		best := sorted(m.Vocabularies.Target, p[vocab.End+1:])[0]
		trace.Output = append(trace.Output, best.Name)
	}
	return trace, nil
}
