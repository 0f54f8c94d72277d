// Package table is a task defined by a user's own file: one pair per line, source TAB target, in UTF-8.
//
//	three plus four	seven
//	two plus two	four
//
// A file may also be CSV, have a header and other columns, and be compressed with gzip or xz.
//
// A part of the lines is held out, by a hash of the source: the same lines in every run, independently of the other lines of the file,
// and no source occurs on both sides. The vocabularies are built from the rest. Malformed lines are reported with file and line number,
// and skipped.
package table

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"universal-transformer/internal/tabular"
	"universal-transformer/internal/vocab"
	"universal-transformer/subword"
	"universal-transformer/task"
)

// Table specifies the file and how to read it. Only Path is required.
type Table struct {
	Path         string `json:"path" file:"any"`         // the file
	SourceColumn string `json:"source_column,omitempty"` // column of the sources: its name in the header, or its number; empty: the first
	TargetColumn string `json:"target_column,omitempty"` // column of the targets; empty: the second
	tabular.Layout
	Tokenizer vocab.Tokenizer `json:"tokenizer"` // "characters", "whitespace" or "subwords"
	subword.Choice
	HeldOut          float64 `json:"held_out"`                 // share of the sources that is held out, half for choosing a checkpoint, half for evaluation; 0 means 0.1
	HeldOutPath      string  `json:"held_out_path" file:"any"` // file for evaluation; a tenth of the sources of Path chooses the checkpoint
	MinCount         int     `json:"min_count"`                // training tokens that occur less often become <unknown>; 0 means 1; not with subwords
	MaxLength        int     `json:"max_length"`               // maximum number of tokens of a source or target; 0 means 1000
	SharedVocabulary bool    `json:"shared_vocabulary"`        // one vocabulary for sources and targets; always the case with subwords
}

// Validate returns an error that names the first missing or invalid field.
func (c Table) Validate() error {
	switch {
	case c.Path == "":
		return errors.New("path is empty: name the tab-separated or comma-separated file")
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

// division returns the fields that all tasks on rows have.
func (c Table) division() tabular.Division {
	return tabular.Division{HeldOut: c.HeldOut, HeldOutPath: c.HeldOutPath, MinCount: c.MinCount, MaxLength: c.MaxLength}
}

// resolved returns the table with its defaults filled in.
func (c Table) resolved() Table {
	d := c.division().Resolved()
	c.HeldOut, c.MinCount, c.MaxLength = d.HeldOut, d.MinCount, d.MaxLength
	return c
}

// Kind returns task.Transduction.
func (Table) Kind() task.Kind { return task.Transduction }

// String returns the file's path.
func (c Table) String() string { return c.Path }

// Reader reads lines, and files of pairs.
func (c Table) Reader(v task.Vocabularies) task.Reader {
	return task.LineReader{Vocabularies: v, Name: task.Source, FileOf: c.fileReader(v)}
}

// Measure decodes and compares tokens and sequences. A reference with a token outside the vocabulary never counts as correct.
func (Table) Measure(v task.Vocabularies) task.Measure {
	unknown, _ := v.Target.Unknown()
	return task.DecodedAccuracy{Accuracy: task.Accuracy{Unknown: unknown}}
}

// Open reads the files and makes the task. The task's Notes describe what the files contain.
func (c Table) Open() (task.Task, error) {
	return c.OpenWith(task.Vocabularies{Tokenizer: c.Tokenizer})
}

// OpenWith is like Open, with the tokens of an earlier run.
func (c Table) OpenWith(v task.Vocabularies) (task.Task, error) {
	if v.Tokenizer != c.Tokenizer { // of another configuration
		return c.Open()
	}
	t, report, err := openWith(c, v)
	if err != nil {
		return nil, err
	}
	t.notes = strings.Split(report.String(), "\n")
	return t, nil
}

// Open reads the files and returns the task and a report of what the files contain. The report is also returned if the error is that
// too few lines are usable.
func Open(c Table) (*Task, *Report, error) { return openWith(c, task.Vocabularies{}) }

// openWith is like Open, with given vocabularies unless they are zero.
func openWith(c Table, v task.Vocabularies) (*Task, *Report, error) {
	report := &Report{}
	if err := c.Validate(); err != nil {
		return nil, report, err
	}
	c = c.resolved()
	parts, err := c.read(report)
	if err != nil {
		return nil, report, err
	}
	t := &Task{config: c, subwords: v.Subwords, source: v.Source, target: v.Target, given: v.Target != nil}
	if c.Tokenizer == vocab.Subwords {
		if err := t.cut(&parts, report); err != nil {
			return nil, report, err
		}
	}
	return t, report, tabular.WithSkipped(t.build(parts, report), report.Files...)
}

// parts holds the lines of each split.
type parts struct{ training, validation, evaluation []pair }

// check returns an error if a part is empty.
func (p parts) check(c Table) error {
	if len(p.training) == 0 || len(p.evaluation) == 0 || c.HeldOutPath == "" && len(p.validation) == 0 {
		pairs := slices.Concat(p.training, p.validation)
		if c.HeldOutPath == "" {
			pairs = append(pairs, p.evaluation...)
		}
		if alike := tabular.Alike(pairs, hashOf, "lines", "sources", "source_column"); alike != "" {
			return tabular.EmptyAlike(c.Path, alike)
		}
		return tabular.EmptyPart(c.Path, "lines", len(p.training), len(p.validation), len(p.evaluation), c.HeldOut, c.HeldOutPath != "")
	}
	return nil
}

// trained returns the training part of the file; none if the file cannot be read.
func (c Table) trained() (training []pair) {
	if c.Path == "" {
		return nil
	}
	c = c.resolved()
	pairs, _ := readFile(c, c.Path, &Report{})
	validation, held := c.division().Shares()
	training, _, _ = tabular.Split(pairs, hashOf, validation, held)
	return training
}

func hashOf(r pair) uint64 { return r.hash }

// read splits the pairs by the hash of the source, unless held-out pairs have their own file.
func (c Table) read(report *Report) (p parts, err error) {
	pairs, err := readFile(c, c.Path, report)
	if err != nil {
		return p, err
	}
	validation, share := c.division().Shares()
	if c.HeldOutPath != "" {
		if p.evaluation, err = readFile(c, c.HeldOutPath, report); err != nil {
			return p, err
		}
	}
	var held []pair
	p.training, p.validation, held = tabular.Split(pairs, hashOf, validation, share)
	p.evaluation = append(p.evaluation, held...) // none if they have a file of their own
	return p, tabular.WithSkipped(p.check(c), report.Files...)
}
