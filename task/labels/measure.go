package labels

import (
	"context"
	"fmt"

	"universal-transformer/internal/score"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// A Measure classifies examples and computes accuracy, macro F1, and the confusion of the classes.
type Measure struct{ v task.Vocabularies }

// WholeSet marks the measure: macro F1 of a sample is not comparable with that of the test set, since rare classes have few examples.
func (Measure) WholeSet() {}

// Measure classifies every example. A label that the model does not know counts as wrong, and as a class of its own.
func (m Measure) Measure(ctx context.Context, model task.Model, examples []task.Example) (task.Measurement, error) {
	classified, err := model.Classify(ctx, examples)
	if err != nil {
		return task.Measurement{}, err
	}
	result := task.Measurement{Method: task.Classes, Confusion: score.NewConfusion(m.v.Target.Tokens())}
	unknown := 0
	for i, answer := range classified {
		truth, predicted := m.label(examples[i]), m.v.Target.Token(answer.Class)
		if _, known := m.v.Target.ID(truth); !known {
			unknown++
		}
		result.Confusion.Add(truth, predicted)
		result.Answers = append(result.Answers, task.Answer{Tokens: []vocab.ID{answer.Class}, Text: predicted, Correct: truth == predicted})
	}
	result.Metrics = []score.Metric{score.Share("accuracy", result.Confusion.Accuracy()), score.Figure("macro F1", result.Confusion.MacroF1())}
	if unknown > 0 {
		result.Notes = append(result.Notes, fmt.Sprintf("%d of %d examples have a label that the model does not know: they count as wrong", unknown, len(examples)))
	}
	return result, nil
}

// label returns the label of an example.
func (m Measure) label(e task.Example) string {
	if o, ok := e.Origin.(Origin); ok {
		return o.label
	}
	return m.v.Target.Token(e.Target[0])
}
