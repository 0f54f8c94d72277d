package evaluation

import (
	"context"
	"fmt"
	"strings"

	"universal-transformer/internal/quantity"
	"universal-transformer/task"
)

// A Row is one measurement of a model.
type Row struct {
	Task    string `json:"task"`
	Count   int    `json:"examples"`
	Lengths string `json:"lengths"` // which examples: "length 40", "lengths 1..40", ..., or the name of their file
	task.Measurement

	// Steps of positions; nil for a stack that does not exist or is not adaptive, and for decoded answers, unless the evaluator counts
	// them.
	Encoder *Steps `json:"encoder_steps"`
	Decoder *Steps `json:"decoder_steps"`
	// Readouts is the cost of an exit rule; nil without one.
	Readouts *Readouts `json:"readouts,omitempty"`
}

// Measure measures the evaluator's model.
func (e *Evaluator) Measure(ctx context.Context, by task.Measure, examples []task.Example) (Row, error) {
	row := Row{Count: len(examples)}
	watched := *e
	watched.Steps = func(encoder, decoder *Steps) { row.Encoder, row.Decoder = encoder, decoder }
	var err error
	row.Measurement, err = by.Measure(ctx, &watched, examples)
	if e.Cache != nil {
		row.Notes = append(row.Notes, e.Cache.String())
	}
	if watched.computedHalted {
		row.Notes = append(row.Notes, "halted positions were also computed: "+e.Backend.Name()+" compiles so slowly that skipping them would take longer")
	}
	return row, err
}

// String describes in one line what was measured, how, and the result.
func (r Row) String() string {
	figures := make([]string, len(r.Metrics))
	for i, m := range r.Metrics {
		figures[i] = fmt.Sprintf("%s %s", m.Name, m)
	}
	return fmt.Sprintf("%s, %s, %s, %s: %s", r.Task, r.Lengths, quantity.Regular(r.Count, "examples"), r.Method, strings.Join(figures, ", "))
}
