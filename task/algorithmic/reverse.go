package algorithmic

import (
	"slices"

	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// Reverse reverses the source: 3 1 4 -> 4 1 3. Lengths are uniform in 1..MaxLength and digits uniform. The zero value is the paper's
// setting: base 10, lengths 1..40.
type Reverse struct{ Digits }

// String returns "reverse".
func (Reverse) String() string { return "reverse" }

// WithExamples returns the task with a training set of n examples.
func (r Reverse) WithExamples(n int) task.Definition {
	r.Examples = n
	return r
}

// Open makes the task. It reads no files.
func (r Reverse) Open() (task.Task, error) { return r.stream(), nil }

func (r Reverse) stream() stream { return r.ofOneNumber(r.String(), r.answer) }

// Reader reads numbers, and files of tab-separated pairs.
func (r Reverse) Reader(v task.Vocabularies) task.Reader { return newReader(v, r.answer) }

func (Reverse) answer(source []vocab.ID) task.Example {
	target := append(slices.Clone(source), vocab.End)
	slices.Reverse(target[:len(source)])
	return task.Example{Source: source, Target: target}
}
