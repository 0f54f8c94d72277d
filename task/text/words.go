package text

import (
	"strings"
	"unicode"

	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// words is the number of words that begin in an example, its Origin. A word that a segment continues counts in the segment before, so
// that the numbers of all segments of a text sum to the number of its words.
type words int

// wordsOf returns a function that returns the number of words of an example.
func wordsOf(v task.Vocabularies) func(task.Example) int {
	return func(e task.Example) int {
		if n, ok := e.Origin.(words); ok {
			return int(n)
		}
		return len(strings.Fields(v.TargetText(e.Target)))
	}
}

// count returns the number of words that begin in a segment, and whether it ends inside a word, given whether it begins inside one.
func count(v task.Vocabularies, tokens []string, ids []vocab.ID, inside bool) (n words, ends bool) {
	if v.Tokenizer == vocab.Whitespace {
		return words(len(tokens)), false
	}
	text := strings.Join(tokens, "")
	if v.Subwords != nil {
		text = v.TargetText(ids)
	}
	for _, r := range text {
		space := unicode.IsSpace(r)
		if !space && !inside {
			n++
		}
		inside = !space
	}
	return n, inside
}
