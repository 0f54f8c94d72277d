package vocab

import (
	"errors"
	"fmt"
	"strings"

	"universal-transformer/internal/textfile"
)

// Tokenizer determines how a line of text is split into tokens. The zero value is Characters.
type Tokenizer uint8

const (
	Characters Tokenizer = iota // every Unicode code point, including spaces, is a token
	Whitespace                  // tokens are separated by white space
	Subwords                    // tokens are pieces of words, as defined by a tokenizer file; see package subword
)

var tokenizerNames = [...]string{Characters: "characters", Whitespace: "whitespace", Subwords: "subwords"}

// Split splits a line into tokens. It returns an error that names the byte if the text is not valid UTF-8, and an error for Subwords,
// which need a tokenizer file.
func (s Tokenizer) Split(text string) ([]string, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if at := textfile.Invalid(text); at >= 0 {
		return nil, fmt.Errorf("not valid UTF-8 at byte %d", at+1)
	}
	switch s {
	case Whitespace:
		return strings.Fields(text), nil
	case Subwords:
		return nil, errors.New("text cannot be split into subwords without a tokenizer file")
	}
	return strings.Split(text, ""), nil // after every code point
}

// Join is the inverse of Split, except for the amount of white space between words.
func (s Tokenizer) Join(tokens []string) string {
	if s == Whitespace {
		return strings.Join(tokens, " ")
	}
	return strings.Join(tokens, "")
}

// Validate returns an error if the value is not one of the constants.
func (s Tokenizer) Validate() error {
	if int(s) >= len(tokenizerNames) {
		return fmt.Errorf(`tokenizer is %d: use Characters ("characters"), Whitespace ("whitespace") or Subwords ("subwords")`, uint8(s))
	}
	return nil
}

// String returns "characters", "whitespace" or "subwords", as in configurations.
func (s Tokenizer) String() string {
	if s.Validate() != nil {
		return fmt.Sprintf("tokenizer(%d)", uint8(s))
	}
	return tokenizerNames[s]
}

// MarshalText writes "characters", "whitespace" or "subwords".
func (s Tokenizer) MarshalText() ([]byte, error) { return []byte(s.String()), s.Validate() }

// UnmarshalText reads the output of MarshalText.
func (s *Tokenizer) UnmarshalText(text []byte) error {
	for i, name := range tokenizerNames {
		if name == string(text) {
			*s = Tokenizer(i)
			return nil
		}
	}
	return fmt.Errorf(`tokenizer is %q: use "characters", "whitespace" or "subwords"`, text)
}
