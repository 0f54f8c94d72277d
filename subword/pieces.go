package subword

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"unicode/utf8"

	"universal-transformer/internal/vocab"
)

// Pieces is a tokenizer whose ids are those of a model's tokens, with 0 for padding and 1 for the end. It keeps the file from which
// it was read, which is stored with the model. It is immutable and may be used concurrently.
type Pieces struct {
	tokenizer  Tokenizer
	vocabulary *vocab.Vocabulary
	file       []byte
	digest     string // SHA-256 of the file, in hexadecimal
}

// ReadPieces reads the file of a tokenizer, as [Read] does. If text can give the ids of padding or the end, as in published files with
// byte-level BPE, the ids of the file come after them: 2 more than in the file.
func ReadPieces(file []byte) (*Pieces, error) {
	t, err := Read(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	if err := t.ModelIDs(); err != nil {
		bpe, ok := t.(*BPE)
		if !ok {
			return nil, err
		}
		t = shifted{bpe}
	}
	tokens := make([]string, 0, t.Size())
	for id := vocab.End + 1; int(id) < t.Size(); id++ {
		tokens = append(tokens, t.Token(id))
	}
	v, err := vocab.New(tokens)
	if err != nil {
		return nil, fmt.Errorf("it is not suitable for a model: %w", err)
	}
	sum := sha256.Sum256(file)
	return &Pieces{tokenizer: t, vocabulary: v, file: file, digest: hex.EncodeToString(sum[:])}, nil
}

// piecesOf returns the pieces of a trained tokenizer.
func piecesOf(b *BPE) (*Pieces, error) {
	var file bytes.Buffer
	if err := b.Write(&file); err != nil {
		return nil, err
	}
	return ReadPieces(file.Bytes())
}

// Split splits a text into pieces.
func (p *Pieces) Split(text string) ([]string, error) {
	ids, err := p.tokenizer.Encode(text)
	if err != nil {
		return nil, err
	}
	tokens := make([]string, len(ids))
	for i, id := range ids {
		tokens[i] = p.tokenizer.Token(id)
	}
	return tokens, nil
}

// Encode returns the ids of a text's pieces.
func (p *Pieces) Encode(text string) ([]vocab.ID, error) { return p.tokenizer.Encode(text) }

// HasMerges reports whether [Pieces.EncodeWithDropout] can be used, which needs byte-pair encoding.
func (p *Pieces) HasMerges() bool {
	_, ok := p.tokenizer.(merging)
	return ok
}

// merging is a tokenizer whose merges can be skipped.
type merging interface {
	EncodeWithDropout(text string, rate float64, rng *rand.Rand) ([]vocab.ID, error)
}

// EncodeWithDropout is like [BPE.EncodeWithDropout]. It panics if HasMerges is false.
func (p *Pieces) EncodeWithDropout(text string, rate float64, rng *rand.Rand) ([]vocab.ID, error) {
	return p.tokenizer.(merging).EncodeWithDropout(text, rate, rng)
}

// Text returns the text of ids up to the first End. Invalid ids are ignored.
func (p *Pieces) Text(ids []vocab.ID) string {
	if end := slices.Index(ids, vocab.End); end >= 0 {
		ids = ids[:end]
	}
	known := slices.DeleteFunc(slices.Clone(ids), func(id vocab.ID) bool { return id < 0 || int(id) >= p.tokenizer.Size() })
	text, err := p.tokenizer.Decode(known)
	if err != nil {
		panic(err) // cannot happen: all ids are valid
	}
	return text
}

// Begins reports whether the text of ids that begin with this one does not depend on those before it: it is added to theirs. It is false for
// bytes within a character, and for all ids of a tensor2tensor vocabulary, where blanks depend on what is before.
func (p *Pieces) Begins(id vocab.ID) bool {
	text, known := p.Bytes(id)
	return known && text[0] < utf8.RuneSelf
}

// Bytes returns the bytes that an id adds to a text. known is false for an id without bytes, and for all ids of a tensor2tensor vocabulary, where
// blanks depend on what is before.
func (p *Pieces) Bytes(id vocab.ID) (text string, known bool) {
	b, id := p.bpe(id)
	if b == nil || id < 0 || int(id) >= len(b.texts) {
		return "", false
	}
	return b.texts[id], b.texts[id] != ""
}

// bpe returns the tokenizer with byte-pair encoding, nil if there is none, and its id of a piece.
func (p *Pieces) bpe(id vocab.ID) (*BPE, vocab.ID) {
	if s, moved := p.tokenizer.(shifted); moved {
		return s.bpe, id - shift
	}
	b, _ := p.tokenizer.(*BPE)
	return b, id
}

// Vocabulary returns the pieces by id.
func (p *Pieces) Vocabulary() *vocab.Vocabulary { return p.vocabulary }

// File returns the file from which the pieces were read.
func (p *Pieces) File() []byte { return p.file }

// Digest returns the SHA-256 of the file in hexadecimal.
func (p *Pieces) Digest() string {
	if p == nil {
		return ""
	}
	return p.digest
}
