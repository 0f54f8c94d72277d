// Package text is language modelling on a user's own file: predicting every token from those before it.
//
// The file, or the files of a folder one after another, are a continuous text, which is split into segments of equal length that are
// learned independently. With Lines, every line is a separate text that ends with End. The last tenth of the text, or a tenth of the
// lines, is held out: half of it for validation and half for testing. The vocabulary is built from the rest.
package text

import (
	"errors"
	"fmt"
	"strings"

	"universal-transformer/internal/vocab"
	"universal-transformer/subword"
	"universal-transformer/task"
)

const (
	defaultLength  = 128
	defaultHeldOut = 0.1
)

// Text specifies the file and how to read it. Only Path is required.
type Text struct {
	Path      string          `json:"path" file:"any"` // a file of UTF-8 text, possibly compressed with gzip or xz, or a folder of files named .txt
	Tokenizer vocab.Tokenizer `json:"tokenizer"`       // "characters", "whitespace" or "subwords"
	subword.Choice
	Lines    bool    `json:"lines"`     // every line is a separate text
	Length   int     `json:"length"`    // tokens of a segment, or the maximum of a line; 0 means 128
	HeldOut  float64 `json:"held_out"`  // share held out, half for validation, half for testing; 0 means 0.1
	MinCount int     `json:"min_count"` // training tokens that occur less often become <unknown>; 0 means 1; not with subwords
}

// Kind returns task.LanguageModeling.
func (Text) Kind() task.Kind { return task.LanguageModeling }

// String returns the file's path.
func (c Text) String() string { return c.Path }

// Validate returns an error that names the first missing or invalid field.
func (c Text) Validate() error {
	switch {
	case c.Path == "":
		return errors.New("path is empty: name a text file, or a folder of text files")
	case c.Length != 0 && c.Length < 2:
		return fmt.Errorf("length is %d: it must be at least 2, or 0 for %d", c.Length, defaultLength)
	case !(c.HeldOut >= 0 && c.HeldOut < 1):
		return fmt.Errorf("held_out is %v: it must be a share between 0 and 1, or 0 for %v", c.HeldOut, defaultHeldOut)
	case c.MinCount > 1 && c.Tokenizer == vocab.Subwords:
		return fmt.Errorf("min_count is %d, but every text can be written in subwords: leave it out", c.MinCount)
	case c.MinCount < 0:
		return fmt.Errorf("min_count is %d: it must be at least 1, or 0 for 1", c.MinCount)
	}
	return c.Check(c.Tokenizer)
}

// resolved returns the text with its defaults filled in.
func (c Text) resolved() Text {
	if c.Length == 0 {
		c.Length = defaultLength
	}
	if c.HeldOut == 0 {
		c.HeldOut = defaultHeldOut
	}
	return c
}

// Reader reads prompts and texts to score.
func (c Text) Reader(v task.Vocabularies) task.Reader {
	return task.LineReader{Vocabularies: v, Name: task.Prompt, Open: !c.Lines, FileOf: func(path string) ([]task.Example, []string, error) {
		own := c.resolved()
		c := own
		c.Path, c.Tokenizer = path, v.Tokenizer
		content, notes, err := read(path)
		if err != nil {
			return nil, nil, err
		}
		if content == "" {
			return nil, nil, fmt.Errorf("%s is empty", path)
		}
		if segments, ok := strings.CutPrefix(content, heading); ok && !c.Lines {
			examples, err := readSegments(v, segments)
			if err != nil {
				return nil, notes, fmt.Errorf("%s: %w", path, err)
			}
			return examples, append(notes, own.repeatedNote(v, examples)...), nil
		}
		pieces, more, err := c.split(c.lines(content), v.Split)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
		notes = append(notes, more...)
		if !c.Lines {
			pieces = cut(pieces[0], c.Length)
		}
		examples := c.examples(v, pieces)
		return examples, append(notes, own.repeatedNote(v, examples)...), nil
	}}
}

// Measure returns the perplexity per token and per word.
func (c Text) Measure(v task.Vocabularies) task.Measure {
	unknown, _ := v.Target.Unknown()
	return task.Perplexity{Words: wordsOf(v), Unknown: unknown}
}
