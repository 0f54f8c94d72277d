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
	"universal-transformer/internal/textfile"
)

const (
	// MaxLine is the largest length of a row in bytes; longer ones are malformed and not read into memory.
	MaxLine = 1 << 20
	// maxFile is far above any file of rows; a larger file is probably a mistake.
	maxFile = 4 << 30
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
	Header string // "" if there is none, else a remark on its columns
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
	if l.Format == "" {
		l.Format = l.detect(path, buffered)
	}
	info.Header, err = l.Parse(textfile.NewLineReader(buffered, maxFile), columns, each)
	info.Digest = hex.EncodeToString(digest.Sum(nil))
	var invalid *invalidError
	if errors.As(err, &invalid) {
		err = fmt.Errorf("%w: %w", err, textfile.EncodingError(path, ""))
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return info, err
}

// detect returns the format of a file.
func (l Layout) detect(path string, r *bufio.Reader) string {
	otherwise := cmp.Or(l.Otherwise, TSV)
	for _, extension := range []string{".gz", ".xz"} {
		path = strings.TrimSuffix(path, extension)
	}
	if !strings.HasSuffix(strings.ToLower(path), ".csv") {
		return otherwise
	}
	head, _ := r.Peek(32 << 10)
	first, _, _ := bytes.Cut(head, []byte("\n"))
	if bytes.ContainsRune(first, '\t') {
		return otherwise
	}
	return CSV
}

// An invalidError is the error for a line that is not UTF-8.
type invalidError struct{ line, at int }

func (e *invalidError) Error() string {
	return fmt.Sprintf("line %d is not valid UTF-8 at byte %d", e.line, e.at)
}

// Parse is like Read, for text that is decompressed; an empty Format is tsv. It returns the remark on the header.
func (l Layout) Parse(r io.Reader, columns []Column, each func(Row)) (header string, err error) {
	s := &scanner{lines: bufio.NewReaderSize(r, 64<<10)}
	switch l.Format {
	case CSV:
		s.comma = ','
		if l.Delimiter != "" {
			s.comma, _ = utf8.DecodeRuneInString(l.Delimiter)
		}
	case Spaces:
		s.spaces = &spaces{}
	}
	var p places
	for first := true; ; {
		row, err := s.next()
		if err == io.EOF {
			return header, nil
		}
		if err != nil {
			return header, err
		}
		if first && row.Err == nil {
			first = false
			if p, err = l.place(row.Fields, columns); err != nil {
				return header, err
			}
			if p.header {
				header = describe(row.Fields, p, columns)
				continue
			}
		}
		if row.Err == nil {
			row.Fields, row.Err = p.choose(row.Fields, columns, s.comma == 0 && s.spaces == nil)
		}
		each(row)
	}
}

func describe(fields []string, p places, columns []Column) string {
	var list []string
	for i, at := range p.at {
		list = append(list, fmt.Sprintf("%s is column %q", columns[i].Name, strings.TrimSpace(fields[at])))
	}
	return "the first row is a header: " + strings.Join(list, ", ")
}

// choose returns the fields of the columns.
func (p places) choose(fields []string, columns []Column, tabs bool) ([]string, error) {
	if p.fields > 0 && len(fields) != p.fields {
		switch {
		case tabs && p.fields == 2 && len(fields) == 1:
			return nil, fmt.Errorf("no tab between %s and %s", columns[0].Name, columns[1].Name)
		case tabs && p.fields == 2:
			return nil, errors.New("more than one tab")
		}
		return nil, fmt.Errorf("it has %d fields, not %d", len(fields), p.fields)
	}
	chosen := make([]string, len(p.at))
	for i, at := range p.at {
		if at >= len(fields) {
			return nil, fmt.Errorf("it has %d fields, and none in column %d", len(fields), at+1)
		}
		chosen[i] = fields[at]
	}
	return chosen, nil
}
