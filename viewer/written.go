package viewer

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// asWritten returns a trace of a story whose sentences are spelled as in the input, which the model reads in lower case. It returns t if t is no
// story or has no input.
func (t *Trace) asWritten() *Trace {
	if !t.isStory() || t.Input == "" {
		return t
	}
	text := strings.NewReplacer(".", ".\n", "?", "?\n", "!", "!\n").Replace(t.Input)
	var sentences []string
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "\t")
		if line = strings.Join(strings.Fields(strings.TrimLeft(strings.TrimSpace(line), "0123456789")), " "); line != "" {
			sentences = append(sentences, line)
		}
	}
	if len(sentences) < len(t.Source) {
		return t
	}
	sentences = sentences[len(sentences)-len(t.Source):] // of a long story the model reads the end
	for i, s := range sentences {
		if bare(s) != bare(t.Source[i]) {
			return t
		}
	}
	written, encoder := *t, *t.Encoder
	if slices.Equal(encoder.Tokens, t.Source) {
		encoder.Tokens = sentences
	}
	written.Source, written.Encoder = sentences, &encoder
	return &written
}

// bare returns the letters and digits of a text in lower case.
func bare(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

// asked returns what was asked as running text: the input itself where tokens are pieces of words, otherwise the tokens.
func (t *Trace) asked() quote {
	isBytes := func(s string) bool { return strings.HasPrefix(s, `\x`) }
	if t.Input == "" || !arePieces(t.Source) && !slices.ContainsFunc(t.Source, isBytes) {
		return quoted(t.Source)
	}
	var words []string
	from := 0
	for i := 1; i < len(t.Input); i++ {
		if t.Input[i-1] > ' ' && t.Input[i] == ' ' {
			words, from = append(words, t.Input[from:i]), i
		}
	}
	q := quoted(append(words, t.Input[from:]))
	q.Separator = ""
	return q
}

// unread names the words of the input that the model does not know, each once.
func (t *Trace) unread() string {
	var words []string
	for _, s := range t.Unknown {
		if s = visible(s); !slices.Contains(words, s) {
			words = append(words, s)
		}
	}
	const most = 20
	if more := len(words) - most; more > 0 {
		words = append(words[:most], fmt.Sprintf("%d more", more))
	}
	return strings.Join(words, ", ")
}
