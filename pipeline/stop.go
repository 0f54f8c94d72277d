package pipeline

import (
	"strings"

	"universal-transformer/internal/vocab"
)

// ends returns a function that reports whether the last token of an answer completes one of some texts; nil without texts.
func (m *Model) ends(stops []string) func(tokens []vocab.ID) bool {
	if len(stops) == 0 {
		return nil
	}
	longest := 0
	for _, stop := range stops {
		longest = max(longest, len(stop))
	}
	const perByte = 8 // more tokens than spell a byte: a subword vocabulary may write it as a number
	return func(tokens []vocab.ID) bool {
		last := tokens[max(0, len(tokens)-perByte*(longest+1)):]
		return firstOf(stops, m.text(last)) >= 0 && firstOf(stops, m.text(tokens)) >= 0
	}
}

// firstOf returns where the first of some texts begins in a text, or -1.
func firstOf(texts []string, in string) int {
	first := -1
	for _, text := range texts {
		if i := strings.Index(in, text); i >= 0 && (first < 0 || i < first) {
			first = i
		}
	}
	return first
}

// cut ends an answer before the first of some texts. Its tokens are those without which the rest could not be spelled.
func (m *Model) cut(a *Answer, stops []string) {
	end := firstOf(stops, a.Text)
	if end < 0 {
		return
	}
	a.Text, a.Finished = a.Text[:end], true
	for n := len(a.tokens); n > 0 && strings.HasPrefix(m.text(a.tokens[:n-1]), a.Text); n-- {
		a.tokens = a.tokens[:n-1]
	}
}
