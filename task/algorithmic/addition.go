package algorithmic

import (
	"math/rand/v2"
	"slices"

	"universal-transformer/task"
	"universal-transformer/vocab"
)

const separator = "+" // one token after the digits (tensor2tensor's has an id outside its vocabulary)

// Addition asks for the sum of two numbers, all least significant digit first: 9 9 + 4 1 -> 3 1 1 (99 + 14 = 113).
// A length is the whole source's: both operands and the separator, so 3 is the shortest. Operand lengths up to M in
// total are tensor2tensor's, first ~ U{1..M/2} and second ~ U{1..M-first-1}; for a length of exactly N the second
// fills what the first leaves. The top digit is not 0 unless it is the only one. The zero value is base 10, M = 40.
type Addition struct {
	Base      int `json:"base"`       // 2..36; 0 means 10
	MaxLength int `json:"max_length"` // M of training, in tokens, at least 3; 0 means 40
	Examples  int `json:"examples"`   // size of the training set; 0 draws without end (tensor2tensor: 100,000)
}

// Name is "addition".
func (Addition) Name() string { return "addition" }

// Validate names the field that is out of range; the other methods expect it to have been asked.
func (a Addition) Validate() error { return validate(a.Name(), a.Base, a.MaxLength, a.Examples, 3) }

// Resolved is the same task with its defaults spelled out.
func (a Addition) Resolved() Addition {
	a.Base, a.MaxLength = or(a.Base, defaultBase), or(a.MaxLength, defaultMaxLength)
	return a
}

// SourceVocabulary is the digits of the base, from id 2, and the separator "+".
func (a Addition) SourceVocabulary() *vocab.Vocabulary {
	return digits(or(a.Base, defaultBase), separator)
}

// TargetVocabulary is the source's, so that they can share embeddings; "+" does not occur in targets.
func (a Addition) TargetVocabulary() *vocab.Vocabulary { return a.SourceVocabulary() }

// Tokens is vocab.Characters: "99+41" is five tokens.
func (Addition) Tokens() vocab.Tokenizer { return vocab.Characters }

// Training is the i-th example of the training stream of seed.
func (a Addition) Training(seed uint64, i int64) task.Example { return a.stream().training(seed, i) }

// HeldOut draws sel.Count examples, 10,000 if that is 0. Length or Mix below 3 is an error.
func (a Addition) HeldOut(seed uint64, sel task.Selection) ([]task.Example, error) {
	return a.stream().heldOut(seed, sel)
}

// MaxLengths is MaxLength twice: one operand digit, the separator and a carry make room for the target's End.
func (a Addition) MaxLengths() (source, target int) {
	m := or(a.MaxLength, defaultMaxLength)
	return m, m
}

func (a Addition) stream() stream {
	return stream{name: a.Name(), shortest: 3, longest: or(a.MaxLength, defaultMaxLength), examples: a.Examples, draw: a.draw}
}

func (a Addition) draw(rng *rand.Rand, length int, exact bool) task.Example {
	base := or(a.Base, defaultBase)
	first := 1 + rng.IntN(length/2)
	second := length - first - 1
	if !exact {
		second = 1 + rng.IntN(second)
	}
	x, y := number(rng, base, first), number(rng, base, second)
	source := slices.Concat(x, []vocab.ID{digit0 + vocab.ID(base)}, y)
	return task.Example{Source: source, Target: append(sum(x, y, base), vocab.End)}
}
