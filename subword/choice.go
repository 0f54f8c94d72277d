package subword

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"

	"universal-transformer/internal/textfile"
	"universal-transformer/internal/vocab"
)

// A Choice specifies the tokenizer of a text task whose tokens are [vocab.Subwords]. Configurations of tasks embed it.
type Choice struct {
	TokenizerFile string `json:"tokenizer_file,omitempty" file:"any"` // a tokenizer.json, or a subword vocabulary of tensor2tensor; if empty, subwords are learned from the training text
	TokenizerSize int    `json:"tokenizer_size,omitempty"`            // number of learned subwords; 0 means 8000
}

// Check returns an error that names the first field that does not fit the tokenizer.
func (c Choice) Check(t vocab.Tokenizer) error {
	if err := t.Validate(); err != nil {
		return err
	}
	switch {
	case t != vocab.Subwords && c.TokenizerFile != "":
		return fmt.Errorf("tokenizer_file is %q, but tokenizer is %s: set task.tokenizer=subwords", c.TokenizerFile, t)
	case t != vocab.Subwords && c.TokenizerSize != 0:
		return fmt.Errorf("tokenizer_size is %d, but tokenizer is %s: set task.tokenizer=subwords, or task.tokenizer_size=0", c.TokenizerSize, t)
	case c.TokenizerFile != "" && c.TokenizerSize != 0:
		return fmt.Errorf("tokenizer_file is %q and tokenizer_size is %d: leave one of them out, or set task.tokenizer_size=0", c.TokenizerFile, c.TokenizerSize)
	}
	if err := (&Trainer{Size: c.TokenizerSize}).Validate(); err != nil {
		return fmt.Errorf("tokenizer_%w", err)
	}
	return nil
}

// Pieces reads the file, or learns subwords from a text, whose parts may have several lines each.
func (c Choice) Pieces(text iter.Seq[string]) (*Pieces, error) {
	if c.TokenizerFile != "" {
		return readPieces(c.TokenizerFile)
	}
	trainer := Trainer{Size: c.TokenizerSize}
	if err := trainer.Validate(); err != nil {
		return nil, fmt.Errorf("tokenizer_%w", err) // which begins with "size"
	}
	for part := range text {
		for line := range strings.Lines(part) {
			if err := trainer.Add(strings.TrimRight(line, "\r\n")); err != nil {
				return nil, err
			}
		}
	}
	bpe, err := trainer.Train()
	if err != nil {
		return nil, fmt.Errorf("subwords: %w", err)
	}
	return piecesOf(bpe)
}

// ErrTrainTokenizer means that there is no usable tokenizer file.
var ErrTrainTokenizer = errors.New("train a tokenizer")

// readPieces reads a file. Its error is not that of a missing data file, so that it is not mistaken for missing data of the task.
func readPieces(path string) (*Pieces, error) {
	f, err := textfile.Open(path)
	if os.IsNotExist(err) {
		return nil, fmt.Errorf("tokenizer_file %q does not exist: leave it out, or %w", path, ErrTrainTokenizer)
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
