// Package tabular reads the rows of users' files: tab-separated or comma-separated text in UTF-8, plain or compressed, with or without a
// header.
package tabular

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"universal-transformer/internal/strictjson"
)

// The values of Layout.Format and Layout.Header.
const (
	TSV = "tsv" // fields stand between tabs; quotes have no meaning
	CSV = "csv" // fields stand between commas and may be quoted: RFC 4180
	// Spaces is the format of rows whose fields stand between tabs or, if the first row has no tab, between spaces.
	Spaces = "spaces"
	Yes    = "yes"
	No     = "no"
)

// A Layout specifies how a file is split into rows. Configurations of tasks embed it. The zero value detects everything.
type Layout struct {
	Format    string `json:"format,omitempty"`    // "tsv", "csv" (quotes as in RFC 4180) or "spaces" (tabs or, without any, spaces); empty: csv if the file is named .csv and its first line has no tab
	Delimiter string `json:"delimiter,omitempty"` // the character between the fields of csv, which it implies; empty: a comma
	Header    string `json:"header,omitempty"`    // whether the first row names the columns: "yes" or "no"; empty: yes if a column is chosen by name or the row has the usual names
	Otherwise string `json:"-"`                   // the format of files that are not recognized as csv; empty: tsv
	other     bool   // the file is another one than that of the configuration
}

// ForOther returns the layout of files to evaluate on: those with the format of the configuration's, and those that Write writes.
func (l Layout) ForOther() Layout {
	l.other = true
	return l
}

// Validate returns an error that names the first invalid field.
func (l Layout) Validate() error {
	switch {
	case l.Format != "" && l.Format != TSV && l.Format != CSV && l.Format != Spaces:
		return fmt.Errorf("format is %q: it must be %s, %s or %s, or empty to detect it", l.Format, TSV, CSV, Spaces)
	case l.Header != "" && l.Header != Yes && l.Header != No:
		return fmt.Errorf("header is %q: it must be %s or %s, or empty to detect it", l.Header, Yes, No)
	case l.Delimiter == "":
		return nil
	case l.Format == TSV || l.Format == Spaces:
		return fmt.Errorf("delimiter is %q, but format is %s: set task.format=%s", l.Delimiter, l.Format, CSV)
	}
	if r, size := utf8.DecodeRuneInString(l.Delimiter); size != len(l.Delimiter) || r == utf8.RuneError || strings.ContainsRune("\"\r\n\x00", r) {
		return fmt.Errorf("delimiter is %q: it must be one character, such as a semicolon; for tabs set task.format=%s", l.Delimiter, TSV)
	}
	return nil
}

// A Column is a column that a task reads.
type Column struct {
	Name   string   // what the column has: "source"; its field in the configuration is source_column
	Choice string   // what that field says: the column's name in the header, or its number from 1; empty: the place of the Column in the list
	Usual  []string // names that are recognized in a header, in lower case
	Last   bool     // an empty Choice is the last column of the first row
}

// field returns the name of the column's field in the configuration.
func (c Column) field() string { return c.Name + "_column" }

// setting returns the path of that field as it is set.
func (c Column) setting() string { return "task." + c.field() }

// number returns the number of a column that is chosen by number.
func (c Column) number() (int, bool) {
	n, err := strconv.Atoi(strings.TrimSpace(c.Choice))
	return n, err == nil
}

// ValidateColumns returns an error that names the first column that does not fit.
func (l Layout) ValidateColumns(columns ...Column) error {
	for _, c := range columns {
		n, numbered := c.number()
		switch {
		case numbered && n < 1:
			return fmt.Errorf("%s is %q: columns are counted from 1", c.field(), c.Choice)
		case c.Choice != "" && !numbered && l.Header == No:
			return fmt.Errorf("%s is %q, but header is no: choose the column by number, or set task.header=yes", c.field(), c.Choice)
		}
	}
	return nil
}

// places holds where the columns are in a row.
type places struct {
	at     []int // index of each column
	fields int   // number of fields of every row; 0: any that has all columns
	header bool  // the first row is a header
	chosen bool  // a column was chosen, or has a usual name
}

