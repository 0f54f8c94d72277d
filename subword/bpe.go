package subword

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"universal-transformer/internal/vocab"
)

// BPE is byte-level byte-pair encoding: text is split into words as GPT-2 does it, a word is a sequence of bytes, and pairs of
// adjacent pieces are merged, the pair with the lowest rank first. It does not change once made, and may be used concurrently.
type BPE struct {
	pieces  []string // pieces[id], as the file shows it
	texts   []string // texts[id] is the bytes that a piece stands for, "" for special tokens
	special map[vocab.ID]bool
	bytes   [256]vocab.ID // none where there is no token
	unknown unknown       // what stands for bytes without a token
	pairs   []pair        // in the order of their ranks
	merges  map[pair]merge
	words   cache
}

// none is no id.
const none vocab.ID = -1

// unknown is the token of bytes that have none, and whether one stands for several in a row. Without it they are left out.
type unknown struct {
	id   vocab.ID
	fuse bool
}

// newBPE makes a BPE of pieces in the order of their ids and of pairs in the order of their ranks.
func newBPE(pieces []string, special map[vocab.ID]bool, pairs []pair, unknown unknown) (*BPE, error) {
	b := &BPE{pieces: pieces, texts: make([]string, len(pieces)), special: special, unknown: unknown, pairs: pairs, merges: make(map[pair]merge, len(pairs))}
	ids := make(map[string]vocab.ID, len(pieces))
	for i, piece := range pieces {
		id := vocab.ID(i)
		ids[piece] = id
		if !special[id] {
			b.texts[i] = hidden(piece)
		}
	}
	fromText := make(map[vocab.ID]bool, len(pieces))
	for i, character := range byteCharacter {
		b.bytes[i] = none
		if id, ok := ids[string(character)]; ok {
			b.bytes[i], fromText[id] = id, true
		}
	}
	for rank, p := range pairs {
		m, err := b.merge(rank, p, ids)
		if err != nil {
			return nil, err
		}
		b.merges[p], fromText[m.id] = m, true
	}
	for id := range special {
		if fromText[id] {
			return nil, fmt.Errorf("special token %q can come from text, too", pieces[id])
		}
	}
	return b, nil
}

// merge is what a pair becomes.
func (b *BPE) merge(rank int, p pair, ids map[string]vocab.ID) (merge, error) {
	left, right := b.pieces[p.left], b.pieces[p.right]
	if _, twice := b.merges[p]; twice {
		return merge{}, fmt.Errorf("merge %d of %q and %q is given twice", rank+1, left, right)
	}
	id, ok := ids[left+right]
	if !ok {
		return merge{}, fmt.Errorf("merge %d makes %q, which is not in the vocabulary", rank+1, left+right)
	}
	return merge{int32(rank), id}, nil
}

// Encode gives the ids of a text.
func (b *BPE) Encode(text string) ([]vocab.ID, error) { return encodeWords(text, b.word) }

// EncodeWithDropout is Encode that leaves merges out with a probability, from 0 to below 1, so that a text is cut in many ways: BPE-dropout
// (Provilkov, Emelianenko and Voita, ACL 2020, algorithm 1), which is for training. Decode gives the same text.
func (b *BPE) EncodeWithDropout(text string, rate float64, rng *rand.Rand) ([]vocab.ID, error) {
	drop := func() bool { return rng.Float64() < rate }
	return encodeWords(text, func(word string) []vocab.ID { return mergeWord(b.byteIDs(word), b.merges, drop) })
}

// encodeWords splits a text into words and joins their ids.
func encodeWords(text string, encode func(word string) []vocab.ID) ([]vocab.ID, error) {
	if err := CheckText(text); err != nil {
		return nil, err
	}
	ids := make([]vocab.ID, 0, len(text)/3)
	for len(text) > 0 {
		n := firstWord(text)
		ids = append(ids, encode(text[:n])...)
		text = text[n:]
	}
	return ids, nil
}

// word gives the ids of one word, which nobody may change.
func (b *BPE) word(word string) []vocab.ID {
	if ids, ok := b.words.get(word); ok {
		return ids
	}
	ids := mergeWord(b.byteIDs(word), b.merges, nil)
	b.words.put(word, ids)
	return ids
}

// byteIDs is a word before any merge.
func (b *BPE) byteIDs(word string) []vocab.ID {
	ids := make([]vocab.ID, 0, len(word))
	before := false // a byte without a token
	for i := range len(word) {
		id := b.bytes[word[i]]
		missing := id == none
		if missing {
			id = b.unknown.id
		}
		if id != none && !(missing && before && b.unknown.fuse) {
			ids = append(ids, id)
		}
		before = missing
	}
	return ids
}

// Decode gives the text of ids. Ids that no text gives may stand for bytes that are not UTF-8, which U+FFFD replaces.
func (b *BPE) Decode(ids []vocab.ID) (string, error) {
	if err := checkIDs(ids, len(b.pieces)); err != nil {
		return "", err
	}
	var text strings.Builder
	for _, id := range ids {
		text.WriteString(b.texts[id])
	}
	return repair(text.String()), nil
}

// Size is the number of pieces and special tokens.
func (b *BPE) Size() int { return len(b.pieces) }

// Token shows a piece as its file does: bytes as printable characters, a blank as "Ġ".
func (b *BPE) Token(id vocab.ID) string {
	if id < 0 || int(id) >= len(b.pieces) {
		return fmt.Sprintf("<id %d>", id)
	}
	return b.pieces[id]
}

// ModelIDs wants special tokens at the ids of padding and end. What they are called does not matter.
func (b *BPE) ModelIDs() error {
	for id, role := range []string{vocab.Padding: "padding", vocab.End: "the end"} {
		if !b.special[vocab.ID(id)] || b.unknown.id == vocab.ID(id) {
			return fmt.Errorf("id %d is %q, which text can give; a model needs it for %s: train a tokenizer with ut tokenizer train",
				id, b.Token(vocab.ID(id)), role)
		}
	}
	return nil
}
