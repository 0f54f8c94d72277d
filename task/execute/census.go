package execute

import (
	"fmt"
	"slices"

	"universal-transformer/task"
)

// A Census counts test programs by one of their operations.
type Census struct {
	Programs  int
	With      int // programs with the operation
	Dependent int // programs whose answers depend on a result of the operation; in the others with it, a conditional chooses another number
	Tokens    int // of all targets, with their ends
}

// Discarded returns the number of programs with the operation whose answers do not depend on it.
func (c Census) Discarded() int { return c.With - c.Dependent }

// Census counts the test programs of the maximum length and nesting, and those of a kind of [Kinds], by an operation.
func (p Program) Census(operation string, programs int, kindName string, count int) (maximum, ofKind Census, err error) {
	kinds, s := kindsOf(p)
	at := slices.IndexFunc(kinds, func(k kind) bool { return k.name == kindName })
	if at < 0 {
		return maximum, ofKind, fmt.Errorf("%v has no kind %q", p, kindName)
	}
	examples, err := s.HeldOut(task.TestSeed, task.Selection{Length: p.Length, Count: programs})
	if err != nil {
		return maximum, ofKind, err
	}
	if maximum, err = s.census(examples, operation); err != nil {
		return maximum, ofKind, err
	}
	ofKind, err = s.census(kinds[at].examples(s, count), operation)
	return maximum, ofKind, err
}

// census counts programs. An answer depends on an operation if it changes with all results of the operation larger by one.
func (s stream) census(examples []task.Example, operation string) (c Census, err error) {
	for _, e := range examples {
		source := text(s.ids, e.Source)
		answer, of, err := EvaluateProgram(source)
		if err != nil {
			return c, err
		}
		raised, _, err := evaluateProgram(source, operation)
		if err != nil {
			return c, err
		}
		c.Programs++
		c.Tokens += len(e.Target)
		if slices.Contains(of.Operations, operation) {
			c.With++
		}
		if raised != answer {
			c.Dependent++
		}
	}
	return c, nil
}
