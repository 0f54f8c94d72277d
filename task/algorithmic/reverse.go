package algorithmic

import (
	"math/rand/v2"
	"slices"

	"universal-transformer/task"
	"universal-transformer/vocab"
)

// Reverse asks for the source back to front: 3 1 4 -> 4 1 3.
// Lengths are uniform in 1..MaxLength and digits uniform. The zero value is the paper's: base 10, lengths 1..40.
type Reverse struct {
	Base      int `json:"base"`       // 2..36; 0 means 10
	MaxLength int `json:"max_length"` // longest training source, in tokens; 0 means 40
	Examples  int `json:"examples"`   // size of the training set; 0 draws without end (tensor2tensor: 100,000)
}

// Name is "reverse".
func (Reverse) Name() string { return "reverse" }

// Validate names the field that is out of range; the other methods expect it to have been asked.
func (r Reverse) Validate() error { return validate(r.Name(), r.Base, r.MaxLength, r.Examples, 1) }

// Resolved is the same task with its defaults spelled out.
func (r Reverse) Resolved() Reverse {
	r.Base, r.MaxLength = or(r.Base, defaultBase), or(r.MaxLength, defaultMaxLength)
	return r
}

// SourceVocabulary is the digits of the base, from id 2.
func (r Reverse) SourceVocabulary() *vocab.Vocabulary { return digits(or(r.Base, defaultBase)) }

// TargetVocabulary is the source's.
func (r Reverse) TargetVocabulary() *vocab.Vocabulary { return r.SourceVocabulary() }

// Tokens is vocab.Characters: "314" is three tokens.
func (Reverse) Tokens() vocab.Tokenizer { return vocab.Characters }

// Training is the i-th example of the training stream of seed.
func (r Reverse) Training(seed uint64, i int64) task.Example { return r.stream().training(seed, i) }

// HeldOut draws sel.Count examples, 10,000 if that is 0.
func (r Reverse) HeldOut(seed uint64, sel task.Selection) ([]task.Example, error) {
	return r.stream().heldOut(seed, sel)
}

// MaxLengths is MaxLength, and one more for the target's End.
func (r Reverse) MaxLengths() (source, target int) {
	n := or(r.MaxLength, defaultMaxLength)
	return n, n + 1
}

func (r Reverse) stream() stream {
	return stream{name: r.Name(), shortest: 1, longest: or(r.MaxLength, defaultMaxLength), examples: r.Examples, draw: r.draw}
}

func (r Reverse) draw(rng *rand.Rand, length int, exact bool) task.Example {
	if !exact {
		length = 1 + rng.IntN(length)
	}
	source := randomDigits(rng, or(r.Base, defaultBase), length)
	target := append(slices.Clone(source), vocab.End)
	slices.Reverse(target[:length])
	return task.Example{Source: source, Target: target}
}
