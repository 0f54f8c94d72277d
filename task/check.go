package task

import (
	"fmt"
	"slices"

	"universal-transformer/internal/vocab"
)

// Check returns an error if e is no example of a task of that kind: if it has ids that are not in the vocabularies, a target that does not end
// with End or has it elsewhere, a class that is missing or one of several, or source positions that are not whole.
func (v Vocabularies) Check(kind Kind, e Example) error {
	if err := inRange("target", e.Target, v.Target.Size(), 1); err != nil {
		return err
	}
	if v.Source != nil {
		if err := v.checkSource(e.Source); err != nil {
			return err
		}
	}
	end := slices.Index(e.Target, vocab.End)
	switch {
	case len(e.Target) == 0 && (kind != Tagging || len(e.Source) == 0):
		return fmt.Errorf("the target is empty")
	case kind == Classification && len(e.Target) != 1:
		return fmt.Errorf("target %v is not one class", e.Target)
	case kind == Tagging && (len(e.Target)*v.Positions() != len(e.Source) || end >= 0):
		return fmt.Errorf("target %v does not have a class for each position of source %v", e.Target, e.Source)
	case kind == Transduction && end < 0:
		return fmt.Errorf("target %v does not end with End, id %d", e.Target, vocab.End)
	case (kind == Transduction || kind == LanguageModeling) && end >= 0 && end < len(e.Target)-1:
		return fmt.Errorf("target %v has an End before its end", e.Target)
	case kind == LanguageModeling && len(e.Source) > 0:
		return fmt.Errorf("source %v is not empty", e.Source)
	}
	return nil
}

// CheckAll is [Vocabularies.Check] for several examples. Its error has the number of the example, from 1.
func (v Vocabularies) CheckAll(kind Kind, examples []Example) error {
	for i, e := range examples {
		if err := v.Check(kind, e); err != nil {
			return fmt.Errorf("example %d: %w", i+1, err)
		}
	}
	return nil
}

// An ExampleError is what [Task.Training] panics with if it cannot draw an example, such as one of a user's function. Training ends with it.
type ExampleError struct{ Err error }

// Error returns the message of Err.
func (e *ExampleError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *ExampleError) Unwrap() error { return e.Err }

// Drawn returns the example that a function draws, or the [ExampleError] that it panics with.
func Drawn(draw func() Example) (e Example, err error) {
	defer func() {
		switch problem := recover().(type) {
		case nil:
		case *ExampleError:
			err = problem
		default:
			panic(problem)
		}
	}()
	return draw(), nil
}

// checkSource returns an error unless a source consists of whole positions, each beginning with a token and padded at its end.
func (v Vocabularies) checkSource(ids []vocab.ID) error {
	width := v.Positions()
	if len(ids)%width != 0 {
		return fmt.Errorf("source of %d ids does not consist of whole positions of %d ids", len(ids), width)
	}
	for i, id := range ids {
		if id != vocab.Padding && i%width > 0 && ids[i-1] == vocab.Padding {
			return fmt.Errorf("source id %d at %d comes after padding of its position", id, i)
		}
	}
	return inRange("source", ids, v.Source.Size(), width)
}

// inRange returns an error if an id is not in a vocabulary of that size. Padding is allowed within positions of width ids, after the first.
func inRange(side string, ids []vocab.ID, size, width int) error {
	for i, id := range ids {
		if (id <= vocab.Padding || int(id) >= size) && (id != vocab.Padding || i%width == 0) {
			return fmt.Errorf("%s id %d at %d is outside 1..%d", side, id, i, size-1)
		}
	}
	return nil
}
