package vocab

import "fmt"

// An UnknownSymbolError says which symbol of a sequence is not in the vocabulary.
type UnknownSymbolError struct {
	Symbol   string
	Position int // counted from 0, in symbols
}

func (e *UnknownSymbolError) Error() string {
	return fmt.Sprintf("unknown symbol %q at position %d (counted from 1)", e.Symbol, e.Position+1)
}

// Encode gives the id of every symbol. The first one that is not in the vocabulary is an *UnknownSymbolError, also
// when the vocabulary has an unknown symbol: guessing is EncodeLossy's.
func (v *Vocabulary) Encode(symbols []string) ([]ID, error) {
	ids := make([]ID, len(symbols))
	for i, s := range symbols {
		id, ok := v.ID(s)
		if !ok {
			return nil, &UnknownSymbolError{Symbol: s, Position: i}
		}
		ids[i] = id
	}
	return ids, nil
}

// EncodeLossy gives the id of every symbol, the unknown symbol's for those not in the vocabulary, and how many those
// are. It panics if the vocabulary has no unknown symbol; ask HasUnknown.
func (v *Vocabulary) EncodeLossy(symbols []string) (ids []ID, unknown int) {
	if !v.HasUnknown() {
		panic("vocab: EncodeLossy on a vocabulary without an unknown symbol")
	}
	ids = make([]ID, len(symbols))
	for i, s := range symbols {
		id, ok := v.ID(s)
		if !ok {
			id = v.unknown
			unknown++
		}
		ids[i] = id
	}
	return ids, unknown
}

// Decode spells the ids up to the first End, leaving out padding. The result is never nil.
func (v *Vocabulary) Decode(ids []ID) []string {
	symbols := make([]string, 0, len(ids))
	for _, id := range ids {
		if id == End {
			break
		}
		if id != Padding {
			symbols = append(symbols, v.Symbol(id))
		}
	}
	return symbols
}
