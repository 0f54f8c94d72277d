package bleu

import (
	"strings"
	"unicode"
)

// Tokenizer says what a token of a line is. The zero value is V13a.
type Tokenizer uint8

const (
	V13a          Tokenizer = iota // "13a": that of mteval-v13a.pl, for Western languages; what is usually reported
	International                  // "intl": that of mteval-v14.pl, which knows the punctuation of all scripts
	Whitespace                     // "none": what stands between white space, for text that is tokenized already
	Characters                     // "char": every code point that is not white space
)

var (
	tokenizerNames = [...]string{V13a: "13a", International: "intl", Whitespace: "none", Characters: "char"}
	tokenizers     = [...]func(string) []string{V13a: v13a, International: international, Whitespace: fields, Characters: characters}
)

// Tokens cuts a line into tokens, none of which is empty or has white space in it.
func (t Tokenizer) Tokens(line string) []string { return tokenizers[t](line) }

// Validate reports a value that is none of the constants.
func (t Tokenizer) Validate() error { return validName("tokenizer", uint8(t), tokenizerNames[:]) }

// String is the name that signatures have: "13a", "intl", "none" or "char".
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

// v13a takes "&amp;lt;" for "<", since it replaces entities one after the other: so does mteval.
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

// international leaves a full stop after a number at the end of a line where it is: so does mteval.
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

// isSpace is Python's white space, which has the four separators U+001C to U+001F that Go's has not.
func isSpace(r rune) bool { return unicode.IsSpace(r) || 0x1c <= r && r <= 0x1f }

func digit(r rune) bool        { return '0' <= r && r <= '9' }
func notDigit(r rune) bool     { return !digit(r) }
func pointOrComma(r rune) bool { return r == '.' || r == ',' }
func hyphen(r rune) bool       { return r == '-' }

// asciiSymbol is ASCII punctuation and symbols but for ' , - and the full stop; the blank, which makes no difference.
func asciiSymbol(r rune) bool {
	switch {
	case '{' <= r && r <= '~', '[' <= r && r <= '`', ' ' <= r && r <= '&', '(' <= r && r <= '+', ':' <= r && r <= '@', r == '/':
		return true
	}
	return false
}

// around puts blanks around every rune that a set has.
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

// aroundRight puts blanks around the second rune of every pair that matches. Pairs are looked for from left to right
// and share no rune: of a row of commas only every other one is the second of a pair.
func aroundRight(line []rune, left, right func(rune) bool) []rune {
	return replacePairs(line, left, right, func(spaced []rune, a, b rune) []rune { return append(spaced, a, ' ', b, ' ') })
}

// aroundLeft puts blanks around the first.
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
