// Package vocab turns symbols into ids and back. Two ids are the same in every vocabulary: Padding (0) fills
// rectangles at the right and means "nothing here"; End (1) closes every target. A vocabulary's own symbols start
// at id 2; the optional unknown symbol comes last.
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

// ID is the number of a symbol: 0 padding, 1 end, from 2 on the symbols of a vocabulary.
type ID = int32

// The ids that mean the same in every vocabulary.
const (
	Padding ID = 0
	End     ID = 1
	first   ID = 2 // id of the first symbol of a vocabulary's own
)

// How the special ids are written for people. No symbol of a vocabulary may be spelled like one of them.
const (
	PaddingSymbol = "<pad>"
	EndSymbol     = "<end>"
	UnknownSymbol = "<unknown>"
)

// A Vocabulary maps symbols to ids and back. The zero value is an empty vocabulary: padding and end only.
// It does not change once made, so it may be shared.
type Vocabulary struct {
	symbols []string      // symbols[i] has id i+2; the unknown symbol, if any, is not among them
	ids     map[string]ID // inverse of symbols
	unknown ID            // 0: the vocabulary has no unknown symbol
}

// An Option changes how New and Build make a vocabulary.
type Option func(*Vocabulary)

// WithUnknown adds the symbol "<unknown>", after all others, to stand for everything not in the vocabulary.
func WithUnknown() Option { return func(v *Vocabulary) { v.unknown = -1 } } // New fills in the id

// New makes a vocabulary of the given symbols, in this order, from id 2 on. An empty symbol, one that is not valid
// UTF-8, one listed twice and the reserved spellings "<pad>", "<end>", "<unknown>" are errors.
func New(symbols []string, opts ...Option) (*Vocabulary, error) {
	v := &Vocabulary{symbols: slices.Clone(symbols), ids: make(map[string]ID, len(symbols))}
	for i, s := range symbols {
		if err := validSymbol(s); err != nil {
			return nil, fmt.Errorf("vocabulary: symbol %d: %w", i, err)
		}
		if earlier, twice := v.ids[s]; twice {
			return nil, fmt.Errorf("vocabulary: symbol %d: %q is already symbol %d", i, s, earlier-first)
		}
		v.ids[s] = first + ID(i)
	}
	for _, opt := range opts {
		opt(v)
	}
	if v.unknown != 0 {
		v.unknown = first + ID(len(symbols))
	}
	return v, nil
}

// Build makes a vocabulary of the symbols that occur at least minCount times in the sequences (0 counts as 1): the
// most frequent first, equally frequent ones in byte order, so that the order of the sequences does not matter.
func Build(sequences iter.Seq[[]string], minCount int, opts ...Option) (*Vocabulary, error) {
	counts := map[string]int{}
	for sequence := range sequences {
		for _, s := range sequence {
			counts[s]++
		}
	}
	var symbols []string
	for s, n := range counts {
		if n >= minCount {
			symbols = append(symbols, s)
		}
	}
	slices.SortFunc(symbols, func(a, b string) int {
		if counts[a] != counts[b] {
			return counts[b] - counts[a]
		}
		return strings.Compare(a, b)
	})
	return New(symbols, opts...)
}

// Reserved reports whether s is the spelling of a special id, which no symbol may have.
func Reserved(s string) bool { return s == PaddingSymbol || s == EndSymbol || s == UnknownSymbol }

func validSymbol(s string) error {
	switch {
	case s == "":
		return fmt.Errorf("a symbol cannot be empty")
	case !utf8.ValidString(s):
		return fmt.Errorf("%q is not valid UTF-8", s)
	case Reserved(s):
		return fmt.Errorf("%q is reserved", s)
	}
	return nil
}

// Size is the number of ids: padding, end, the symbols, and the unknown symbol if there is one. Every id is below it.
func (v *Vocabulary) Size() int {
	n := int(first) + len(v.symbols)
	if v.unknown != 0 {
		n++
	}
	return n
}

// HasUnknown reports whether the vocabulary has an unknown symbol, as EncodeLossy needs.
func (v *Vocabulary) HasUnknown() bool { return v.unknown != 0 }

// Unknown is the id of the unknown symbol, or Padding and false if there is none.
func (v *Vocabulary) Unknown() (ID, bool) { return v.unknown, v.unknown != 0 }

// ID is the id of a symbol. Padding and end are no symbols of a text and are not found; "<unknown>" is, if there.
func (v *Vocabulary) ID(symbol string) (ID, bool) {
	if symbol == UnknownSymbol {
		return v.Unknown()
	}
	id, ok := v.ids[symbol]
	return id, ok
}

// Symbol is the spelling of an id: "<pad>", "<end>" and "<unknown>" for the special ones, "<id n>" for an id that
// is not of this vocabulary, so that it can always be shown.
func (v *Vocabulary) Symbol(id ID) string {
	switch {
	case id == Padding:
		return PaddingSymbol
	case id == End:
		return EndSymbol
	case id >= first && int(id-first) < len(v.symbols):
		return v.symbols[id-first]
	case v.unknown != 0 && id == v.unknown:
		return UnknownSymbol
	}
	return fmt.Sprintf("<id %d>", id)
}

// Symbols lists the vocabulary's own symbols in the order of their ids, which start at 2.
func (v *Vocabulary) Symbols() []string { return slices.Clone(v.symbols) }

// Equal reports whether both vocabularies give every symbol the same id.
func (v *Vocabulary) Equal(other *Vocabulary) bool {
	if v == nil || other == nil {
		return v == other
	}
	return v.unknown == other.unknown && slices.Equal(v.symbols, other.symbols)
}
