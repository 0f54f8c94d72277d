package algorithmic

import (
	"math/rand/v2"
	"slices"

	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// Reverse reverses the source: 3 1 4 -> 4 1 3. Lengths are uniform in 1..MaxLength and digits uniform. The zero value is the paper's
// setting: base 10, lengths 1..40.
type Reverse struct {
	sequences
	Base      int `json:"base"`       // 2..36; 0 means 10
	MaxLength int `json:"max_length"` // maximum length of a training source in tokens; 0 means 40
	Examples  int `json:"examples"`   // size of the training set; 0 means unlimited (tensor2tensor: 100,000)
}

// String returns "reverse".
func (Reverse) String() string { return "reverse" }

// Validate returns an error that names the first field out of range. It must be called before Open.
func (r Reverse) Validate() error { return validate(r.Base, r.MaxLength, r.Examples, 1) }

// Resolved returns the task with its defaults filled in.
func (r Reverse) Resolved() Reverse {
	r.Base, r.MaxLength = orDefault(r.Base, defaultBase), orDefault(r.MaxLength, defaultMaxLength)
	return r
}

// Open makes the task. It reads no files.
func (r Reverse) Open() (task.Task, error) { return r.stream(), nil }

func (r Reverse) stream() stream {
	n, base := orDefault(r.MaxLength, defaultMaxLength), orDefault(r.Base, defaultBase)
	return stream{
		name: r.String(), base: base, ids: vocabularies(base), shortest: 1, longest: n, longestTarget: n + 1,
		examples: r.Examples, shape: oneNumber, fill: r.fill, hard: periodic(base, r.answer),
	}
}

// Reader reads numbers, and files of tab-separated pairs.
func (r Reverse) Reader(v task.Vocabularies) task.Reader { return newReader(v, r.answer) }

func (r Reverse) fill(rng *rand.Rand, s shape) task.Example {
	return r.answer(randomDigits(rng, orDefault(r.Base, defaultBase), s.first))
}

func (Reverse) answer(source []vocab.ID) task.Example {
	target := append(slices.Clone(source), vocab.End)
	slices.Reverse(target[:len(source)])
	return task.Example{Source: source, Target: target}
}
