package algorithmic

import (
	"slices"

	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// Copy repeats the source: 3 1 4 -> 3 1 4. Lengths are uniform in 1..MaxLength and digits uniform. The zero value is the paper's setting:
// base 10, lengths 1..40.
type Copy struct{ Digits }

// String returns "copy".
func (Copy) String() string { return "copy" }

// WithExamples returns the task with a training set of n examples.
func (c Copy) WithExamples(n int) task.Definition {
	c.Examples = n
	return c
}

// Open makes the task. It reads no files.
func (c Copy) Open() (task.Task, error) { return c.stream(), nil }

func (c Copy) stream() stream { return c.ofOneNumber(c.String(), c.answer) }

// Reader reads numbers, and files of tab-separated pairs.
func (c Copy) Reader(v task.Vocabularies) task.Reader { return newReader(v, c.answer) }

func (Copy) answer(source []vocab.ID) task.Example {
	return task.Example{Source: source, Target: append(slices.Clone(source), vocab.End)}
}
