package algorithmic

import (
	"math/rand/v2"
	"slices"

	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// Copy repeats the source: 3 1 4 -> 3 1 4. Lengths are uniform in 1..MaxLength and digits uniform. The zero value is the paper's setting:
// base 10, lengths 1..40.
type Copy struct {
	sequences
	Base      int `json:"base"`       // 2..36; 0 means 10
	MaxLength int `json:"max_length"` // maximum length of a training source in tokens; 0 means 40
	Examples  int `json:"examples"`   // size of the training set; 0 means unlimited (tensor2tensor: 100,000)
}

// String returns "copy".
func (Copy) String() string { return "copy" }

// Validate returns an error that names the first field out of range. It must be called before Open.
func (c Copy) Validate() error { return validate(c.Base, c.MaxLength, c.Examples, 1) }

// Resolved returns the task with its defaults filled in.
func (c Copy) Resolved() Copy {
	c.Base, c.MaxLength = orDefault(c.Base, defaultBase), orDefault(c.MaxLength, defaultMaxLength)
	return c
}

// Open makes the task. It reads no files.
func (c Copy) Open() (task.Task, error) { return c.stream(), nil }

func (c Copy) stream() stream {
	n, base := orDefault(c.MaxLength, defaultMaxLength), orDefault(c.Base, defaultBase)
	return stream{
		name: c.String(), base: base, ids: vocabularies(base), shortest: 1, longest: n, longestTarget: n + 1,
		examples: c.Examples, shape: oneNumber, fill: c.fill, hard: periodic(base, c.answer),
	}
}

// Reader reads numbers, and files of tab-separated pairs.
func (c Copy) Reader(v task.Vocabularies) task.Reader { return newReader(v, c.answer) }

func (c Copy) fill(rng *rand.Rand, s shape) task.Example {
	return c.answer(randomDigits(rng, orDefault(c.Base, defaultBase), s.first))
}

func (Copy) answer(source []vocab.ID) task.Example {
	return task.Example{Source: source, Target: append(slices.Clone(source), vocab.End)}
}

// oneNumber draws the shape of copy and reverse: lengths are uniform in 1..length.
func oneNumber(rng *rand.Rand, length int, exact bool) shape {
	if !exact {
		length = 1 + rng.IntN(length)
	}
	return shape{first: length}
}
