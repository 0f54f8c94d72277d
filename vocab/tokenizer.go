package vocab

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Tokenizer says what a token of a line of text is. The zero value is Characters.
type Tokenizer uint8

const (
	Characters Tokenizer = iota // every Unicode code point, spaces too, is a token
	Whitespace                  // whatever stands between white space is a token
	Subwords                    // a token is a piece of a word, by a tokenizer's file: package subword cuts and joins them
)

var tokenizerNames = [...]string{Characters: "characters", Whitespace: "whitespace", Subwords: "subwords"}

// Split cuts a line into tokens. Text that is not valid UTF-8 is an error that names the byte; so are Subwords, which take a file.
func (s Tokenizer) Split(text string) ([]string, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if at := invalidUTF8(text); at >= 0 {
		return nil, fmt.Errorf("not valid UTF-8 at byte %d", at+1)
	}
	switch s {
	case Whitespace:
		return strings.Fields(text), nil
	case Subwords:
		return nil, errors.New("text cannot be cut into subwords without a tokenizer's file")
	}
	return strings.Split(text, ""), nil // after every code point
}

// Join puts tokens together again: Split undoes it, and it undoes Split up to the amount of white space
// between words.
func (s Tokenizer) Join(tokens []string) string {
	if s == Whitespace {
		return strings.Join(tokens, " ")
	}
	return strings.Join(tokens, "")
}

// Validate reports a value that is none of them.
func (s Tokenizer) Validate() error {
	if int(s) >= len(tokenizerNames) {
		return fmt.Errorf(`tokenizer is %d: use Characters ("characters"), Whitespace ("whitespace") or Subwords ("subwords")`, uint8(s))
	}
	return nil
}

// String is "characters", "whitespace" or "subwords", which is also how configurations spell it.
func (s Tokenizer) String() string {
	if s.Validate() != nil {
		return fmt.Sprintf("tokenizer(%d)", uint8(s))
	}
	return tokenizerNames[s]
}

// MarshalText writes "characters", "whitespace" or "subwords".
func (s Tokenizer) MarshalText() ([]byte, error) { return []byte(s.String()), s.Validate() }

// UnmarshalText reads what MarshalText writes.
func (s *Tokenizer) UnmarshalText(text []byte) error {
	for i, name := range tokenizerNames {
		if name == string(text) {
			*s = Tokenizer(i)
			return nil
		}
	}
	return fmt.Errorf(`tokenizer is %q: use "characters", "whitespace" or "subwords"`, text)
}

// invalidUTF8 is the offset of the first byte that is not UTF-8, -1 if there is none.
func invalidUTF8(text string) int {
	if utf8.ValidString(text) {
		return -1
	}
	for at := 0; ; {
		r, size := utf8.DecodeRuneInString(text[at:])
		if r == utf8.RuneError && size == 1 {
			return at
		}
		at += size
	}
}
