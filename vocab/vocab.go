// Package vocab turns tokens into ids and back. Two ids are the same in every vocabulary: Padding (0) fills
// rectangles at the right and means "nothing here"; End (1) closes every target. A vocabulary's own tokens start
// at id 2; the optional unknown token comes last.
//
//	v, _ := vocab.New([]string{"a", "b"}, vocab.WithUnknown())
//	v.Size()                                  // 5: padding, end, a, b, unknown
//	v.Encode([]string{"b", "a"})              // [3 2]
//	v.EncodeLossy([]string{"b", "z"})         // [3 4], 1 unknown
package vocab

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"
)

// ID is the number of a token: 0 padding, 1 end, from 2 on the tokens of a vocabulary.
type ID = int32

// The ids that mean the same in every vocabulary.
const (
	Padding ID = 0
	End     ID = 1
	first   ID = 2 // id of the first token of a vocabulary's own
)

// How the special ids are written for people. No token of a vocabulary may be spelled like one of them.
const (
	PaddingToken = "<pad>"
	EndToken     = "<end>"
	UnknownToken = "<unknown>"
)

// A Vocabulary maps tokens to ids and back. The zero value is an empty vocabulary: padding and end only.
// It does not change once made, so it may be shared.
type Vocabulary struct {
	tokens  []string      // tokens[i] has id i+2; the unknown token, if any, is not among them
	ids     map[string]ID // inverse of tokens
	unknown ID            // 0: the vocabulary has no unknown token
}

// An Option changes how New and Build make a vocabulary.
type Option func(*Vocabulary)

// WithUnknown adds the token "<unknown>", after all others, to stand for everything not in the vocabulary.
func WithUnknown() Option { return func(v *Vocabulary) { v.unknown = -1 } } // New fills in the id

// New makes a vocabulary of the given tokens, in this order, from id 2 on. An empty token, one that is not valid
// UTF-8, one listed twice and the reserved spellings "<pad>", "<end>", "<unknown>" are errors.
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

// Build makes a vocabulary of the tokens that occur at least minCount times in the sequences (0 counts as 1): the
// most frequent first, equally frequent ones in byte order, so that the order of the sequences does not matter.
func Build(sequences iter.Seq[[]string], minCount int, opts ...Option) (*Vocabulary, error) {
	counts := map[string]int{}
	for sequence := range sequences {
		for _, s := range sequence {
			counts[s]++
		}
	}
	var tokens []string
	for s, n := range counts {
		if n >= minCount {
			tokens = append(tokens, s)
		}
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

// Size is the number of ids: padding, end, the tokens, and the unknown token if there is one. Every id is below it.
func (v *Vocabulary) Size() int {
	n := int(first) + len(v.tokens)
	if v.unknown != 0 {
		n++
	}
	return n
}

// HasUnknown reports whether the vocabulary has an unknown token, as EncodeLossy needs.
func (v *Vocabulary) HasUnknown() bool { return v.unknown != 0 }

// Unknown is the id of the unknown token, or Padding and false if there is none.
func (v *Vocabulary) Unknown() (ID, bool) { return v.unknown, v.unknown != 0 }

// ID is the id of a token. Padding and end are no tokens of a text and are not found; "<unknown>" is, if there.
func (v *Vocabulary) ID(token string) (ID, bool) {
	if token == UnknownToken {
		return v.Unknown()
	}
	id, ok := v.ids[token]
	return id, ok
}

// Token is the spelling of an id: "<pad>", "<end>" and "<unknown>" for the special ones, "<id n>" for an id that
// is not of this vocabulary, so that it can always be shown.
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
