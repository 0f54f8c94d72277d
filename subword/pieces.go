package subword

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"

	"universal-transformer/internal/vocab"
)

// Pieces are a tokenizer's, as the tokens of a model: their ids are the tokenizer's, 0 is padding and 1 the end. They keep the file
// that they were read from, which goes where the model goes. They do not change once read, and may be used concurrently.
type Pieces struct {
	tokenizer  Tokenizer
	vocabulary *vocab.Vocabulary
	file       []byte
	digest     string // SHA-256 of the file, in hexadecimal
}

// ReadPieces reads a tokenizer's file, as [Read] does. Ids that cannot be a model's are an error.
func ReadPieces(file []byte) (*Pieces, error) {
	t, err := Read(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	if err := t.ModelIDs(); err != nil {
		return nil, err
	}
	tokens := make([]string, 0, t.Size())
	for id := vocab.End + 1; int(id) < t.Size(); id++ {
		tokens = append(tokens, t.Token(id))
	}
	v, err := vocab.New(tokens)
	if err != nil {
		return nil, fmt.Errorf("it cannot be a model's: %w", err)
	}
	sum := sha256.Sum256(file)
	return &Pieces{tokenizer: t, vocabulary: v, file: file, digest: hex.EncodeToString(sum[:])}, nil
}

// piecesOf are the pieces of a tokenizer that was trained.
func piecesOf(b *BPE) (*Pieces, error) {
	var file bytes.Buffer
	if err := b.Write(&file); err != nil {
		return nil, err
	}
	return ReadPieces(file.Bytes())
}

// Split cuts a text into pieces.
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

// Encode gives the ids of a text's pieces.
func (p *Pieces) Encode(text string) ([]vocab.ID, error) { return p.tokenizer.Encode(text) }

// HasMerges reports whether [Pieces.EncodeWithDropout] can be used: of byte-pair encoding it can.
func (p *Pieces) HasMerges() bool {
	_, ok := p.tokenizer.(*BPE)
	return ok
}

// EncodeWithDropout is [BPE.EncodeWithDropout]. It panics without merges.
func (p *Pieces) EncodeWithDropout(text string, rate float64, rng *rand.Rand) ([]vocab.ID, error) {
	return p.tokenizer.(*BPE).EncodeWithDropout(text, rate, rng)
}

// Text is the text of ids up to the first End. Ids that are none are left out.
func (p *Pieces) Text(ids []vocab.ID) string {
	if end := slices.Index(ids, vocab.End); end >= 0 {
		ids = ids[:end]
	}
	known := slices.DeleteFunc(slices.Clone(ids), func(id vocab.ID) bool { return id < 0 || int(id) >= p.tokenizer.Size() })
	text, err := p.tokenizer.Decode(known)
	if err != nil {
		panic(err) // all of them are known
	}
	return text
}

// Vocabulary is the pieces by their ids.
func (p *Pieces) Vocabulary() *vocab.Vocabulary { return p.vocabulary }

// File is what the pieces were read from.
func (p *Pieces) File() []byte { return p.file }

// Digest stands for the file.
func (p *Pieces) Digest() string {
	if p == nil {
		return ""
	}
	return p.digest
}
