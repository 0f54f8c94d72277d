package table

import (
	"fmt"
	"slices"
	"strings"
)

// maxListed is the number of malformed lines, and of unknown tokens, that a report lists. Its counts include all.
const maxListed = 10

// A Report describes what Open found.
type Report struct {
	Files      []FileReport  `json:"files"`      // the file, and the held-out file if there is one
	Training   int           `json:"training"`   // number of training examples
	Validation int           `json:"validation"` // number of examples for choosing a checkpoint
	HeldOut    int           `json:"held_out"`   // number of examples for evaluation
	Repeated   int           `json:"repeated"`   // held-out examples whose source is also a training source; possible only with a held-out file
	Ambiguous  int           `json:"ambiguous"`  // lines whose source also occurs with another target in the same file; no model can answer all of them correctly
	Source     UnknownTokens `json:"unknown_source"`
	Target     UnknownTokens `json:"unknown_target"`
}

// A FileReport describes one file.
type FileReport struct {
	Path      string      `json:"path"`
	Digest    string      `json:"sha256"`           // of the whole file, in hexadecimal; of a compressed one, decompressed
	Header    string      `json:"header,omitempty"` // a remark on the columns, if the file has a header
	Lines     int         `json:"lines"`            // rows
	Usable    int         `json:"usable"`
	Skipped   int         `json:"skipped"`
	Malformed []Malformed `json:"malformed"` // the first ten malformed lines, which are skipped
}

// Malformed is a malformed line.
type Malformed struct {
	File   string `json:"file"`
	Line   int    `json:"line"` // counted from 1
	Reason string `json:"reason"`
}

func (m Malformed) String() string { return fmt.Sprintf("%s:%d: %s", m.File, m.Line, m.Reason) }

// UnknownTokens counts the tokens of held-out examples that are not in the vocabulary.
type UnknownTokens struct {
	Count  int      `json:"count"`  // occurrences
	Tokens []string `json:"tokens"` // the first ten different ones
}

func (u *UnknownTokens) add(token string) {
	u.Count++
	if len(u.Tokens) < maxListed && !slices.Contains(u.Tokens, token) {
		u.Tokens = append(u.Tokens, token)
	}
}

func (f *FileReport) skipped(line int, reason string) {
	f.Skipped++
	if len(f.Malformed) < maxListed {
		f.Malformed = append(f.Malformed, Malformed{File: f.Path, Line: line, Reason: reason})
	}
}

// check returns an error if the file is empty, or if none or fewer than half of its lines are usable.
func (f *FileReport) check() error {
	switch {
	case f.Lines == 0:
		return fmt.Errorf("%s is empty: it must have one source TAB target a line, or the rows of a CSV file", f.Path)
	case f.Usable == 0:
		return fmt.Errorf("%s: none of %d lines can be used: %s", f.Path, f.Lines, f.Malformed[0])
	case f.Skipped > f.Usable:
		return fmt.Errorf("%s: %d of %d lines are malformed, more than half: first %s", f.Path, f.Skipped, f.Lines, f.Malformed[0])
	}
	return nil
}

// String formats the report as a few lines, without a newline at the end.
func (r *Report) String() string {
	var lines []string
	for _, f := range r.Files {
		lines = append(lines, f.String())
	}
	lines = append(lines, fmt.Sprintf("%d examples for training, %d for choosing a checkpoint, %d for evaluation", r.Training, r.Validation, r.HeldOut))
	if r.Ambiguous > 0 {
		lines = append(lines, fmt.Sprintf("%d examples have a source that also occurs with another target: not all of them can be answered correctly", r.Ambiguous))
	}
	if r.Repeated > 0 {
		lines = append(lines, fmt.Sprintf("%d held-out examples have a source that is also in the training part", r.Repeated))
	}
	lines = append(lines, r.Source.lines("sources")...)
	lines = append(lines, r.Target.lines("targets")...)
	return strings.Join(lines, "\n")
}

// String returns the number of lines of the file, and lists the first malformed ones.
func (f FileReport) String() string {
	lines := []string{fmt.Sprintf("%s: %d lines, %d usable, %d malformed", f.Path, f.Lines, f.Usable, f.Skipped)}
	if f.Header != "" {
		lines = append(lines, "  "+f.Header)
	}
	for _, m := range f.Malformed {
		lines = append(lines, "  "+m.String())
	}
	if more := f.Skipped - len(f.Malformed); more > 0 {
		lines = append(lines, fmt.Sprintf("  and %d more", more))
	}
	return strings.Join(lines, "\n")
}

func (u UnknownTokens) lines(side string) []string {
	if u.Count == 0 {
		return nil
	}
	return []string{fmt.Sprintf("held-out %s have %d unknown tokens, among them %q", side, u.Count, u.Tokens)}
}
