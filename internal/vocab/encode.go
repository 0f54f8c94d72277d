package vocab

import "fmt"

// An UnknownTokenError reports which token of a sequence is not in the vocabulary.
type UnknownTokenError struct {
	Token    string
	Position int // counted from 0, in tokens
}

func (e *UnknownTokenError) Error() string {
	return fmt.Sprintf("unknown token %q at position %d (counted from 1)", e.Token, e.Position+1)
}

// Encode returns the id of every token. The first token that is not in the vocabulary is an *UnknownTokenError, even if the vocabulary
// has an unknown token; EncodeLossy uses that.
func (v *Vocabulary) Encode(tokens []string) ([]ID, error) {
	ids := make([]ID, len(tokens))
	for i, s := range tokens {
		id, ok := v.ID(s)
		if !ok {
			return nil, &UnknownTokenError{Token: s, Position: i}
		}
		ids[i] = id
	}
	return ids, nil
}

// EncodeLossy returns the id of every token, the unknown token's for those not in the vocabulary, and the number of the latter. It panics
// if the vocabulary has no unknown token; check HasUnknown.
func (v *Vocabulary) EncodeLossy(tokens []string) (ids []ID, unknown int) {
	if !v.HasUnknown() {
		panic("vocab: EncodeLossy on a vocabulary without an unknown token")
	}
	ids = make([]ID, len(tokens))
	for i, s := range tokens {
		id, ok := v.ID(s)
		if !ok {
			id = v.unknown
			unknown++
		}
		ids[i] = id
	}
	return ids, unknown
}

// Decode returns the tokens of the ids before the first End, without padding. The result is never nil.
func (v *Vocabulary) Decode(ids []ID) []string {
	tokens := make([]string, 0, len(ids))
	for _, id := range ids {
		if id == End {
			break
		}
		if id != Padding {
			tokens = append(tokens, v.Token(id))
		}
	}
	return tokens
}
