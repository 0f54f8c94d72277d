// Package algorithmic contains the tasks of section 3.4 of the paper: Copy, Reverse and (integer) Addition on strings of digits,
// following the authors' tensor2tensor (algorithmic.py; problems algorithmic_*_decimal40 and _binary40). Tokens are digits of base
// 2..36, written 0-9 and a-z; the paper uses base 10, trains on lengths up to 40 and evaluates at up to 400.
//
// Training examples are generated online without end, or come from a fixed set of Examples (tensor2tensor has 100,000), which every
// epoch visits once in a new order. Held-out examples have their own random stream and their own sources: a hash of the source
// assigns it to training, validation or testing. Lengths with very few sources, such as the ten of length 1 in base 10, are shared by
// all parts; evaluations report how many of their examples are affected.
package algorithmic

import (
	"math/rand/v2"

	"universal-transformer/internal/vocab"
)

const (
	defaultBase      = 10
	defaultMaxLength = 40     // "trained on 40, evaluated on 400"
	defaultHeldOut   = 10_000 // tensor2tensor's development set
	digit0           = vocab.End + 1
	alphabet         = "0123456789abcdefghijklmnopqrstuvwxyz"
)

// digits returns the vocabulary of a base: digit d has id d+2; further tokens follow.
func digits(base int, more ...string) *vocab.Vocabulary {
	tokens := make([]string, 0, base+len(more))
	for d := range base {
		tokens = append(tokens, alphabet[d:d+1])
	}
	v, err := vocab.New(append(tokens, more...))
	if err != nil {
		panic(err) // cannot happen: the digits differ
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
