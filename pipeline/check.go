package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"universal-transformer/experiment"
	"universal-transformer/runlog"
	"universal-transformer/task"
)

// Checked holds digests of what [Check] has read.
type Checked struct {
	Data map[string]string // by part, as [Model.DataDigests]; nil for tasks that read nothing
	File string            // of the examples of Protocol.File; "" without it
}

// Check reads the data and reports whether a run can be trained on them and evaluated with p. Errors about p are ProtocolErrors. log is that of
// [OpenTask].
func Check(ctx context.Context, r experiment.Run, p Protocol, log func(string)) (read Checked, err error) {
	if err := cmp.Or(r.Validate(), checkStart(r)); err != nil {
		return read, err
	}
	err = p.checkExamples()
	if err == nil && p.Cache != nil && p.TuneCache {
		err = errTwoCaches
	}
	if err != nil {
		return read, &ProtocolError{err}
	}
	t := openRun{run: r, reading: r}
	if t.data, err = OpenTask(ctx, r, log); err != nil {
		return read, err
	}
	if err := r.CheckPositions(t.data); err != nil {
		return read, err
	}
	if _, err := t.validation(1); err != nil {
		return read, err
	}
	m := Model{Run: r, Vocabularies: t.data.Vocabularies(), reader: r.Reader(t.data.Vocabularies())}
	_, _, examples, err := m.selected(ctx, t.data, p, &remarks{log: p.Log})
	if err == nil && len(examples) == 0 {
		err = errors.New("there are no examples")
	}
	if err != nil {
		return read, &ProtocolError{err}
	}
	read.Data = dataDigests(t.data)
	if p.File != "" {
		read.File = task.DigestExamples(examples)
	}
	return read, nil
}

// A ProtocolError means that a run has no examples of a [Protocol].
type ProtocolError struct{ Err error }

func (e *ProtocolError) Error() string { return fmt.Sprintf("examples to measure: %v", e.Err) }

// Unwrap returns e.Err.
func (e *ProtocolError) Unwrap() error { return e.Err }

// checkSides returns an error unless the vocabularies have the sides of the model.
func checkSides(r experiment.Run, v task.Vocabularies) error {
	if sources := r.Model.Value.Kind() != task.LanguageModeling; sources != (v.Source != nil) {
		return runlog.AsDamaged(fmt.Errorf(`%s: key "source" does not fit the model, %s: restore the file`, vocabularyFile, r.Model.Value.Describe()))
	}
	return nil
}
