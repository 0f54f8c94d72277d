// Package measure measures trained models for the tables of the paper, and defines the types of the measurements: [Babi] for table 1,
// [Metrics] for tables 2 and 3, [Sequences] for tables 4 to 6 and [Translation] for table 7. A result stores them as JSON in its field
// "measured".
package measure

import (
	"context"

	"universal-transformer/paper"
	"universal-transformer/pipeline"
	"universal-transformer/sweep"
)

// A Func measures a trained model: on validation data, and on the test set once.
type Func = func(ctx context.Context, m *pipeline.Model, c sweep.Cell, log func(line string)) (sweep.Measured, error)

// For returns the function that measures the cells of a table.
func For(t paper.Table) Func {
	switch t.Number {
	case 1:
		return babiQuestions
	case 2:
		return cases(agreementCases)
	case 3:
		return cases(lambadaCases)
	case 4:
		return generated(t, hardCases)
	case 5, 6:
		return generated(t, kindsOfPrograms)
	}
	return translations
}

// New returns an empty value of the type of a table's measurements, to decode a result into.
func New(t paper.Table) sweep.Measured {
	switch t.Number {
	case 1:
		return new(Babi)
	case 2, 3:
		return new(Metrics)
	case 4, 5, 6:
		return new(Sequences)
	}
	return new(Translation)
}
