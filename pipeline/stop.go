package pipeline

import (
	"strings"

	"universal-transformer/internal/answerstream"
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
		return answerstream.FirstOf(stops, m.Vocabularies.TargetText(last)) >= 0 && answerstream.FirstOf(stops, m.Vocabularies.TargetText(tokens)) >= 0
	}
}

// cut ends an answer before the first of some texts. It keeps the shortest prefix of tokens that spells the remaining text.
func (m *Model) cut(a *Answer, stops []string) {
	text := m.Vocabularies.TargetText(a.tokens)
	end := answerstream.FirstOf(stops, text)
	if end < 0 {
		return
	}
	a.Text, a.Finished = answerstream.OneLine.Replace(text[:end]), true
	for n := len(a.tokens); n > 0 && strings.HasPrefix(m.Vocabularies.TargetText(a.tokens[:n-1]), text[:end]); n-- {
		a.tokens = a.tokens[:n-1]
	}
}
