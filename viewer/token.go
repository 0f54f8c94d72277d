package viewer

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Special tokens, spelled as in package vocab, and the short signs that represent them, so that rows of digits stay narrow. The
// function signs explains the signs that occur.
const (
	end, endSign         = "<end>", "∎"
	unknown, unknownSign = "<unknown>", "⁇"
	lineBreak            = "↵"
)

// signs returns a sentence for every sign that occurs among the tokens.
func signs(tokens []string) string {
	text := ""
	if slices.Contains(tokens, end) {
		text += " " + endSign + " is the end of the sequence."
	}
	if slices.Contains(tokens, unknown) {
		text += " " + unknownSign + " is a token the model does not know."
	}
	return text
}

// visible makes a token readable and safe to print. Spaces and control characters are shown as pictures (␣, ↵, ␀), other characters
// without a shape as numbers, and an empty token as a name. Single spaces between the words of a token (a fact of a story) are kept.
// Terminal escapes and text-direction marks in tokens therefore never reach a terminal or a page.
func visible(token string) string {
	switch token {
	case "":
		return "(empty)"
	case end:
		return endSign
	case unknown:
		return unknownSign
	}
	var b strings.Builder
	for i, r := range token {
		_, size := utf8.DecodeRuneInString(token[i:])
		switch {
		case r == ' ' && between(token, i):
			b.WriteRune(' ')
		case r == ' ':
			b.WriteRune('␣')
		case r == '\n':
			b.WriteString(lineBreak)
		case r < ' ':
			b.WriteRune('␀' + r)
		case r == 0x7f:
			b.WriteRune('␡')
		case r == utf8.RuneError && size == 1: // invalid UTF-8
			fmt.Fprintf(&b, `\x%02x`, token[i])
		case !unicode.IsGraphic(r), unicode.IsSpace(r):
			fmt.Fprintf(&b, "U+%04X", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// between reports whether the space at i is a single space between two words.
func between(token string, i int) bool {
	return i > 0 && i+1 < len(token) && token[i-1] > ' ' && token[i+1] > ' '
}

func visibleAll(tokens []string) []string {
	out := make([]string, len(tokens))
	for i, s := range tokens {
		out[i] = visible(s)
	}
	return out
}

// separator returns the text between printed tokens: nothing if all are single characters, such as digits, or pieces of words; a space
// for words and sentences; a dot for other phrases.
func separator(tokens []string) string {
	between := ""
	if arePieces(tokens) {
		return ""
	}
	for _, s := range visibleAll(tokens) {
		switch {
		case strings.Contains(s, " ") && sentence(s) == s && !strings.Contains(".?!", s[len(s)-1:]):
			return " · "
		case utf8.RuneCountInString(s) > 1:
			between = " "
		}
	}
	return between
}

// wide lists the blocks whose characters take two columns of a terminal.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x1100, Hi: 0x115f, Stride: 1}, {Lo: 0x2e80, Hi: 0xa4cf, Stride: 1}, {Lo: 0xac00, Hi: 0xd7a3, Stride: 1},
		{Lo: 0xf900, Hi: 0xfaff, Stride: 1}, {Lo: 0xfe30, Hi: 0xfe6f, Stride: 1}, {Lo: 0xff00, Hi: 0xff60, Stride: 1},
		{Lo: 0xffe0, Hi: 0xffe6, Stride: 1},
	},
	R32: []unicode.Range32{{Lo: 0x1f300, Hi: 0x1faff, Stride: 1}, {Lo: 0x20000, Hi: 0x3fffd, Stride: 1}},
}

// columns returns the number of terminal columns of a visible token.
func columns(s string) int {
	n := 0
	for _, r := range s {
		switch {
		case unicode.Is(unicode.Mn, r):
		case unicode.Is(wide, r):
			n += 2
		default:
			n++
		}
	}
	return n
}

// widest returns the largest number of columns of the visible tokens.
func widest(tokens []string) int {
	n := 0
	for _, s := range tokens {
		n = max(n, columns(s))
	}
	return n
}
