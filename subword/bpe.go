package subword

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"universal-transformer/internal/vocab"
)

// BPE is byte-level byte-pair encoding. Text is split into words, as in GPT-2 or by the pattern of the file, a word is a sequence of bytes, and
// pairs of adjacent pieces are merged, the pair with the lowest rank first. A BPE is immutable and may be used concurrently.
type BPE struct {
	form form

	pieces  []string // pieces[id], as written in the file
	texts   []string // texts[id] is the text of a piece, "" for special tokens
	special map[vocab.ID]bool
	bytes   [256]vocab.ID // none if a byte has no token
	unknown unknown       // token of bytes without their own
	pairs   []pair        // in order of rank
	merges  map[pair]merge
	whole   map[string]vocab.ID // words that are pieces, which are not merged; nil unless the file ignores merges for them
	words   cache
}

// none stands for a missing id.
const none vocab.ID = -1

// unknown is the token of bytes without their own, and whether one token stands for several such bytes in a row. Without it these
// bytes are dropped.
type unknown struct {
	id   vocab.ID
	fuse bool
}

// newBPE makes a BPE of pieces in order of id and pairs in order of rank.
func newBPE(f form, pieces []string, special map[vocab.ID]bool, pairs []pair, unknown unknown) (*BPE, error) {
	b := &BPE{form: f, pieces: pieces, texts: make([]string, len(pieces)), special: special, unknown: unknown, pairs: pairs, merges: make(map[pair]merge, len(pairs))}
	ids := make(map[string]vocab.ID, len(pieces))
	for i, piece := range pieces {
		id := vocab.ID(i)
		ids[piece] = id
		if !special[id] {
			b.texts[i] = bytesOf(piece)
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
			return nil, fmt.Errorf("special token %q can also result from text", pieces[id])
		}
	}
	if f.ignoreMerges {
		b.whole = make(map[string]vocab.ID, len(pieces))
		for id, text := range b.texts {
			if _, added := f.addedIDs[pieces[id]]; !added && !special[vocab.ID(id)] {
				b.whole[text] = vocab.ID(id)
			}
		}
	}
	return b, nil
}

// merge returns the result of merging a pair.
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

// Encode returns the ids of a text.
func (b *BPE) Encode(text string) ([]vocab.ID, error) { return b.encode(text, b.word) }

// EncodeWithDropout is like Encode, but skips each merge with probability rate, 0 <= rate < 1, so that a text is split in many ways:
// BPE-dropout (Provilkov, Emelianenko and Voita, ACL 2020, algorithm 1), for training. Decode returns the same text.
func (b *BPE) EncodeWithDropout(text string, rate float64, rng *rand.Rand) ([]vocab.ID, error) {
	drop := func() bool { return rng.Float64() < rate }
	return b.encode(text, func(word string) []vocab.ID { return mergeWord(b.byteIDs(word), b.merges, drop) })
}

// encode splits a text into words and concatenates their ids.
func (b *BPE) encode(text string, encode func(word string) []vocab.ID) ([]vocab.ID, error) {
	if err := CheckText(text); err != nil {
		return nil, err
	}
	ids := make([]vocab.ID, 0, len(text)/3)
	for plain, token := range b.form.cuts(text) {
		for plain = b.form.normalized(plain); len(plain) > 0; {
			n := b.form.split(plain)
			ids = append(ids, encode(plain[:n])...)
			plain = plain[n:]
		}
		if token != "" {
			ids = append(ids, b.form.addedIDs[token])
		}
	}
	return ids, nil
}

// word returns the ids of one word. The caller must not change them.
func (b *BPE) word(word string) []vocab.ID {
	if ids, ok := b.words.get(word); ok {
		return ids
	}
	if id, ok := b.whole[word]; ok {
		return []vocab.ID{id}
	}
	ids := mergeWord(b.byteIDs(word), b.merges, nil)
	b.words.put(word, ids)
	return ids
}

// byteIDs returns the ids of a word before any merge.
func (b *BPE) byteIDs(word string) []vocab.ID {
	ids := make([]vocab.ID, 0, len(word))
	before := false // the previous byte has no token
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

// Decode returns the text of ids. Ids that do not result from a text may stand for invalid UTF-8, which is replaced by U+FFFD.
func (b *BPE) Decode(ids []vocab.ID) (string, error) {
	if err := checkIDs(ids, len(b.pieces)); err != nil {
		return "", err
	}
	var text strings.Builder
	for _, id := range ids {
		text.WriteString(b.texts[id])
	}
	return toValidUTF8(text.String()), nil
}

// Size returns the number of pieces and special tokens.
func (b *BPE) Size() int { return len(b.pieces) }

// Token returns a piece as it is written in files: bytes are printable characters, a blank is "Ġ".
func (b *BPE) Token(id vocab.ID) string {
	if id < 0 || int(id) >= len(b.pieces) {
		return fmt.Sprintf("<id %d>", id)
	}
	return b.pieces[id]
}

// ModelIDs returns an error unless the ids of padding and end are special tokens. Their spelling does not matter.
func (b *BPE) ModelIDs() error {
	for id, role := range []string{vocab.Padding: "padding", vocab.End: "the end"} {
		if !b.special[vocab.ID(id)] || b.unknown.id == vocab.ID(id) {
			return fmt.Errorf("id %d is %q, which text can give; a model needs it for %s: %w", id, b.Token(vocab.ID(id)), role, ErrTrainTokenizer)
		}
	}
	return nil
}
