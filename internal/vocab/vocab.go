// Package vocab maps tokens to ids and back. Two ids are the same in every vocabulary: Padding (0) fills sequences at the right, and End
// (1) ends every target. The vocabulary's own tokens start at id 2; the optional unknown token comes last.
//
//	v, _ := vocab.New([]string{"a", "b"}, vocab.WithUnknown())
//	v.Size()                                  // 5: padding, end, a, b, unknown
//	v.Encode([]string{"b", "a"})              // [3 2]
//	v.EncodeLossy([]string{"b", "z"})         // [3 4], 1 unknown
package vocab

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// ID is the id of a token: 0 for padding, 1 for End, and from 2 on the vocabulary's tokens.
type ID = int32

// The ids common to all vocabularies.
const (
	Padding ID = 0
	End     ID = 1
	first   ID = 2 // id of the first token of a vocabulary's own
)

// Spellings of the special ids. They are reserved: no token may have them.
const (
	PaddingToken = "<pad>"
	EndToken     = "<end>"
	UnknownToken = "<unknown>"
)

// A Vocabulary maps tokens to ids and back. The zero value contains only padding and End. It is immutable and may be shared.
type Vocabulary struct {
	tokens  []string      // tokens[i] has id i+2; the unknown token, if any, is not among them
	ids     map[string]ID // inverse of tokens
	unknown ID            // 0: the vocabulary has no unknown token
}

// An Option modifies the vocabularies that New and Build make.
type Option func(*Vocabulary)

// WithUnknown adds the token "<unknown>" after all others; it stands for every token not in the vocabulary.
func WithUnknown() Option { return func(v *Vocabulary) { v.unknown = -1 } } // New fills in the id

// New makes a vocabulary of the given tokens, in this order, from id 2 on. Empty, duplicate and invalid UTF-8 tokens are errors, and so
// are the reserved spellings "<pad>", "<end>" and "<unknown>".
func New(tokens []string, opts ...Option) (*Vocabulary, error) {
	v := &Vocabulary{tokens: slices.Clone(tokens), ids: make(map[string]ID, len(tokens))}
	for i, s := range tokens {
		if err := validToken(s); err != nil {
			return nil, fmt.Errorf("vocabulary: token %d: %w", i, err)
		}
		if earlier, twice := v.ids[s]; twice {
			return nil, fmt.Errorf("vocabulary: token %d: %q is already token %d", i, s, earlier-first)
		}
		v.ids[s] = first + ID(i)
	}
	for _, opt := range opts {
		opt(v)
	}
	if v.unknown != 0 {
		v.unknown = first + ID(len(tokens))
	}
	return v, nil
}

// Build makes a vocabulary of the tokens that occur at least minCount times in the sequences (0 means 1), sorted by decreasing frequency
// and then by bytes, so that it does not depend on the order of the sequences.
func Build(sequences iter.Seq[[]string], minCount int, opts ...Option) (*Vocabulary, error) {
	counts := map[string]int{}
	for sequence := range sequences {
		for _, s := range sequence {
			counts[s]++
		}
	}
	return OfCounts(counts, minCount, opts...)
}

// OfCounts is like Build, given how often each token occurs. It is an error if none occurs often enough.
func OfCounts(counts map[string]int, minCount int, opts ...Option) (*Vocabulary, error) {
	var tokens []string
	for s, n := range counts {
		if n >= minCount {
			tokens = append(tokens, s)
		}
	}
	if len(tokens) == 0 && len(counts) > 0 {
		return nil, fmt.Errorf("min_count is %d, but no token occurs more than %d times: choose at most that", minCount, slices.Max(slices.Collect(maps.Values(counts))))
	}
	slices.SortFunc(tokens, func(a, b string) int {
		if counts[a] != counts[b] {
			return counts[b] - counts[a]
		}
		return strings.Compare(a, b)
	})
	return New(tokens, opts...)
}

// Reserved reports whether s is the spelling of a special id, which no token may have.
func Reserved(s string) bool { return s == PaddingToken || s == EndToken || s == UnknownToken }

func validToken(s string) error {
	switch {
	case s == "":
		return fmt.Errorf("a token cannot be empty")
	case !utf8.ValidString(s):
		return fmt.Errorf("%q is not valid UTF-8", s)
	case Reserved(s):
		return fmt.Errorf("%q is reserved", s)
	}
	return nil
}

// Size returns the number of ids: padding, End, the tokens, and the unknown token if there is one. All ids are below it.
func (v *Vocabulary) Size() int {
	n := int(first) + len(v.tokens)
	if v.unknown != 0 {
		n++
	}
	return n
}

// HasUnknown reports whether the vocabulary has an unknown token, which EncodeLossy needs.
func (v *Vocabulary) HasUnknown() bool { return v.unknown != 0 }

// Unknown returns the id of the unknown token, or Padding and false if there is none.
func (v *Vocabulary) Unknown() (ID, bool) { return v.unknown, v.unknown != 0 }

// ID returns the id of a token. It does not find padding and End, which are not tokens of a text, but it finds "<unknown>" if there is
// one.
func (v *Vocabulary) ID(token string) (ID, bool) {
	if token == UnknownToken {
		return v.Unknown()
	}
	id, ok := v.ids[token]
	return id, ok
}

// Token returns the spelling of an id: "<pad>", "<end>" and "<unknown>" for the special ids, and "<id n>" for ids outside the vocabulary.
func (v *Vocabulary) Token(id ID) string {
	switch {
	case id == Padding:
		return PaddingToken
	case id == End:
		return EndToken
	case id >= first && int(id-first) < len(v.tokens):
		return v.tokens[id-first]
	case v.unknown != 0 && id == v.unknown:
		return UnknownToken
	}
	return fmt.Sprintf("<id %d>", id)
}

// Tokens lists the vocabulary's own tokens in the order of their ids, which start at 2.
func (v *Vocabulary) Tokens() []string { return slices.Clone(v.tokens) }

// Equal reports whether both vocabularies give every token the same id.
func (v *Vocabulary) Equal(other *Vocabulary) bool {
	if v == nil || other == nil {
		return v == other
	}
	return v.unknown == other.unknown && slices.Equal(v.tokens, other.tokens)
}
