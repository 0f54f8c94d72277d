package tabular

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"universal-transformer/internal/textfile"
)

// A scanner reads rows. A row of csv may span several lines; if such a row is malformed, only its first line is skipped, so that a single
// quote does not hide the lines after it.
type scanner struct {
	lines   *bufio.Reader
	comma   rune    // of csv; 0: another format
	spaces  *spaces // of the format Spaces; nil: another format
	pending []line  // lines that were read, in front of those of the reader
	read    int     // lines that were read
	size    int     // of these lines, in bytes, with a line end each
	ended   error   // of the reader
	inside  int     // number of the last line that leaves a quoted field open, as all pending lines between the first and it do
	closing int     // number of a line that is known to close a quoted field; 0: none
}

// A line is a line without its ending.
type line struct {
	number int
	start  int // bytes before it
	text   string
	err    error // too long, not UTF-8
}

func (l line) hasNUL() bool { return strings.ContainsRune(l.text, 0) }

var errNUL = errors.New("it has a NUL character")

// next returns a row with all of its fields; a malformed row has an error of its own.
func (s *scanner) next() (Row, error) {
	first, err := s.line(0)
	for err == nil && s.spaces != nil && s.spaces.comment(first.text) {
		s.drop(1)
		first, err = s.line(0)
	}
	if err != nil {
		return Row{}, err
	}
	row := Row{Line: first.number, Err: first.err}
	switch {
	case first.err != nil:
	case first.text == "" || s.spaces != nil && strings.TrimSpace(first.text) == "":
		row.Err = ErrBlank
	case first.hasNUL():
		row.Err = errNUL
	case s.spaces != nil:
		row.Fields = s.spaces.split(first.text)
	case s.comma == 0:
		row.Fields = strings.Split(first.text, "\t")
	default:
		n, problem := s.record(first)
		switch row.Err = problem; {
		case problem != nil:
		case slices.ContainsFunc(s.pending[:n], line.hasNUL):
			s.drop(n)
			return Row{Line: first.number, Err: errNUL}, nil
		default:
			row.Fields, row.Err = s.fields(&joined{lines: s.pending[:n]})
		}
		if row.Err == nil {
			s.drop(n)
			return row, nil
		}
	}
	s.drop(1)
	return row, nil
}

// spaces splits the rows of the format Spaces.
type spaces struct {
	fields int  // of the first row; 0: there was none
	tabs   bool // the first row has tabs
}

// comment reports whether a line begins with # and has not as many fields as the first row, or stands before it.
func (s *spaces) comment(text string) bool {
	return strings.HasPrefix(text, "#") && (s.fields == 0 || len(s.split(text)) != s.fields)
}

// split splits a row into fields. The first row decides where the fields of all rows stand.
func (s *spaces) split(text string) []string {
	first := s.fields == 0
	if first {
		s.tabs = strings.ContainsRune(text, '\t')
	}
	fields := strings.Fields(text)
	if s.tabs {
		fields = strings.Split(text, "\t")
		for i, field := range fields {
			fields[i] = strings.TrimSpace(field)
		}
	}
	if first {
		s.fields = len(fields)
	}
	return fields
}

// record returns the number of lines of the row that begins with the first pending line. It looks at no line twice, however many rows are
// malformed and begin in it.
func (s *scanner) record(first line) (n int, err error) {
	if !s.open(first.text, false) {
		return 1, nil
	}
	for n = max(1, s.inside-first.number+1); ; n++ {
		more, err := s.line(n)
		switch {
		case err == io.EOF || err == nil && (more.err != nil || more.start+len(more.text)-first.start > MaxLine):
			return 0, errors.New("a quoted field does not end")
		case err != nil:
			return 0, err
		case s.closing == more.number || !s.open(more.text, true):
			s.closing = more.number
			return n + 1, nil
		}
		s.inside = more.number
	}
}

// joined reads lines, with line ends between them.
type joined struct {
	lines []line
	at    int // in the first line
}

func (j *joined) Read(p []byte) (n int, err error) {
	for len(j.lines) > 0 && n < len(p) {
		text := j.lines[0].text
		if j.at < len(text) {
			copied := copy(p[n:], text[j.at:])
			n, j.at = n+copied, j.at+copied
			continue
		}
		if j.lines, j.at = j.lines[1:], 0; len(j.lines) > 0 {
			p[n] = '\n'
			n++
		}
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// open reports whether a line ends inside a quoted field, given whether it begins inside one.
func (s *scanner) open(text string, inside bool) bool {
	start := !inside
	for _, r := range text {
		switch {
		case inside:
			inside = r != '"' // the second quote of a pair opens the field again
		case r == '"' && start:
			inside = true
			continue
		}
		start = !inside && r == s.comma || r == '"'
	}
	return inside
}

var errQuote = errors.New("a quote inside a field: quote the whole field, and write quotes inside it twice")

// peek returns the text of the next line; "" if there is none.
func (s *scanner) peek() string {
	l, _ := s.line(0) // next returns the error
	return l.text
}

// fields splits a row of csv.
func (s *scanner) fields(text io.Reader) ([]string, error) {
	r := csv.NewReader(text)
	r.Comma, r.FieldsPerRecord = s.comma, -1
	fields, err := r.Read()
	var parse *csv.ParseError
	switch {
	case errors.As(err, &parse) && (errors.Is(err, csv.ErrBareQuote) || errors.Is(err, csv.ErrQuote)):
		return nil, errQuote
	case err != nil:
		return nil, fmt.Errorf("it cannot be split into fields: %w", err)
	}
	for i, field := range fields {
		fields[i] = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\t", " ").Replace(field)
	}
	return fields, nil
}

// drop forgets the first pending lines.
func (s *scanner) drop(n int) { s.pending = s.pending[n:] }

// line returns the i-th pending line, which it reads if necessary. It returns io.EOF after the last one.
func (s *scanner) line(i int) (line, error) {
	if i < len(s.pending) {
		return s.pending[i], nil
	}
	if s.ended != nil {
		return line{}, s.ended
	}
	text, tooLong, err := readLine(s.lines)
	if s.ended = err; err != nil {
		return line{}, err
	}
	s.read++
	l := line{number: s.read, start: s.size, text: string(bytes.TrimPrefix(text, []byte("\ufeff")))}
	switch {
	case tooLong:
		l.text, l.err = "", fmt.Errorf("longer than %d bytes", MaxLine)
	case !utf8.ValidString(l.text):
		s.ended = &invalidError{s.read, textfile.Invalid(text) + 1}
		return line{}, s.ended
	}
	s.size += len(l.text) + len("\n")
	s.pending = append(s.pending, l)
	return l, nil
}

// readLine reads one line without its line ending (LF, CRLF or the end of the file). It returns io.EOF after the last one.
func readLine(r *bufio.Reader) (line []byte, tooLong bool, err error) {
	for some := false; ; some = true {
		part, err := r.ReadSlice('\n')
		if err == io.EOF && !some && len(part) == 0 {
			return nil, false, io.EOF
		}
		if err != nil && err != io.EOF && !errors.Is(err, bufio.ErrBufferFull) {
			return nil, false, err
		}
		if tooLong = tooLong || len(line)+len(part) > MaxLine; !tooLong {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			line = bytes.TrimSuffix(line, []byte("\n"))
			return bytes.TrimSuffix(line, []byte("\r")), tooLong, nil
		}
	}
}
