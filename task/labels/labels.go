// Package labels is a task defined by a user's own file: one text and its label per row, in a TSV or CSV file in UTF-8.
//
//	text,label
//	"A film to remember, at last.",positive
//	I left early.,negative
//
// A part of the rows is held out, by a hash of the text, as in package table. The vocabulary of the texts is built from the rest; the
// labels are those of the whole file. Malformed rows are reported with file and line number, and skipped.
package labels

import (
	"errors"
	"fmt"
	"strings"

	"universal-transformer/internal/tabular"
	"universal-transformer/internal/vocab"
	"universal-transformer/subword"
	"universal-transformer/task"
)

// Labels specifies the file and how to read it. Only Path is required.
type Labels struct {
	Path        string `json:"path" file:"any"` // a TSV or CSV file, possibly compressed with gzip or xz
	TextColumn  string `json:"text_column"`     // column of the texts: its name in the header, or its number; empty: "text" in the header, or the first
	LabelColumn string `json:"label_column"`    // column of the labels; empty: "label" in the header, or the second
	tabular.Layout
	Tokenizer vocab.Tokenizer `json:"tokenizer"` // "characters", "whitespace" or "subwords"
	subword.Choice
	HeldOut     float64 `json:"held_out"`                 // share of the texts that is held out, half for choosing a checkpoint, half for evaluation; 0 means 0.1
	HeldOutPath string  `json:"held_out_path" file:"any"` // file for evaluation; a tenth of the texts of Path chooses the checkpoint
	MinCount    int     `json:"min_count"`                // training tokens that occur less often become <unknown>; 0 means 1; not with subwords
	MaxLength   int     `json:"max_length"`               // maximum number of tokens of a text; 0 means 1000
}

// Kind returns task.Classification.
func (Labels) Kind() task.Kind { return task.Classification }

// String returns the file's path.
func (c Labels) String() string { return c.Path }

// Validate returns an error that names the first missing or invalid field.
func (c Labels) Validate() error {
	switch {
	case c.Path == "":
		return errors.New("path is empty: name a file with a text and its label in each row")
	case c.MinCount > 1 && c.Tokenizer == vocab.Subwords:
		return fmt.Errorf("min_count is %d, but every text can be written in subwords: leave it out", c.MinCount)
	}
	if err := c.division().Validate(); err != nil {
		return err
	}
	if err := c.Layout.Validate(); err != nil {
		return err
	}
	if err := c.ValidateColumns(c.columns()...); err != nil {
		return err
	}
	return c.Check(c.Tokenizer)
}

// Subwords returns the size of the subword vocabulary; 0 if only the data tell.
func (c Labels) Subwords() int {
	if c.Tokenizer != vocab.Subwords {
		return 0
	}
	return c.TokenizerSize
}

// division returns the fields that all tasks on rows have.
func (c Labels) division() tabular.Division {
	return tabular.Division{HeldOut: c.HeldOut, HeldOutPath: c.HeldOutPath, MinCount: c.MinCount, MaxLength: c.MaxLength}
}

// resolved returns the labels with the defaults filled in.
func (c Labels) resolved() Labels {
	d := c.division().Resolved()
	c.HeldOut, c.MinCount, c.MaxLength = d.HeldOut, d.MinCount, d.MaxLength
	return c
}

// Measure computes accuracy, macro F1, and the scores of every class.
func (c Labels) Measure(v task.Vocabularies) task.Measure { return Measure{v} }

// Reader reads texts, one per line, and files of texts and labels.
func (c Labels) Reader(v task.Vocabularies) task.Reader {
	return reader{task.LineReader{Vocabularies: v, Name: task.Source, FileOf: c.fileReader(v)}}
}

// reader is a LineReader whose targets are labels.
type reader struct{ task.LineReader }

// Read converts a text. One of white space only is empty, as in the files.
func (r reader) Read(text string) (task.Input, error) {
	if blank(text) {
		text = ""
	}
	return r.LineReader.Read(text)
}

// Target returns the class of a label.
func (r reader) Target(label string) ([]vocab.ID, error) {
	return r.Vocabularies.Target.Encode([]string{strings.TrimSpace(label)})
}

// Open reads the files. The task's Notes describe what they contain.
func (c Labels) Open() (task.Task, error) { return c.open(task.Vocabularies{}) }

// OpenWith is like Open, with the tokens and the labels of an earlier run.
func (c Labels) OpenWith(v task.Vocabularies) (task.Task, error) {
	if v.Tokenizer != c.Tokenizer { // of another configuration
		return c.Open()
	}
	return c.open(v)
}

// open reads the files with given vocabularies, or with those of the data if they are zero.
func (c Labels) open(v task.Vocabularies) (task.Task, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.resolved()
	t := &Task{config: c, v: v, given: v.Target != nil}
	parts, err := t.read()
	if err != nil {
		return nil, err
	}
	if err := t.build(parts); err != nil {
		return nil, tabular.WithSkipped(fmt.Errorf("%s: %w", c.Path, err), t.reports...)
	}
	return t, nil
}
