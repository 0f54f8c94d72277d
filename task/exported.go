package task

import (
	"math/rand/v2"

	"universal-transformer/internal/score"
	"universal-transformer/internal/seed"
	"universal-transformer/internal/vocab"
)

// Types of internal packages that tasks of other modules need.
type (
	ID         = vocab.ID // 0 is padding, 1 is [End], 2 the first token of a [Vocabulary]
	Vocabulary = vocab.Vocabulary
	Tokenizer  = vocab.Tokenizer
	Metric     = score.Metric
	Share      = score.Accuracy // a number of correct trials and the number of trials
)

// End ends every target.
const End = vocab.End

// The tokenizers that need no file.
const (
	Characters = vocab.Characters // every character is a token
	Whitespace = vocab.Whitespace // tokens stand between white space
)

// NewVocabulary returns a vocabulary of the tokens, in this order.
func NewVocabulary(tokens []string) (*Vocabulary, error) { return vocab.New(tokens) }

// Rand returns the random numbers that belong to (seed, name, index), for [Task.Training]: the same three give the same numbers.
func Rand(seedValue uint64, name string, index int64) *rand.Rand {
	return seed.Rand(seedValue, name, index)
}
