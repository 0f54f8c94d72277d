package subword

import (
	"fmt"
	"math/rand/v2"

	"universal-transformer/internal/vocab"
)

// shifted is a BPE whose ids 0 and 1 text can give, as in the files of published models, for use by a model: its ids come after those of
// padding and the end.
type shifted struct{ bpe *BPE }

// shift is the number of ids before those of a shifted BPE.
const shift = vocab.End + 1

// Encode returns the ids of a text.
func (s shifted) Encode(text string) ([]vocab.ID, error) { return raise(s.bpe.Encode(text)) }

// EncodeWithDropout is like [BPE.EncodeWithDropout].
func (s shifted) EncodeWithDropout(text string, rate float64, rng *rand.Rand) ([]vocab.ID, error) {
	return raise(s.bpe.EncodeWithDropout(text, rate, rng))
}

// raise adds shift to ids.
func raise(ids []vocab.ID, err error) ([]vocab.ID, error) {
	for i := range ids {
		ids[i] += shift
	}
	return ids, err
}

// Decode returns the text of ids.
func (s shifted) Decode(ids []vocab.ID) (string, error) {
	if err := checkIDs(ids, s.Size()); err != nil {
		return "", err
	}
	own := make([]vocab.ID, 0, len(ids))
	for _, id := range ids {
		if id >= shift {
			own = append(own, id-shift)
		}
	}
	return s.bpe.Decode(own)
}

// Size returns the number of ids.
func (s shifted) Size() int { return s.bpe.Size() + int(shift) }

// Token returns the piece of an id. A piece that is spelled like a special token of package vocab gets another name.
func (s shifted) Token(id vocab.ID) string {
	if id >= 0 && id < shift {
		return specialTokens[id]
	}
	if id < 0 || int(id) >= s.Size() || vocab.Reserved(s.bpe.pieces[id-shift]) {
		return fmt.Sprintf("<id %d>", id)
	}
	return s.bpe.pieces[id-shift]
}

// ModelIDs returns nil.
func (shifted) ModelIDs() error { return nil }
