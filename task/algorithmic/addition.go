package algorithmic

import (
	"math/rand/v2"
	"slices"

	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

const separator = "+" // one token after the digits (in tensor2tensor its id is outside the vocabulary)

// Addition is the sum of two numbers, all written with the least significant digit first: 9 9 + 4 1 -> 3 1 1 (99 + 14 = 113). The
// length of an example is that of its source: both operands and the separator, so 3 is the minimum. As in tensor2tensor, for lengths
// up to M the first operand has U{1..M/2} digits and the second U{1..M-first-1}; for a length of exactly N the second has the
// remaining digits. The most significant digit is not 0 unless it is the only one. The zero value is base 10, M = 40.
type Addition struct{ Digits }

// String returns "addition".
func (Addition) String() string { return "addition" }

// Validate returns an error that names the first field out of range. It must be called before Open.
func (a Addition) Validate() error { return a.validate(3) }

// WithExamples returns the task with a training set of n examples.
func (a Addition) WithExamples(n int) task.Definition {
	a.Examples = n
	return a
}

// Open makes the task. It reads no files.
func (a Addition) Open() (task.Task, error) { return a.stream(), nil }

func (a Addition) stream() stream {
	d := a.filled()
	return stream{
		name: a.String(), base: d.Base, ids: vocabularies(d.Base, separator), shortest: 3, longest: d.MaxLength, longestTarget: d.MaxLength,
		examples: a.Examples, shape: twoNumbers, fill: a.fill, hard: a.hard(),
	}
}

// twoNumbers draws the lengths of both operands.
func twoNumbers(rng *rand.Rand, length int, exact bool) (s shape) {
	s.first = 1 + rng.IntN(length/2)
	s.second = length - s.first - 1
	if !exact {
		s.second = 1 + rng.IntN(s.second)
	}
	return s
}

// Reader reads sums, and files of tab-separated pairs.
func (a Addition) Reader(v task.Vocabularies) task.Reader {
	plus := digit0 + vocab.ID(a.filled().Base)
	return newReader(v, func(source []vocab.ID) task.Example {
		at := slices.Index(source, plus)
		if at < 1 || at == len(source)-1 || slices.Contains(source[at+1:], plus) {
			return task.Example{} // not two numbers
		}
		return a.answer(source[:at], source[at+1:])
	})
}

func (a Addition) fill(rng *rand.Rand, s shape) task.Example {
	base := a.filled().Base
	return a.answer(number(rng, base, s.first), number(rng, base, s.second))
}

// answer returns the example for the sum of two numbers.
func (a Addition) answer(x, y []vocab.ID) task.Example {
	base := a.filled().Base
	source := slices.Concat(x, []vocab.ID{digit0 + vocab.ID(base)}, y)
	return task.Example{Source: source, Target: append(sum(x, y, base), vocab.End)}
}
