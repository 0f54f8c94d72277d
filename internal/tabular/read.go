package tabular

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"universal-transformer/internal/archive"
	"universal-transformer/internal/quantity"
	"universal-transformer/internal/textfile"
)

const (
	// MaxLine is the largest length of a row in bytes; longer ones are malformed and not read into memory.
	MaxLine = 1 << 20
	// maxFile is far above any file of rows; a larger file is probably a mistake.
	maxFile = 4 << 30
	// detected is the number of bytes by which the format is detected.
	detected = 32 << 10
)

// A Row is one row of a file.
type Row struct {
	Line   int      // of its first line, from 1
	Fields []string // of the columns that were asked for; tabs and line breaks in quoted fields are spaces
	Err    error    // why the row is malformed; Fields is then nil
}

// ErrBlank is the error of a row that is an empty line. In the format Spaces, the line may have white space.
var ErrBlank = errors.New("the line is empty")

// Info describes a file.
type Info struct {
	Digest string // SHA-256 of the decompressed file, in hexadecimal
	Header string // a remark on the first row; else ""
	Named  bool   // the first row is a header

	csv  bool
	many []string // the first row, if it has more columns than are read and none is chosen
	how  string   // how to choose them
}

// Read calls each with every row of a file but the header. Malformed rows have an error of their own; a file that cannot be read, or that
// is not UTF-8, is an error of Read.
func (l Layout) Read(path string, columns []Column, each func(Row)) (info Info, err error) {
	f, err := archive.OpenText(path)
	if err != nil {
		return info, err
	}
	defer f.Close()
	digest := sha256.New()
	buffered := bufio.NewReaderSize(io.TeeReader(f, digest), 64<<10)
	l.Format = l.detect(path, buffered)
	head, _ := buffered.Peek(detected)
	binary := bytes.IndexByte(head, 0) >= 0 && textfile.Encoding(head) == ""
	info, err = l.parse(textfile.NewLineReader(buffered, maxFile), columns, each)
	info.csv = l.Format == CSV
	info.Digest = hex.EncodeToString(digest.Sum(nil))
	var invalid *invalidError
	switch {
	case errors.As(err, &invalid) && binary:
		err = errors.New("it is not a text file: name a TSV or CSV file in UTF-8")
	case errors.As(err, &invalid):
		err = fmt.Errorf("%w: %w", err, textfile.EncodingError(path, ""))
	}
	if err != nil {
		err = textfile.Named(path, err)
	}
	return info, err
}

// detect returns the format of a file.
func (l Layout) detect(path string, r *bufio.Reader) string {
	if l.Format != "" && !l.other {
		return l.Format
	}
	head, _ := r.Peek(detected)
	first, _, _ := bytes.Cut(head, []byte("\n"))
	tab := bytes.ContainsRune(first, '\t')
	_, declares := declared(string(bytes.TrimRight(first, "\r")))
	path = strings.ToLower(path)
	for _, extension := range []string{".gz", ".xz"} {
		path = strings.TrimSuffix(path, extension)
	}
	switch {
	case declares, l.Delimiter != "" && !(tab && l.other), !tab && l.Format == CSV, !tab && strings.HasSuffix(path, ".csv"):
		return CSV
	case l.Format == Spaces:
		return Spaces
	}
	return cmp.Or(l.Otherwise, TSV)
}

// An invalidError is the error for a line that is not UTF-8.
type invalidError struct{ line, at int }

func (e *invalidError) Error() string {
	return fmt.Sprintf("line %d is not valid UTF-8 at byte %d", e.line, e.at)
}

// Parse is like Read, for text that is decompressed; an empty Format is tsv. It returns the remark on the first row.
func (l Layout) Parse(r io.Reader, columns []Column, each func(Row)) (remark string, err error) {
	info, err := l.parse(r, columns, each)
	return info.Header, err
}

// parse is like Parse, and returns what it learns of the file.
func (l Layout) parse(r io.Reader, columns []Column, each func(Row)) (info Info, err error) {
	begin := &headReader{Reader: r}
	s := &scanner{lines: bufio.NewReaderSize(begin, 64<<10)}
	head := func() []byte {
		_, _ = s.lines.Peek(detected) // reads on, unless an error has ended the file
		return begin.head
	}
	switch l.Format {
	case CSV:
		s.comma = ','
		if delimiter, ok := declared(s.peek()); ok {
			s.drop(1)
			l.Delimiter = cmp.Or(l.Delimiter, delimiter)
		}
		if l.Delimiter != "" {
			s.comma, _ = utf8.DecodeRuneInString(l.Delimiter)
		}
	case Spaces:
		s.spaces = &spaces{}
	}
	var p places
	for first, top := true, true; ; {
		text := s.peek()
		row, err := s.next()
		if err == io.EOF {
			return info, nil
		}
		if top && err == nil && row.Err != ErrBlank {
			top, err = false, l.foreign(text, row, columns, head)
		}
		if err != nil {
			return info, err
		}
		if first && row.Err == nil {
			first = false
			if p, err = l.place(row.Fields, columns); err != nil {
				return info, err
			}
			if err := l.wrongDelimiter(text, row); err != nil {
				return info, err
			}
			info.Header, info.Named = l.describe(row.Fields, p, columns), p.header
			if !p.chosen && !l.other && p.fields > 0 && len(row.Fields) > p.fields {
				info.many, info.how = row.Fields, l.chosenBy(columns)
			}
			if p.header {
				continue
			}
		}
		if row.Err == nil {
			row.Fields, row.Err = l.choose(row.Fields, p, columns)
		}
		each(row)
	}
}

