package subword

import (
	"fmt"
	"io"
	"iter"
	"os"
	"strings"

	"universal-transformer/internal/textfile"
	"universal-transformer/internal/vocab"
)

// A Choice says by which tokenizer a task of text is cut, where its tokens are [vocab.Subwords]. Configurations of tasks embed it.
type Choice struct {
	TokenizerFile string `json:"tokenizer_file,omitempty" file:"any"` // of subwords: a tokenizer.json, or the sub-words of tensor2tensor; empty: pieces are found in the text that is trained on
	TokenizerSize int    `json:"tokenizer_size,omitempty"`            // of subwords that are found: how many; 0 means 8000
}

// Check names the field that makes no sense beside the kind of tokens.
func (c Choice) Check(t vocab.Tokenizer) error {
	if err := t.Validate(); err != nil {
		return err
	}
	switch {
	case t != vocab.Subwords && c.TokenizerFile != "":
		return fmt.Errorf("tokenizer_file is %q, but tokenizer is %s: set tokenizer to subwords", c.TokenizerFile, t)
	case t != vocab.Subwords && c.TokenizerSize != 0:
		return fmt.Errorf("tokenizer_size is %d, but tokenizer is %s: set tokenizer to subwords", c.TokenizerSize, t)
	case c.TokenizerFile != "" && c.TokenizerSize != 0:
		return fmt.Errorf("tokenizer_file is %q and tokenizer_size is %d: give one of them", c.TokenizerFile, c.TokenizerSize)
	}
	if err := (&Trainer{Size: c.TokenizerSize}).Validate(); err != nil {
		return fmt.Errorf("tokenizer_%w", err)
	}
	return nil
}

// Pieces reads the file, or finds pieces in a text, whose parts may have several lines each.
func (c Choice) Pieces(text iter.Seq[string]) (*Pieces, error) {
	if c.TokenizerFile != "" {
		return readPieces(c.TokenizerFile)
	}
	trainer := Trainer{Size: c.TokenizerSize}
	for part := range text {
		for line := range strings.Lines(part) {
			if err := trainer.Add(strings.TrimRight(line, "\r\n")); err != nil {
				return nil, err
			}
		}
	}
	bpe, err := trainer.Train()
	if err != nil {
		return nil, fmt.Errorf("tokenizer_%w", err)
	}
	return piecesOf(bpe)
}

// readPieces reads a file whose bytes are kept. That it is not there is no question of where the task's data lie.
func readPieces(path string) (*Pieces, error) {
	f, err := textfile.Open(path)
	if os.IsNotExist(err) {
		return nil, fmt.Errorf("tokenizer_file %q is not there: make one with ut tokenizer train, or leave it out", path)
	}
	if err != nil {
		return nil, fmt.Errorf("tokenizer_file: %w", err)
	}
	defer f.Close()
	file, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("tokenizer_file: %w", err)
	}
	p, err := ReadPieces(file)
	if err != nil {
		return nil, fmt.Errorf("tokenizer_file %s: %w", path, err)
	}
	return p, nil
}
