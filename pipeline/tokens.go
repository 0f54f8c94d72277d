package pipeline

import (
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"universal-transformer/decoding"
	"universal-transformer/internal/answerstream"
	"universal-transformer/internal/vocab"
	"universal-transformer/subword"
)

// A Token is a token of an answer.
type Token struct {
	Text  string // that it adds to those before it; "" for the end
	Steps int    // of the decoder's position that chose it; 0 if models of this kind have no steps
}

// Shown returns Text as answers have it: a line break is a space.
func (t Token) Shown() string { return answerstream.OneLine.Replace(t.Text) }

// watched returns a function that adds tokens of queries to a stream and passes them to watch, with their steps, which the queries are made
// to count. Query i answers line at[i].
func (m *Model) watched(s *answerstream.Stream, queries []decoding.Query, at []int, watch func(line int, t Token)) func(query int, token vocab.ID) {
	counted := countSteps(queries)
	return func(query int, token vocab.ID) {
		line := at[query]
		s.Add(line, token)
		tokens := s.Tokens[line]
		watch(line, Token{m.added(tokens), counted.of(query, len(tokens)-1)})
	}
}

// stepCounts holds the steps of tokens between the goroutine that decodes and the one that waits.
type stepCounts struct {
	mu   sync.Mutex
	list [][]int // of each query
}

// countSteps makes queries record the steps of their tokens.
func countSteps(queries []decoding.Query) *stepCounts {
	c := &stepCounts{list: make([][]int, len(queries))}
	for i := range queries {
		queries[i].OnSteps = func(token, steps int) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.list[i] = append(c.list[i][:token], steps) // a query that is decoded again begins anew
		}
	}
	return c
}

// of returns the steps of a token that has been chosen.
func (c *stepCounts) of(query, token int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if token >= len(c.list[query]) {
		return 0 // it is being decoded again
	}
	return c.list[query][token]
}

// added returns the text that the last token adds to those before it. Bytes of a character that is not complete are shown as such, and
// the token that completes it adds the character.
func (m *Model) added(tokens []vocab.ID) string {
	last := len(tokens) - 1
	if tokens[last] == vocab.End {
		return ""
	}
	from := max(0, last-1) // words and characters depend on the token before
	if m.Vocabularies.Subwords != nil {
		from = begin(m.Vocabularies.Subwords, tokens)
	}
	before, text := m.Vocabularies.TargetText(tokens[from:last]), m.Vocabularies.TargetText(tokens[from:])
	return strings.TrimPrefix(text, strings.TrimRight(before, "\uFFFD"))
}

// begin returns the last token whose text, with that of the tokens after it, does not depend on those before.
func begin(p *subword.Pieces, tokens []vocab.ID) int {
	from := len(tokens) - 1
	for from > 0 && !p.Begins(tokens[from]) {
		from--
	}
	return from
}

// tokens returns the tokens of ids. Subwords become the text that they add to the text before them: "A", " man". Bytes that are a part of a character
// only are numbers: `\xe6`.
func (m *Model) tokens(v *vocab.Vocabulary, ids []vocab.ID) []string {
	tokens, pieces := spell(v, ids), m.Vocabularies.Subwords
	if pieces == nil || !v.Equal(pieces.Vocabulary()) { // classes are no subwords
		return tokens
	}
	for i, id := range ids {
		if id <= vocab.End {
			continue
		}
		if raw, known := pieces.Bytes(id); known {
			tokens[i] = byteNumbers(raw)
			continue
		}
		from := begin(pieces, ids[:i+1])
		tokens[i] = strings.TrimPrefix(pieces.Text(ids[from:i+1]), pieces.Text(ids[from:i]))
	}
	return tokens
}

// byteNumbers returns bytes as text, those that are no characters as numbers.
func byteNumbers(raw string) string {
	var b strings.Builder
	for i, r := range raw {
		if _, size := utf8.DecodeRuneInString(raw[i:]); r == utf8.RuneError && size == 1 {
			fmt.Fprintf(&b, `\x%02x`, raw[i])
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// spell returns the tokens of ids as in the vocabulary.
func spell(v *vocab.Vocabulary, ids []vocab.ID) []string {
	tokens := make([]string, len(ids))
	for i, id := range ids {
		tokens[i] = v.Token(id)
	}
	return tokens
}

// text turns decoded ids into a line; subwords may contain line breaks, which are replaced.
func (m *Model) text(ids []vocab.ID) string {
	return answerstream.OneLine.Replace(m.Vocabularies.TargetText(ids))
}
