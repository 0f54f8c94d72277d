package viewer

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// labels returns the texts with which a page labels positions. Pieces of words are shown without their blanks, and a piece that continues
// a word begins with a dot. Sentences are written as usual, "Mary went home." for "mary went home .". Other tokens are made visible.
func labels(tokens []string) []string {
	out, pieces := make([]string, len(tokens)), arePieces(tokens)
	for i, s := range tokens {
		switch {
		case pieces && isWordStart(s):
			out[i] = visible(s[1:])
		case pieces && i > 0 && continues(tokens[i-1], s):
			out[i] = "·" + visible(s)
		default:
			out[i] = sentence(visible(s))
		}
	}
	return out
}

// arePieces reports whether tokens are pieces of words: one of them starts with the blank between two words.
func arePieces(tokens []string) bool { return slices.ContainsFunc(tokens, isWordStart) }

// isWordStart reports whether a token is a blank and the beginning of a word.
func isWordStart(s string) bool { return len(s) > 1 && s[0] == ' ' && s[1] > ' ' }

// continues reports whether a piece continues the word of the piece before it.
func continues(before, s string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	first, _ := utf8.DecodeRuneInString(s)
	return s != end && before != end && inWord(last) && inWord(first)
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

// sentence writes a tokenized sentence as usual: it begins with a capital letter, and no blank precedes the mark at its end.
func sentence(s string) string {
	if len(s) < 3 || !strings.Contains(".?!", s[len(s)-1:]) || s[len(s)-2] != ' ' {
		return s
	}
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[size:len(s)-2] + s[len(s)-1:]
}

// isStory reports whether a trace is of a story whose last sentence is the question.
func (t *Trace) isStory() bool {
	last := len(t.Source) - 1
	return last > 0 && t.Decoder == nil && strings.HasSuffix(t.Source[last], "?") && strings.Contains(strings.TrimSpace(t.Source[last]), " ")
}

// running returns tokens as running text, to be joined by their separator. Blanks are blanks unless the separator has its own, and a
// visible sign precedes each line break.
func running(tokens []string) []string {
	out, blanks := make([]string, len(tokens)), separator(tokens) == ""
	for i, s := range tokens {
		switch {
		case s == " " && blanks:
			out[i] = " "
		case isWordStart(s):
			out[i] = " " + visible(s[1:])
		default:
			out[i] = strings.ReplaceAll(sentence(visible(s)), lineBreak, lineBreak+"\n")
		}
	}
	return out
}

// label returns the text with which a page shows a token by itself.
func label(token string) string { return labels([]string{token})[0] }

// isPhrase reports whether a token has several words, as the facts of a story.
func isPhrase(token string) bool { return strings.Contains(strings.TrimSpace(token), " ") }
