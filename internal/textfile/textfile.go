// Package textfile reads text from users: files of limited size in UTF-8, with or without a byte order mark.
package textfile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"universal-transformer/internal/regularfile"
)

// MaxSize is the maximum size in bytes of a file that is read whole, far above any expected one.
const MaxSize = 1 << 30

// NewReader returns a reader of text without its byte order mark. UTF-16, and more than limit bytes, are errors.
func NewReader(r io.Reader, limit int64) io.Reader {
	return &reader{r: bufio.NewReader(r), left: limit, limit: limit, first: true}
}

// NewReaderWithMark is like NewReader but keeps a byte order mark as a character.
func NewReaderWithMark(r io.Reader, limit int64) io.Reader {
	return &reader{r: bufio.NewReader(r), left: limit, limit: limit, first: true, mark: true}
}

// NewLineReader is like NewReader, for files of lines: line ends that are CR alone are an error.
func NewLineReader(r io.Reader, limit int64) io.Reader {
	return &reader{r: bufio.NewReaderSize(r, lineCheck), left: limit, limit: limit, first: true, lines: true}
}

// lineCheck is the number of bytes that are searched for line ends.
const lineCheck = 64 << 10

// A repairError is the error for text that a shell command repairs.
type repairError struct {
	problem   string
	filter    string // the command reads the text from its standard input
	mark      string // in the name of the repaired file
	extension string // of the repaired file; empty: the same
}

// ErrJSON returns the error for a file of JSON in place of rows; the filter of jq writes CSV, whose columns are then chosen as choice says,
// unless that is empty.
func ErrJSON(filter, choice string) error {
	advice := "convert it with"
	if choice != "" {
		advice = choice + ", after converting it with"
	}
	return &repairError{"it is JSON, which is not read: " + advice, "jq -rn " + Quoted(filter), "", ".csv"}
}

// ErrJSONLines is the error for a file of JSON in place of a file with a text on each line.
var ErrJSONLines error = &repairError{"it is JSON, and would be read as text: write one sentence on each line, with", "jq -r .FIELD", "", ".txt"}

var (
	errUTF16 = &repairError{"it is UTF-16: convert it to UTF-8 with", "iconv -f UTF-16 -t UTF-8", ".utf8", ""}
	errCR    = &repairError{"its line ends are CR alone: convert them with", `tr '\r' '\n'`, ".lf", ""}
)

func (e *repairError) Error() string {
	return e.problem + ": " + e.filter + " < FILE > FILE" + e.mark + e.extension
}

// Named returns an error with the path of the file, which is then also in the command that repairs the file, if the error names one.
func Named(path string, err error) error {
	var repair *repairError
	if errors.As(err, &repair) {
		return withCommand("%s: %s: %s", path, repair.problem, convert(path, repair.filter, repair.mark, repair.extension))
	}
	return fmt.Errorf("%s: %w", path, err)
}

type reader struct {
	r           *bufio.Reader
	left, limit int64
	first       bool
	mark        bool // keep the byte order mark
	lines       bool // check line ends
}

// onlyCR reports whether the start of a text has CR, not at its end, and no LF.
func onlyCR(start []byte) bool {
	at := bytes.IndexByte(start, '\r')
	return at >= 0 && at < len(start)-1 && !bytes.ContainsRune(start, '\n')
}

func (t *reader) Read(p []byte) (n int, err error) {
	if t.first {
		t.first = false
		if start, _ := t.r.Peek(2); bytes.Equal(start, []byte("\xff\xfe")) || bytes.Equal(start, []byte("\xfe\xff")) {
			return 0, errUTF16
		}
		if start, _ := t.r.Peek(3); bytes.Equal(start, []byte("\xef\xbb\xbf")) && !t.mark {
			_, _ = t.r.Discard(3)
		}
		if t.lines {
			if start, _ := t.r.Peek(lineCheck); onlyCR(start) {
				return 0, errCR
			}
		}
	}
	n, err = t.r.Read(p)
	if t.left -= int64(n); t.left < 0 {
		return 0, fmt.Errorf("it is larger than %d bytes", t.limit)
	}
	return n, err
}

// Open opens a regular file.
func Open(path string) (*os.File, error) { return regularfile.Open(path) }

// Read returns the text of a file of at most most bytes.
func Read(path string, limit int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(NewReader(f, limit))
	if err != nil {
		return nil, Named(path, err)
	}
	return text, nil
}

// NewProseReader is like NewLineReader, and NUL characters are errors.
func NewProseReader(r io.Reader, limit int64) io.Reader {
	return &withoutNUL{r: NewLineReader(r, limit)}
}

// withoutNUL refuses NUL characters.
type withoutNUL struct {
	r    io.Reader
	read int // bytes so far
}

func (w *withoutNUL) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	if at := bytes.IndexByte(p[:n], 0); at >= 0 {
		return 0, &repairError{fmt.Sprintf("byte %d is NUL: this is no text; remove such bytes with", w.read+at+1), `tr -d '\000'`, ".text", ""}
	}
	w.read += n
	return n, err
}
