package algorithmic

import (
	"math/rand/v2"
	"slices"

	"universal-transformer/task"
	"universal-transformer/vocab"
)

// Copy asks for the source again: 3 1 4 -> 3 1 4.
// Lengths are uniform in 1..MaxLength and digits uniform. The zero value is the paper's: base 10, lengths 1..40.
type Copy struct {
	Base      int `json:"base"`       // 2..36; 0 means 10
	MaxLength int `json:"max_length"` // longest training source, in tokens; 0 means 40
	Examples  int `json:"examples"`   // size of the training set; 0 draws without end (tensor2tensor: 100,000)
}

// Name is "copy".
func (Copy) Name() string { return "copy" }

// Validate names the field that is out of range; the other methods expect it to have been asked.
func (c Copy) Validate() error { return validate(c.Name(), c.Base, c.MaxLength, c.Examples, 1) }

// Resolved is the same task with its defaults spelled out.
func (c Copy) Resolved() Copy {
	c.Base, c.MaxLength = or(c.Base, defaultBase), or(c.MaxLength, defaultMaxLength)
	return c
}

// SourceVocabulary is the digits of the base, from id 2.
func (c Copy) SourceVocabulary() *vocab.Vocabulary { return digits(or(c.Base, defaultBase)) }

// TargetVocabulary is the source's.
func (c Copy) TargetVocabulary() *vocab.Vocabulary { return c.SourceVocabulary() }

// Tokens is vocab.Characters: "314" is three tokens.
func (Copy) Tokens() vocab.Tokenizer { return vocab.Characters }

// Training is the i-th example of the training stream of seed.
func (c Copy) Training(seed uint64, i int64) task.Example { return c.stream().training(seed, i) }

// HeldOut draws sel.Count examples, 10,000 if that is 0.
func (c Copy) HeldOut(seed uint64, sel task.Selection) ([]task.Example, error) {
	return c.stream().heldOut(seed, sel)
}

// MaxLengths is MaxLength, and one more for the target's End.
func (c Copy) MaxLengths() (source, target int) {
	n := or(c.MaxLength, defaultMaxLength)
	return n, n + 1
}

func (c Copy) stream() stream {
	return stream{name: c.Name(), shortest: 1, longest: or(c.MaxLength, defaultMaxLength), examples: c.Examples, draw: c.draw}
}

func (c Copy) draw(rng *rand.Rand, length int, exact bool) task.Example {
	if !exact {
		length = 1 + rng.IntN(length)
	}
	source := randomDigits(rng, or(c.Base, defaultBase), length)
	target := append(slices.Clone(source), vocab.End)
	return task.Example{Source: source, Target: target}
}
