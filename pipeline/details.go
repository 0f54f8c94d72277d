package pipeline

import (
	"context"

	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// Details is what the model did at each position while it answered.
type Details struct {
	Source, Target           []string  // tokens; the target ends with <end> unless it was cut off
	SourceSteps, TargetSteps []int     // number of steps of each position
	Alignment                []int     // for each target token, the source token with most of its attention, from 0; nil if the model has no attention to sources
	AttentionShares          []float64 // the share of that token, as a mean over heads and the steps that the position ran
}

// detail adds details to answers of lines. The model is run once over each line and its answer.
func (m *Model) detail(ctx context.Context, lines []string, answers []Answer) error {
	var examples []task.Example
	var sources [][]vocab.ID
	var at []int
	language := m.Run.Task.Value.Kind() == task.LanguageModeling
	for i, a := range answers {
		if len(a.tokens) == 0 { // also of lines with an error
			continue
		}
		in, err := m.Read(lines[i])
		if err != nil {
			return err
		}
		e := task.Example{Source: in.Source, Target: a.tokens}
		if language {
			e = task.Example{Target: append(append([]vocab.ID{}, in.Source...), a.tokens...)}
		}
		examples, sources, at = append(examples, e), append(sources, in.Source), append(at, i)
	}
	if err := m.queue.Acquire(ctx); err != nil {
		return err
	}
	defer m.queue.Release()
	found, err := m.Evaluator().Inspect(ctx, examples)
	if err != nil {
		return err
	}
	for i, f := range found {
		d := &Details{Target: m.tokens(m.Vocabularies.Target, answers[at[i]].tokens), SourceSteps: f.Source, TargetSteps: f.Target, Alignment: f.Aligned, AttentionShares: f.AttentionShares}
		if language {
			prompt := len(sources[i])
			d.Source = m.tokens(m.Vocabularies.Target, sources[i])
			d.SourceSteps, d.TargetSteps = f.Target[:prompt], f.Target[prompt:]
		} else {
			d.Source = m.tokens(m.Vocabularies.Source, sources[i])
		}
		answers[at[i]].Details = d
	}
	return nil
}
