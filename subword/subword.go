// Package subword cuts text into pieces of words and gives them ids: byte-level byte-pair encoding, trained here and kept as a
// tokenizer.json that other libraries read, and the sub-word vocabularies of tensor2tensor, which are only read.
//
//	trainer := subword.Trainer{Size: 8000}
//	err := trainer.Count(text)           // as often as there are files
//	bpe, err := trainer.Train()
//	err = bpe.Write(file)
//
//	tokenizer, err := subword.Open("tokenizer.json")
//	ids, err := tokenizer.Encode("A dog runs.")
//	text, err := tokenizer.Decode(ids)   // "A dog runs."
//
// What is trained here has padding and end at the ids that package vocab gives them. It needs no unknown token: every byte
// is a piece, so that any text can be written and is read back exactly. Files of others may lack bytes: those become the
// unknown token of the file, or are left out if it names none, as the Python library tokenizers does.
package subword

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf8"

	"universal-transformer/internal/textfile"
	"universal-transformer/internal/vocab"
)

// A Tokenizer turns text into ids and back. It is an interface because a model is trained on ids and does not care whose
// vocabulary they are of: BPE's or T2T's. Its methods may be called concurrently.
type Tokenizer interface {
	// Encode gives the ids of a text, which must be valid UTF-8. Special tokens are never among them but for an unknown
	// token: a text that spells one is cut into pieces like any other.
	Encode(text string) ([]vocab.ID, error)
	// Decode gives the text of ids and leaves special tokens out. An id that is not below Size is an error.
	Decode(ids []vocab.ID) (string, error)
	// Size is the number of ids; every id is below it.
	Size() int
	// Token shows the piece of an id, without blanks, and "<id n>" for an id that there is not.
	Token(id vocab.ID) string
	// ModelIDs reports why the ids cannot be a model's: the ids of padding and end must be ones that no text gives.
	ModelIDs() error
}

// maxBytes is far above the size of any tokenizer's file.
const maxBytes = 64 << 20

// Open reads a tokenizer from a file, as Read does. The errors name the file.
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

// Read reads a tokenizer.json with byte-level BPE or a sub-word vocabulary of tensor2tensor, whichever it is. Anything that would
// be tokenized in another way than its makers meant is an error that names what is not supported.
func Read(r io.Reader) (Tokenizer, error) {
	data, err := io.ReadAll(textfile.NewReader(r, maxBytes))
	switch {
	case err != nil:
		return nil, fmt.Errorf("this is no tokenizer: %w", err)
	case !utf8.Valid(data):
		return nil, fmt.Errorf("not valid UTF-8: this is neither a tokenizer.json nor a list of sub-words")
	}
	if first := bytes.TrimLeft(data, " \t\r\n"); len(first) > 0 && first[0] == '{' {
		return readBPE(data)
	}
	return readT2T(data)
}

// CheckText reports text that is not valid UTF-8 and where it is not.
func CheckText(text string) error {
	if utf8.ValidString(text) {
		return nil
	}
	for at := 0; ; {
		r, size := utf8.DecodeRuneInString(text[at:])
		if r == utf8.RuneError && size == 1 {
			return fmt.Errorf("not valid UTF-8 at byte %d", at+1)
		}
		at += size
	}
}

// checkIDs reports the first id that a vocabulary of a size does not have.
func checkIDs(ids []vocab.ID, size int) error {
	for i, id := range ids {
		if id < 0 || int(id) >= size {
			return fmt.Errorf("id %d at position %d (counted from 1) is none: ids go from 0 to %d", id, i+1, size-1)
		}
	}
	return nil
}
