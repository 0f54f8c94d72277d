package tabular

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"universal-transformer/internal/quantity"
)

// MaxListed is the number of malformed rows, and of unknown tokens, that reports list. Their counts include all.
const MaxListed = 10

// A Report describes the rows of one file.
type Report struct {
	Path      string      `json:"path"`
	Digest    string      `json:"sha256"`           // of the whole file, in hexadecimal; of a compressed one, decompressed
	Header    string      `json:"header,omitempty"` // a remark on the first row
	Unit      string      `json:"unit,omitempty"`   // what is counted: "sentences", "rows"; empty: lines
	Lines     int         `json:"lines"`            // rows, or what the unit is
	Usable    int         `json:"usable"`
	Skipped   int         `json:"skipped"`
	Malformed []Malformed `json:"malformed"` // the first ten malformed rows, which are skipped

	named  bool     // the first row is a header
	advice string   // the setting that the file may need, if most of its rows are malformed
	many   []string // the first row, if it has more columns than are read and none is chosen
	how    string   // how to choose them
}

// Malformed is a malformed row.
type Malformed struct {
	File   string `json:"file"`
	Line   int    `json:"line"` // counted from 1
	Reason string `json:"reason"`
}

func (m Malformed) String() string { return fmt.Sprintf("%s:%d: %s", m.File, m.Line, m.Reason) }

// ReadFile reads a file and converts every row to a T. Malformed rows, and those that cannot be converted, go to the report, which is
// also returned with an error.
func ReadFile[T any](l Layout, path string, columns []Column, convert func(line int, fields []string) (T, error)) (rows []T, r Report, err error) {
	r.Path = path
	info, err := l.Read(path, columns, func(row Row) { rows = Add(&r, rows, row, convert) })
	r.Describe(info)
	return rows, r, err
}

// Describe records what is known of the file.
func (r *Report) Describe(info Info) {
	r.Digest, r.Header, r.named, r.many, r.how = info.Digest, info.Header, info.Named, info.many, info.how
	if info.csv {
		r.Unit = cmp.Or(r.Unit, "rows") // which may have several lines
	}
}

// HasHeader reports whether the first row is a header.
func (r *Report) HasHeader() bool { return r.named }

// Add appends a row to those before, or counts it as malformed.
func Add[T any](r *Report, rows []T, row Row, convert func(line int, fields []string) (T, error)) []T {
	r.Lines++
	var converted T
	err := row.Err
	if err == nil {
		converted, err = convert(row.Line, row.Fields)
	}
	if err != nil {
		reason := err.Error()
		if advised := (*adviceError)(nil); errors.As(err, &advised) {
			reason, r.advice = advised.problem, cmp.Or(r.advice, advised.remedy)
		}
		r.Skip(row.Line, reason)
		return rows
	}
	r.Usable++
	return append(rows, converted)
}

// Skip counts a row as malformed.
func (r *Report) Skip(line int, reason string) {
	r.Skipped++
	if len(r.Malformed) < MaxListed {
		r.Malformed = append(r.Malformed, Malformed{File: r.Path, Line: line, Reason: reason})
	}
}

// CheckFirst returns an error if the first row alone has a class that no other row has, so that it may be a header that was taken for data.
// what says what the classes are: "label".
func (r *Report) CheckFirst(l Layout, what string, classes []string) error {
	if !r.firstAlone(l, classes) {
		return nil
	}
	return fmt.Errorf("%s: the first row is read as data, but its %s, %q, is that of no other row, and every other %s is that of several: if it is a header, set task.header=%s, otherwise task.header=%s",
		r.Path, what, classes[0], what, Yes, No)
}

// NoteFirst remarks on what [Report.CheckFirst] refuses.
func (r *Report) NoteFirst(l Layout, what string, classes []string) {
	if r.firstAlone(l, classes) {
		r.Header = fmt.Sprintf("the first row is read as data (%q is the %s of no other row): if it is a header, set task.header=%s", classes[0], what, Yes)
	}
}

