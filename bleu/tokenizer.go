package bleu

import (
	"strings"
	"unicode"
)

// Tokenizer determines the tokens of a line. The zero value is V13a.
type Tokenizer uint8

const (
	V13a          Tokenizer = iota // "13a": as in mteval-v13a.pl, for Western languages; the usual choice
	International                  // "intl": as in mteval-v14.pl, which handles the punctuation of all scripts
	Whitespace                     // "none": separated by white space, for text that is already tokenized
	Characters                     // "char": every code point that is not white space
)

var (
	tokenizerNames = [...]string{V13a: "13a", International: "intl", Whitespace: "none", Characters: "char"}
	tokenizers     = [...]func(string) []string{V13a: v13a, International: international, Whitespace: fields, Characters: characters}
)

// Tokens splits a line into tokens. No token is empty or contains white space.
func (t Tokenizer) Tokens(line string) []string { return tokenizers[t](line) }

// Validate returns an error if the value is not one of the constants.
func (t Tokenizer) Validate() error { return validName("tokenizer", uint8(t), tokenizerNames[:]) }

// String returns the name in signatures: "13a", "intl", "none" or "char".
func (t Tokenizer) String() string { return nameOf("tokenizer", uint8(t), tokenizerNames[:]) }

// MarshalText writes the name.
func (t Tokenizer) MarshalText() ([]byte, error) { return []byte(t.String()), t.Validate() }

// UnmarshalText reads the name.
func (t *Tokenizer) UnmarshalText(text []byte) error {
	i, err := named("tokenizer", string(text), tokenizerNames[:])
	if err == nil {
		*t = Tokenizer(i)
	}
	return err
}

// v13a decodes "&amp;lt;" to "<", since it replaces entities one after the other, as mteval does.
func v13a(line string) []string {
	line = strings.ReplaceAll(line, "<skipped>", "")
	line = strings.ReplaceAll(line, "-\n", "")
	for _, entity := range [...][2]string{{"&quot;", `"`}, {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}} {
		line = strings.ReplaceAll(line, entity[0], entity[1])
	}
	runes := around([]rune(" "+line+" "), asciiSymbol)
	runes = aroundRight(runes, notDigit, pointOrComma)
	runes = aroundLeft(runes, pointOrComma, notDigit)
	runes = aroundRight(runes, digit, hyphen)
	return fields(string(runes))
}

// international keeps a full stop after a number at the end of a line attached, as mteval does.
func international(line string) []string {
	runes := aroundRight([]rune(line), notNumber, isPunctuation)
	runes = aroundLeft(runes, isPunctuation, notNumber)
	return fields(string(around(runes, isSymbol)))
}

func characters(line string) []string {
	var tokens []string
	for _, r := range line {
		if !isSpace(r) {
			tokens = append(tokens, string(r))
		}
	}
	return tokens
}

func fields(line string) []string { return strings.FieldsFunc(line, isSpace) }

// isSpace reports whether r is white space in Python, which includes the separators U+001C to U+001F unlike Go.
func isSpace(r rune) bool { return unicode.IsSpace(r) || 0x1c <= r && r <= 0x1f }

func digit(r rune) bool        { return '0' <= r && r <= '9' }
func notDigit(r rune) bool     { return !digit(r) }
func pointOrComma(r rune) bool { return r == '.' || r == ',' }
func hyphen(r rune) bool       { return r == '-' }

// asciiSymbol reports whether r is ASCII punctuation or a symbol other than ' , - and the full stop. It includes the blank, which
// makes no difference.
func asciiSymbol(r rune) bool {
	switch {
	case '{' <= r && r <= '~', '[' <= r && r <= '`', ' ' <= r && r <= '&', '(' <= r && r <= '+', ':' <= r && r <= '@', r == '/':
		return true
	}
	return false
}

// around inserts blanks around every rune in a set.
func around(line []rune, set func(rune) bool) []rune {
	spaced := make([]rune, 0, 2*len(line))
	for _, r := range line {
		if set(r) {
			spaced = append(spaced, ' ', r, ' ')
		} else {
			spaced = append(spaced, r)
		}
	}
	return spaced
}

// aroundRight inserts blanks around the second rune of every matching pair. Pairs are searched from left to right and do not overlap:
// in a row of commas only every other one is the second of a pair.
func aroundRight(line []rune, left, right func(rune) bool) []rune {
	return replacePairs(line, left, right, func(spaced []rune, a, b rune) []rune { return append(spaced, a, ' ', b, ' ') })
}

// aroundLeft inserts blanks around the first rune of every matching pair.
func aroundLeft(line []rune, left, right func(rune) bool) []rune {
	return replacePairs(line, left, right, func(spaced []rune, a, b rune) []rune { return append(spaced, ' ', a, ' ', b) })
}

func replacePairs(line []rune, left, right func(rune) bool, replace func(spaced []rune, a, b rune) []rune) []rune {
	spaced := make([]rune, 0, 2*len(line))
	for i := 0; i < len(line); i++ {
		if i+1 < len(line) && left(line[i]) && right(line[i+1]) {
			spaced = replace(spaced, line[i], line[i+1])
			i++
		} else {
			spaced = append(spaced, line[i])
		}
	}
	return spaced
}
