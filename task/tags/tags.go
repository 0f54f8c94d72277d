// Package tags is a task defined by a user's own file: sentences with a tag for each word, such as the names in a text. Every word and its
// tag are a row, and blank lines separate the sentences, as in the files of the CoNLL shared tasks:
//
//	Anna B-PER
//	lives O
//	in O
//	Bonn B-LOC
//
// Or every row is a sentence, with its words in one column and as many tags in another, separated by spaces:
//
//	Anna lives in Bonn<TAB>B-PER O O B-LOC
//
// A part of the sentences is held out, by a hash of the words. The vocabulary of the words is built from the rest; the tags are those of
// the whole file. Malformed sentences are reported with file and line number, and skipped.
package tags

import (
	"errors"
	"fmt"

	"universal-transformer/internal/tabular"
	"universal-transformer/task"
)

// maxAffixes is the maximum number of characters of an affix.
const maxAffixes = 20

// Tags specifies the file and how to read it. Only Path is required.
type Tags struct {
	Path       string `json:"path" file:"any"` // rows of words and tags, possibly compressed with gzip or xz
	WordColumn string `json:"word_column"`     // column of the words: its name in the header, or its number; empty: "word" in the header, or the first
	TagColumn  string `json:"tag_column"`      // column of the tags; empty: "tag" in the header, or the last
	tabular.Layout
	Affixes     int     `json:"affixes,omitempty"`        // characters; a word is read as the sum of the word, its first and last characters and its shape, such as Xx or 0.0; 0: as the word alone
	HeldOut     float64 `json:"held_out"`                 // share of the sentences that is held out, half for choosing a checkpoint, half for evaluation; 0 means 0.1
	HeldOutPath string  `json:"held_out_path" file:"any"` // file for evaluation; a tenth of the sentences of Path chooses the checkpoint
	MinCount    int     `json:"min_count"`                // training words that occur less often become <unknown>; 0 means 1
	MaxLength   int     `json:"max_length"`               // maximum number of words of a sentence; 0 means 1000
}

// Kind returns task.Tagging.
func (Tags) Kind() task.Kind { return task.Tagging }

// String returns the file's path.
func (c Tags) String() string { return c.Path }

// Validate returns an error that names the first missing or invalid field.
func (c Tags) Validate() error {
	switch {
	case c.Path == "":
		return errors.New("path is empty: name a file with a word and its tag in each row")
	case c.Affixes < 0 || c.Affixes > maxAffixes:
		return fmt.Errorf("affixes is %d: it must be from 1 to %d characters, or 0 for none", c.Affixes, maxAffixes)
	}
	if err := c.division().Validate(); err != nil {
		return err
	}
	if err := c.Layout.Validate(); err != nil {
		return err
	}
	return c.ValidateColumns(c.columns()...)
}

// division returns the fields that all tasks on rows have.
func (c Tags) division() tabular.Division {
	return tabular.Division{HeldOut: c.HeldOut, HeldOutPath: c.HeldOutPath, MinCount: c.MinCount, MaxLength: c.MaxLength}
}

// resolved returns the tags with the defaults filled in.
func (c Tags) resolved() Tags {
	d := c.division().Resolved()
	c.HeldOut, c.MinCount, c.MaxLength = d.HeldOut, d.MinCount, d.MaxLength
	return c
}

// Measure computes token accuracy, the scores of every tag and, if the tags mark spans, those of the spans.
func (c Tags) Measure(v task.Vocabularies) task.Measure { return Measure{v} }

// Reader reads sentences, one per line with spaces between the words, and files of words and tags.
func (c Tags) Reader(v task.Vocabularies) task.Reader { return reader{c, v} }

// Open reads the files. The task's Notes describe what they contain.
func (c Tags) Open() (task.Task, error) { return c.OpenWith(task.Vocabularies{}) }

// OpenWith is like Open, with the words and the tags of an earlier run.
func (c Tags) OpenWith(v task.Vocabularies) (task.Task, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	t := &Task{config: c.resolved(), v: v}
	parts, err := t.read()
	if err != nil {
		return nil, err
	}
	if err := t.build(parts); err != nil {
		return nil, tabular.WithSkipped(fmt.Errorf("%s: %w", c.Path, err), t.reports...)
	}
	return t, nil
}