// firstAlone reports whether the first row has a class that no other row has, and all other classes are those of several rows.
func (r *Report) firstAlone(l Layout, classes []string) bool {
	count, single := map[string]int{}, 0
	for _, class := range classes {
		count[class]++
	}
	for _, n := range count {
		if n == 1 {
			single++
		}
	}
	return single == 1 && len(count) > 1 && count[classes[0]] == 1 && l.Header == "" && !l.other && !r.named
}

// Check returns an error if the file is empty, or if none or fewer than half of its rows are usable. want describes a row.
func (r *Report) Check(want string) error {
	switch {
	case r.Lines == 0 && r.named:
		return fmt.Errorf("%s has a header and nothing else: it must have %s", r.Path, want)
	case r.Lines == 0:
		return fmt.Errorf("%s is empty: it must have %s", r.Path, want)
	case r.Skipped > r.Usable && len(r.many) > 0:
		return fmt.Errorf("%s has %d columns (%s): %s", r.Path, len(r.many), listed(r.many), r.how)
	case r.Usable == 0:
		return fmt.Errorf("%s: none of %d %s can be used: %s", r.Path, r.Lines, r.unit(), r.first())
	case r.Skipped > r.Usable:
		return fmt.Errorf("%s: %d of %d %s are malformed, more than half: first %s", r.Path, r.Skipped, r.Lines, r.unit(), r.first())
	}
	return nil
}

// first describes the first malformed row of a file that has few others, with the setting that it may need.
func (r *Report) first() string {
	if r.advice == "" {
		return r.Malformed[0].String()
	}
	return r.Malformed[0].String() + ": " + r.advice
}

// listed lists the first names of columns.
func listed(names []string) string {
	var list []string
	for _, name := range names[:min(len(names), MaxListed)] {
		list = append(list, strconv.Quote(strings.TrimSpace(name)))
	}
	if len(names) > len(list) {
		list = append(list, "...")
	}
	return strings.Join(list, ", ")
}

// WithSkipped adds to an error for the rows of files as a whole how many of them were left out as malformed, which may be its reason.
func WithSkipped(err error, files ...Report) error {
	for _, r := range files {
		if err != nil && r.Skipped > 0 {
			err = fmt.Errorf("%w; left out as malformed: %d of %d %s, first %s", err, r.Skipped, r.Lines, r.unit(), r.Malformed[0])
		}
	}
	return err
}

func (r *Report) unit() string { return cmp.Or(r.Unit, "lines") }

// String returns the number of rows of the file, and lists the first malformed ones.
func (r Report) String() string {
	lines := []string{fmt.Sprintf("%s: %s, %d usable, %d malformed", r.Path, quantity.Regular(r.Lines, r.unit()), r.Usable, r.Skipped)}
	if r.Header != "" {
		lines = append(lines, "  "+r.Header)
	}
	for _, m := range r.Malformed {
		lines = append(lines, "  "+m.String())
	}
	if more := r.Skipped - len(r.Malformed); more > 0 {
		lines = append(lines, fmt.Sprintf("  and %d more", more))
	}
	return strings.Join(lines, "\n")
}

// UnknownTokens counts tokens of held-out examples that are not in the vocabulary.
type UnknownTokens struct {
	Count  int      `json:"count"`  // occurrences
	Tokens []string `json:"tokens"` // the first ten different ones
}

// Add counts a token.
func (u *UnknownTokens) Add(token string) {
	u.Count++
	if len(u.Tokens) < MaxListed && !slices.Contains(u.Tokens, token) {
		u.Tokens = append(u.Tokens, token)
	}
}

// Lines describes the tokens in a line, if there are any. side says what has them: "sources".
func (u UnknownTokens) Lines(side string) []string {
	if u.Count == 0 {
		return nil
	}
	return []string{fmt.Sprintf("held-out %s have %s, among them %q", side, quantity.Of(u.Count, "unknown token", "unknown tokens"), u.Tokens)}
}

// NewLines describes tokens of the training part that an earlier run did not have, if there are any.
func (u UnknownTokens) NewLines(side string) []string {
	if u.Count == 0 {
		return nil
	}
	return []string{fmt.Sprintf("training %s have %s not in the run's vocabulary, read as <unknown>, among them %q", side, quantity.Regular(u.Count, "tokens"), u.Tokens)}
}
