package text

import (
	"strings"
	"unicode"

	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// Origin is the text of an example and the number of words that begin in it. A word that a segment continues counts in the segment
// before, so that the numbers of all segments of a text sum to the number of its words.
type Origin struct {
	text   string
	words  int
	inside bool // the text begins inside a word
}

// Text returns the text; there is no source.
func (o Origin) Text() (source, target string) { return "", o.text }

// originOf returns the origin of a segment or a line, given whether it begins inside a word, and whether it ends inside one.
func originOf(v task.Vocabularies, tokens []string, ids []vocab.ID, inside bool) (o Origin, ends bool) {
	o = Origin{text: v.Tokenizer.Join(tokens), inside: inside}
	if v.Subwords != nil {
		o.text = v.Subwords.Text(ids)
	}
	o.words, ends = count(v, tokens, o.text, inside)
	return o, ends
}

// wordsOf returns a function that returns the number of words of an example.
func wordsOf(v task.Vocabularies) func(task.Example) int {
	return func(e task.Example) int {
		if o, ok := e.Origin.(Origin); ok {
			return o.words
		}
		return len(strings.Fields(v.TargetText(e.Target)))
	}
}

// count returns the number of words that begin in a segment, and whether it ends inside a word, given whether it begins inside one.
func count(v task.Vocabularies, tokens []string, text string, inside bool) (n int, ends bool) {
	if v.Tokenizer == vocab.Whitespace {
		return len(tokens), false
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
