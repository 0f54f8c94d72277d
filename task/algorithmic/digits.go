// Package algorithmic is the tasks of section 3.4 of the paper: Copy, Reverse and (integer) Addition on strings of
// digits, by the protocol of the authors' tensor2tensor (algorithmic.py; problems algorithmic_*_decimal40 and
// _binary40). Tokens are digits of base 2..36, written 0-9 and a-z; the paper's are base 10, trained on lengths
// up to 40 and evaluated at up to 400.
//
// Training examples are drawn online, without end, or from a fixed set of Examples (tensor2tensor has 100,000),
// which every epoch goes through once in another order. Held-out examples have a random stream of their own. Where
// there are few sources, as the ten of length 1 in base 10, held-out examples are bound to occur in training too;
// from about length 8 on it does not happen.
package algorithmic

import (
	"fmt"
	"math/rand/v2"

	"universal-transformer/internal/seed"
	"universal-transformer/task"
	"universal-transformer/vocab"
)

const (
	defaultBase      = 10
	defaultMaxLength = 40     // "trained on 40, evaluated on 400"
	defaultHeldOut   = 10_000 // tensor2tensor's development set
	digit0           = vocab.End + 1
	alphabet         = "0123456789abcdefghijklmnopqrstuvwxyz"
)

// digits is the vocabulary of a base: digit d has id d+2; further tokens follow.
func digits(base int, more ...string) *vocab.Vocabulary {
	tokens := make([]string, 0, base+len(more))
	for d := range base {
		tokens = append(tokens, alphabet[d:d+1])
	}
	v, err := vocab.New(append(tokens, more...))
	if err != nil {
		panic(err) // the alphabet has no token twice
	}
	return v
}

// randomDigits draws n digits, each uniform.
func randomDigits(rng *rand.Rand, base, n int) []vocab.ID {
	ids := make([]vocab.ID, n)
	for i := range ids {
		ids[i] = digit0 + vocab.ID(rng.IntN(base))
	}
	return ids
}

// A stream is a task made of one way of drawing an example: the training and the held-out stream.
type stream struct {
	name          string
	ids           task.Vocabularies
	shortest      int // smallest total source length there is
	longest       int // largest in training
	examples      int // 0: online; else the size of the fixed training set
	longestTarget int // in training, End included
	// draw is one example of exactly length source tokens (exact), or of the task's mix of lengths up to length.
	draw func(rng *rand.Rand, length int, exact bool) task.Example
}

// Name is the task's: "copy".
func (s stream) Name() string { return s.name }

// Vocabularies is digits, on both sides the same.
func (s stream) Vocabularies() task.Vocabularies { return s.ids }

// MaxLengths is of training.
func (s stream) MaxLengths() (source, target int) { return s.longest, s.longestTarget }

// Notes has nothing to say.
func (s stream) Notes() []string { return nil }

// Training is the i-th example of the training stream of seed.
func (s stream) Training(seedValue uint64, i int64) task.Example {
	if s.examples > 0 {
		n := int64(s.examples)
		order := seed.NewPermutation(seedValue, s.name+"/epoch", i/n, s.examples)
		i = int64(order.At(int(i % n)))
	}
	return s.draw(seed.Rand(seedValue, s.name+"/training", i), s.longest, false)
}

// HeldOut draws sel.Count examples, 10,000 if that is 0. A Length or Mix below the shortest source is an error.
func (s stream) HeldOut(seedValue uint64, sel task.Selection) ([]task.Example, error) {
	if err := sel.Validate(); err != nil {
		return nil, err
	}
	length, exact, field := s.longest, false, ""
	switch {
	case sel.Length > 0:
		length, exact, field = sel.Length, true, "length"
	case sel.Mix > 0:
		length, field = sel.Mix, "mix"
	}
	if length < s.shortest {
		return nil, fmt.Errorf("%s is %d: the shortest source of %s has %d tokens", field, length, s.name, s.shortest)
	}
	examples := make([]task.Example, sel.Count)
	if sel.Count == 0 {
		examples = make([]task.Example, defaultHeldOut)
	}
	name := s.name + "/held-out"
	if sel.Validation {
		name = s.name + "/validation"
	}
	for i := range examples {
		examples[i] = s.draw(seed.Rand(seedValue, name, int64(i)), length, exact)
	}
	return examples, nil
}
