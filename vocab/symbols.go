package vocab

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Symbols says what a symbol of a line of text is. The zero value is Characters.
type Symbols uint8

const (
	Characters Symbols = iota // every Unicode code point, spaces too, is a symbol
	Words                     // whatever stands between white space is a symbol
)

var symbolNames = [...]string{Characters: "characters", Words: "words"}

// Split cuts a line into symbols. Text that is not valid UTF-8 is an error that names the byte.
func (s Symbols) Split(text string) ([]string, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if at := invalidUTF8(text); at >= 0 {
		return nil, fmt.Errorf("not valid UTF-8 at byte %d", at+1)
	}
	if s == Words {
		return strings.Fields(text), nil
	}
	return strings.Split(text, ""), nil // after every code point
}

// Join puts symbols together again: Split undoes it, and it undoes Split up to the amount of white space
// between words.
func (s Symbols) Join(symbols []string) string {
	if s == Words {
		return strings.Join(symbols, " ")
	}
	return strings.Join(symbols, "")
}

// Validate reports a value that is neither Characters nor Words.
func (s Symbols) Validate() error {
	if int(s) >= len(symbolNames) {
		return fmt.Errorf(`symbols is %d: use Characters ("characters") or Words ("words")`, uint8(s))
	}
	return nil
}

// String is "characters" or "words", which is also how configurations spell it.
func (s Symbols) String() string {
	if s.Validate() != nil {
		return fmt.Sprintf("symbols(%d)", uint8(s))
	}
	return symbolNames[s]
}

// MarshalText writes "characters" or "words".
func (s Symbols) MarshalText() ([]byte, error) { return []byte(s.String()), s.Validate() }

// UnmarshalText reads "characters" or "words".
func (s *Symbols) UnmarshalText(text []byte) error {
	for i, name := range symbolNames {
		if name == string(text) {
			*s = Symbols(i)
			return nil
		}
	}
	return fmt.Errorf(`symbols is %q: use "characters" or "words"`, text)
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
