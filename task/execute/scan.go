package execute

import (
	"fmt"
	"math/big"
	"strings"
)

// Limits on programs, which bound the time to evaluate one.
const (
	maxText  = 1 << 16 // bytes of a program
	maxValue = 10_000  // digits of a computed number
)

// A SyntaxError locates where a text violates the grammar or its limits.
type SyntaxError struct {
	Position int    // of the character, counted from 1
	Problem  string // what is wrong at the position
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("character %d: %s", e.Position, e.Problem) }

// A Summary describes the operations of a program.
type Summary struct {
	Operations []string // + - * if for, in the order in which they are computed
	Digits     int      // of the first number
	places     []int    // positions of the operations, counted from 1
	few        bool     // there are too few such programs for disjoint splits
}

func (s *Summary) saw(operation string, at int) {
	s.Operations, s.places = append(s.Operations, operation), append(s.places, at)
}

// A scanner reads a text from left to right.
type scanner struct {
	text string
	at   int // bytes read
}

// errorf returns an error at a position, counted from 0.
func errorf(at int, format string, values ...any) error {
	return &SyntaxError{at + 1, fmt.Sprintf(format, values...)}
}

// unexpected is the error of an unexpected character.
func (s *scanner) unexpected(what string) error {
	if s.at >= len(s.text) {
		return errorf(s.at, "the program ends where %s should be", what)
	}
	found := []rune(s.text[s.at:min(len(s.text), s.at+4)])[0]
	return errorf(s.at, "%q where %s should be", found, what)
}

// accept reads the given word if it is next, and reports whether it was.
func (s *scanner) accept(word string) bool {
	if !strings.HasPrefix(s.text[s.at:], word) {
		return false
	}
	s.at += len(word)
	return true
}

// expect reads the given word, or returns an error.
func (s *scanner) expect(word string) error {
	if s.accept(word) {
		return nil
	}
	common := 0 // the error is at the first character that differs
	for s.at+common < len(s.text) && s.text[s.at+common] == word[common] {
		common++
	}
	s.at += common
	return s.unexpected(fmt.Sprintf("%q", word[common:]))
}

// literal reads a number that does not begin with 0.
func (s *scanner) literal() (string, error) {
	start := s.at
	for s.at < len(s.text) && strings.IndexByte(digits, s.text[s.at]) >= 0 {
		s.at++
	}
	numeral := s.text[start:s.at]
	switch {
	case numeral == "":
		return "", s.unexpected("a number")
	case numeral[0] == '0':
		return "", errorf(start, "a number does not begin with 0")
	case len(numeral) > maxLength:
		return "", errorf(start, "a number of %d digits: the maximum is %d", len(numeral), maxLength)
	}
	return numeral, nil
}

// arithmetic reads +, - or *, and returns the operation.
func (s *scanner) arithmetic() (compute func(z, a, b *big.Int) *big.Int, ok bool) {
	switch {
	case s.accept(add):
		return (*big.Int).Add, true
	case s.accept(subtract):
		return (*big.Int).Sub, true
	case s.accept(multiply):
		return (*big.Int).Mul, true
	}
	return nil, false
}

// comparator reads < or >, and returns the comparison.
func (s *scanner) comparator() (func(a, b *big.Int) bool, error) {
	switch {
	case s.accept("<"):
		return func(a, b *big.Int) bool { return a.Cmp(b) < 0 }, nil
	case s.accept(">"):
		return func(a, b *big.Int) bool { return a.Cmp(b) > 0 }, nil
	}
	return nil, s.unexpected(`"<" or ">"`)
}

// end returns an error unless the whole text has been read.
func (s *scanner) end() error {
	if s.at < len(s.text) {
		return s.unexpected("the end")
	}
	return nil
}

// bounded returns an error if a result is too large; at is the position of the operation.
func bounded(n *big.Int, at int) error {
	if n.BitLen() > maxValue*10/3 { // a digit has log2(10) = 3.32 bits
		return errorf(at, "a result has more than %d digits", maxValue)
	}
	return nil
}
