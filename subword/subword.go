// Package subword splits text into pieces of words with ids. It trains byte-level byte-pair encodings, stored as a tokenizer.json
// that other libraries read, and reads the subword vocabularies of tensor2tensor.
//
//	trainer := subword.Trainer{Size: 8000}
//	err := trainer.Count(text)           // once per file
//	bpe, err := trainer.Train()
//	err = bpe.Write(file)
//
//	tokenizer, err := subword.Open("tokenizer.json")
//	ids, err := tokenizer.Encode("A dog runs.")
//	text, err := tokenizer.Decode(ids)   // "A dog runs."
//
// Vocabularies trained here have padding and end at the ids of package vocab. They need no unknown token: every byte is a piece, so
// that any text can be encoded and is decoded exactly. Files of other programs may lack bytes. These become the unknown token of the
// file, or are dropped if it has none, as in the Python library tokenizers.
package subword

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"universal-transformer/internal/textfile"
	"universal-transformer/internal/vocab"
)

// A Tokenizer converts text to ids and back. It is an interface because a model does not depend on the kind of vocabulary, a BPE or a
// T2T. Its methods may be called concurrently.
type Tokenizer interface {
	// Encode returns the ids of a text, which must be valid UTF-8. It never returns special tokens other than an unknown token: a
	// text that contains the spelling of one is split like any other.
	Encode(text string) ([]vocab.ID, error)
	// Decode returns the text of ids without special tokens. An id outside 0 .. Size-1 is an error.
	Decode(ids []vocab.ID) (string, error)
	// Size returns the number of ids. All ids are below it.
	Size() int
	// Token returns the piece of an id, without blanks, or "<id n>" if the id does not exist.
	Token(id vocab.ID) string
	// ModelIDs returns an error unless the ids are suitable for a model: the ids of padding and end must not result from any text.
	ModelIDs() error
}

// maxBytes is far above the size of any tokenizer's file.
const maxBytes = 64 << 20

// Open reads a tokenizer from a file, as Read does. Errors name the file.
func Open(path string) (Tokenizer, error) {
	f, err := textfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t, err := Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// Read reads a tokenizer.json with byte-level BPE, or a subword vocabulary of tensor2tensor. Properties of a file that would be
// ignored, so that ids differ, are errors that name what is not supported.
func Read(r io.Reader) (Tokenizer, error) {
	data, err := io.ReadAll(textfile.NewReader(r, maxBytes))
	switch {
	case err != nil:
		return nil, fmt.Errorf("this is not a tokenizer: %w", err)
	case !utf8.Valid(data):
		return nil, errors.New("not valid UTF-8: this is neither a tokenizer.json nor a list of subwords")
	}
	if first := bytes.TrimLeft(data, " \t\r\n"); len(first) > 0 && first[0] == '{' {
		return readBPE(data)
	}
	return readT2T(data)
}

// ErrText is the error of a text that is not valid UTF-8.
var ErrText = errors.New("not valid UTF-8")

// CheckText returns an [ErrText] with the position if a text is not valid UTF-8.
func CheckText(text string) error {
	if utf8.ValidString(text) { // which is faster
		return nil
	}
	return fmt.Errorf("%w at byte %d", ErrText, textfile.Invalid(text)+1)
}

// checkIDs returns an error that names the first id outside a vocabulary of the given size.
func checkIDs(ids []vocab.ID, size int) error {
	for i, id := range ids {
		if id < 0 || int(id) >= size {
			return fmt.Errorf("id %d at position %d (counted from 1) does not exist: ids go from 0 to %d", id, i+1, size-1)
		}
	}
	return nil
}