// chosenBy says how columns are chosen.
func (l Layout) chosenBy(columns []Column) string {
	var list []string
	for _, c := range columns {
		list = append(list, c.setting()+"=NAME")
	}
	return "choose by name, or by number, with " + strings.Join(list, " and ")
}

// declared returns the delimiter that spreadsheet programs declare in a line before the rows, as in "sep=;", and whether text is such a line.
func declared(text string) (delimiter string, ok bool) {
	name, delimiter, ok := strings.Cut(strings.Trim(strings.TrimPrefix(text, "\ufeff"), `"`), "=")
	return delimiter, ok && strings.EqualFold(name, "sep") && delimiter != "" && Layout{Delimiter: delimiter}.Validate() == nil
}

// describe returns a remark on the first row.
func (l Layout) describe(fields []string, p places, columns []Column) string {
	if !p.header && (l.Format == Spaces || l.Header != "" || l.other) {
		return ""
	}
	var list []string
	for i, at := range p.at {
		if at >= len(fields) {
			return "" // the row is malformed
		}
		list = append(list, fmt.Sprintf("%s is column %q", columns[i].Name, strings.TrimSpace(fields[at])))
	}
	if p.header {
		return "the first row is a header: " + strings.Join(list, ", ")
	}
	return fmt.Sprintf("the first row is read as data, with the %s %q: if it is a header, set task.header=%s", columns[1].Name, fields[p.at[1]], Yes)
}

// choose returns the fields of the columns.
func (l Layout) choose(fields []string, p places, columns []Column) ([]string, error) {
	if p.fields > 0 && len(fields) != p.fields {
		return nil, l.fieldsError(fields, p, columns)
	}
	chosen := make([]string, len(p.at))
	for i, at := range p.at {
		if at >= len(fields) {
			return nil, fmt.Errorf("it has %s, and none in column %d", quantity.Regular(len(fields), "fields"), at+1)
		}
		chosen[i] = fields[at]
	}
	return chosen, nil
}

// fieldsError is the error for a row with another number of fields. It names the setting that the file may need.
func (l Layout) fieldsError(fields []string, p places, columns []Column) error {
	problem := fmt.Sprintf("it has %s, not %d", quantity.Regular(len(fields), "fields"), p.fields)
	tabs := (l.Format == TSV || l.Format == "") && p.fields == 2
	switch {
	case tabs && len(fields) == 1:
		problem = fmt.Sprintf("no tab between %s and %s", columns[0].Name, columns[1].Name)
	case tabs:
		problem = "more than one tab"
	}
	switch remedy := l.separator(fields[0]); {
	case len(fields) == 1 && !p.header && remedy != "":
		return &adviceError{problem, remedy}
	case l.other:
		return errors.New(problem)
	case !p.chosen && !columns[1].Last && len(fields) > p.fields:
		return fmt.Errorf("%s: choose the columns with %s and %s", problem, columns[0].setting(), columns[1].setting())
	case l.Format == CSV && len(fields) > p.fields:
		return fmt.Errorf("%s: quote a field that has the delimiter", problem)
	}
	return errors.New(problem)
}

// An adviceError is the error for a row that another setting may read. If other rows of the file are read, the row alone is malformed.
type adviceError struct{ problem, remedy string }

func (e *adviceError) Error() string { return e.problem + ": " + e.remedy }

// separator names the setting for a row without any separator of its format; "" if none is found. A file to evaluate on has the settings of the
// configuration, but may declare a delimiter of its own.
func (l Layout) separator(row string) string {
	switch {
	case l.other && l.Format == CSV && strings.Contains(row, ";"):
		return `write "sep=;" in a line before it if the fields stand between semicolons`
	case l.other:
		return ""
	case strings.Contains(row, "\t"): // never in csv
		return "set task.format=tsv if the fields stand between tabs"
	case strings.Contains(row, ";"):
		return `set task.delimiter=";" if the fields stand between semicolons`
	case strings.Contains(row, "|"):
		return `set task.delimiter="|" if the fields stand between such lines`
	case strings.Contains(row, ",") && l.Format != CSV:
		return "set task.format=csv if the fields stand between commas"
	case l.Format == CSV:
		return "set task.format=tsv, or task.delimiter to the character between the fields"
	}
	return ""
}