// place finds the columns, given the first row.
func (l Layout) place(first []string, columns []Column) (p places, err error) {
	names := make([]string, len(first))
	for i, name := range first {
		names[i] = strings.TrimSpace(name)
	}
	p.header = l.Header == Yes || l.Header == "" && (slices.ContainsFunc(columns, Column.named) || usual(names, columns))
	for i, c := range columns {
		at, found, err := c.place(i, names, p.header)
		if err != nil {
			return p, l.withSeparator(err, first)
		}
		p.chosen = p.chosen || found
		p.at = append(p.at, at)
	}
	switch last := columns[len(columns)-1].Last; {
	case p.header || !p.chosen && last:
		p.fields = len(first)
	case !p.chosen:
		p.fields = len(columns)
	}
	return p, l.withSeparator(p.check(len(first), columns), first)
}

// withSeparator adds to the error for a column that a first row without any separator does not have the setting that the file may need.
func (l Layout) withSeparator(err error, first []string) error {
	missing, ok := err.(*ColumnError) //nolint:errorlint // as place and check return it
	if remedy := l.separator(first[0]); ok && len(first) == 1 && remedy != "" {
		return &ColumnError{missing.Fields, missing.message + ": " + remedy}
	}
	return err
}

// place returns the index of the i-th column, and whether it was chosen or has a usual name.
func (c Column) place(i int, names []string, header bool) (at int, found bool, err error) {
	if n, numbered := c.number(); numbered {
		return n - 1, true, nil
	}
	if header {
		if at, found = find(names, c); found {
			return at, true, repeated(names, at, c)
		}
		if c.Choice != "" {
			return 0, false, notFound(names, c)
		}
	}
	if c.Last {
		i = len(names) - 1
	}
	return i, false, nil
}

// check returns an error if the first row, of n fields, does not have the columns, or if two of them are the same.
func (p places) check(n int, columns []Column) error {
	for i, at := range p.at {
		if at >= n && (p.header || p.chosen) {
			return &ColumnError{n, fmt.Sprintf("%s is column %d, but the first row has %d", columns[i].setting(), at+1, n)}
		}
		if n == 1 && columns[i].Last {
			return &ColumnError{1, fmt.Sprintf("the first row has one column: a row needs %s and %s", columns[0].Name, columns[i].Name)}
		}
		if before := slices.Index(p.at, at); before < i {
			return fmt.Errorf("%s and %s are both column %d: choose them with these fields, by name or number", columns[before].setting(), columns[i].setting(), at+1)
		}
	}
	return nil
}

// named reports whether the column is chosen by name.
func (c Column) named() bool {
	_, numbered := c.number()
	return c.Choice != "" && !numbered
}

// usual reports whether a row has a usual name for each column.
func usual(names []string, columns []Column) bool {
	for _, c := range columns {
		if _, ok := find(names, Column{Usual: c.Usual}); !ok {
			return false
		}
	}
	return true
}

// find returns the index of a column in a header.
func find(names []string, c Column) (int, bool) {
	if c.Choice != "" {
		at := slices.Index(names, strings.TrimSpace(c.Choice))
		return at, at >= 0
	}
	for _, name := range c.Usual {
		if at := slices.IndexFunc(names, func(s string) bool { return strings.EqualFold(s, name) }); at >= 0 {
			return at, true
		}
	}
	return 0, false
}

// repeated returns an error if the name of the found column is also that of another one.
func repeated(names []string, at int, c Column) error {
	if next := slices.Index(names[at+1:], names[at]); next >= 0 {
		return fmt.Errorf("columns %d and %d are both named %q: choose one by number, with %s", at+1, at+next+2, names[at], c.setting())
	}
	return nil
}

// A ColumnError is the error for a column that a file does not have.
type ColumnError struct {
	Fields  int // of the first row
	message string
}

func (e *ColumnError) Error() string { return e.message }

func notFound(names []string, c Column) error {
	hint := ""
	if near, ok := strictjson.Nearest(c.Choice, names); ok && len(names) > 1 {
		hint = fmt.Sprintf(": did you mean %q?", near)
	}
	return &ColumnError{len(names), fmt.Sprintf("%s is %q, but the columns are %q%s", c.setting(), c.Choice, names, hint)}
}
