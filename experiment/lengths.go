package experiment

import (
	"errors"
	"fmt"

	"universal-transformer/task"
)

// Lengths are source lengths in tokens, uniform from From to To; both 0: as in training. In learning to execute, To is the number of digits, as
// in task.Selection.Mix, and From must be 0.
type Lengths struct {
	From int `json:"from"` // shortest source; 0: 1
	To   int `json:"to"`   // longest source
}

// Held returns the selection of count validation examples; 0: the task's default.
func (t Training) Held(count int) task.Selection {
	return task.Selection{Validation: true, Count: count, From: t.ValidationLengths.From, Mix: t.ValidationLengths.To, Hard: t.ValidationHard}
}

// ChoosesValidation reports whether the configuration chooses its validation examples, which not every task can draw.
func (t Training) ChoosesValidation() bool {
	return t.ValidationLengths != (Lengths{}) || t.ValidationHard
}

// validateLengths returns an error unless the lengths of validation examples can be drawn.
func (r Run) validateLengths() error {
	l := r.Training.ValidationLengths
	switch {
	case l.From < 0:
		return fmt.Errorf("training.validation_lengths.from is %d: it must be positive, or 0 for 1", l.From)
	case l.To < l.From:
		return fmt.Errorf("training.validation_lengths.to is %d: it must be at least from, which is %d", l.To, l.From)
	}
	if err := r.Training.Held(0).Validate(); err != nil {
		return HeldError(err)
	}
	return nil
}

// HeldError returns an error for the selection of Held as one that names the field of the configuration.
func HeldError(err error) error {
	var wrong *task.SelectionError
	if !errors.As(err, &wrong) {
		return fmt.Errorf("training.validation_lengths: %w", err)
	}
	field := "validation_lengths." + wrong.Field
	switch wrong.Field {
	case "mix":
		field = "validation_lengths.to"
	case "hard":
		field = "validation_hard"
	}
	return fmt.Errorf("training.%s %s", field, wrong.Problem)
}
