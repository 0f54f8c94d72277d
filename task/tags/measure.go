package tags

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"universal-transformer/internal/score"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// A Measure tags examples and computes token accuracy and the confusion of the tags. If the tags mark spans, it also computes precision,
// recall and F1 of the spans, and otherwise macro F1.
type Measure struct{ v task.Vocabularies }

// WholeSet marks the measure: scores of rare tags and spans need the whole test set.
func (Measure) WholeSet() {}

// Measure tags every example. A tag that the model does not know counts as wrong, and as a class of its own.
func (m Measure) Measure(ctx context.Context, model task.Model, examples []task.Example) (task.Measurement, error) {
	tagged, err := model.Tag(ctx, examples)
	if err != nil {
		return task.Measurement{}, err
	}
	result := task.Measurement{Method: task.Tags, Confusion: score.NewConfusion(m.v.Target.Tokens())}
	spans, unknown := score.NewSpanCounts(), 0
	for i, answer := range tagged {
		truth, predicted := m.tags(examples[i]), spell(m.v.Target, answer.Tags)
		for k, tag := range truth {
			if _, known := m.v.Target.ID(tag); !known {
				unknown++
			}
			result.Confusion.Add(tag, predicted[k])
		}
		spans.Add(truth, predicted)
		result.Answers = append(result.Answers, task.Answer{Tokens: answer.Tags, Text: strings.Join(predicted, " "), Correct: slices.Equal(truth, predicted)})
	}
	result.Metrics = []score.Metric{score.Share("token accuracy", result.Confusion.Accuracy())}
	if score.SpanTags(m.v.Target.Tokens()) {
		result.Metrics, result.Spans = append(spans.Metrics(), result.Metrics...), spans.Scores()
	} else {
		result.Metrics = append(result.Metrics, score.Figure("macro F1", result.Confusion.MacroF1()))
	}
	if unknown > 0 {
		result.Notes = append(result.Notes, fmt.Sprintf("%d of %d words have a tag that the model does not know: they count as wrong", unknown, result.Confusion.Accuracy().Total))
	}
	return result, nil
}

// tags returns the true tags of an example.
func (m Measure) tags(e task.Example) []string {
	if o, ok := e.Origin.(Origin); ok {
		return o.tags
	}
	return spell(m.v.Target, e.Target)
}

func spell(v *vocab.Vocabulary, ids []vocab.ID) []string {
	tags := make([]string, len(ids))
	for i, id := range ids {
		tags[i] = v.Token(id)
	}
	return tags
}
