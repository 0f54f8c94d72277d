package tags

import (
	"strings"
	"unicode"

	"universal-transformer/internal/tabular"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// wordParts is the number of ids of a word with affixes.
const wordParts = 4

// parts returns the tokens that a word is read as: the word itself and, with affixes, its first and last characters and its shape, which
// are known of many words that did not occur in training.
func (c Tags) parts(word string) []string {
	if c.Affixes == 0 {
		return []string{word}
	}
	runes := []rune(word)
	n := min(c.Affixes, len(runes))
	return []string{word, "first=" + string(runes[:n]), "last=" + string(runes[len(runes)-n:]), "shape=" + shape(word)}
}

// shape replaces upper case letters by X, other letters by x and digits by 0, and runs of them by one: "A4-Blatt" is "X0-Xx".
func shape(word string) string {
	var b strings.Builder
	before := rune(0)
	for _, r := range word {
		switch {
		case unicode.IsUpper(r):
			r = 'X'
		case unicode.IsLetter(r):
			r = 'x'
		case unicode.IsDigit(r):
			r = '0'
		}
		if r != before {
			b.WriteRune(r)
		}
		before = r
	}
	return b.String()
}

// encode returns the ids of words. Tokens that the vocabulary does not have become <unknown>.
func (c Tags) encode(v *vocab.Vocabulary, words []string) (ids []vocab.ID) {
	for _, word := range words {
		of, _ := v.EncodeLossy(c.parts(word))
		ids = append(ids, of...)
	}
	return ids
}

// example encodes a sentence, and records unknown words and tags. A tag that the vocabulary does not have becomes End, which no model
// answers.
func (c Tags) example(v task.Vocabularies, s sentence, unknown, tags *tabular.UnknownTokens) task.Example {
	e := task.Example{Source: c.encode(v.Source, s.origin.words), Origin: s.origin}
	for i, tag := range s.origin.tags {
		if word := s.origin.words[i]; unknown != nil && !known(v.Source, word) {
			unknown.Add(word)
		}
		id, ok := v.Target.ID(tag)
		if !ok {
			tags.Add(tag)
			id = vocab.End
		}
		e.Target = append(e.Target, id)
	}
	return e
}

func known(v *vocab.Vocabulary, word string) bool {
	_, ok := v.ID(word)
	return ok
}
