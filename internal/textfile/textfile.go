// Package textfile reads text from users: files of limited size in UTF-8, with or without a byte order mark.
package textfile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// MaxSize is the maximum size in bytes of a file that is read whole, far above any expected one.
const MaxSize = 1 << 30

var errUTF16 = errors.New("it is UTF-16: convert it to UTF-8")

// NewReader returns a reader of text without its byte order mark. UTF-16, and more than most bytes, are errors.
func NewReader(r io.Reader, most int64) io.Reader {
	return &reader{r: bufio.NewReader(r), left: most, most: most, first: true}
}

// NewReaderWithMark is like NewReader but keeps a byte order mark as a character.
func NewReaderWithMark(r io.Reader, most int64) io.Reader {
	return &reader{r: bufio.NewReader(r), left: most, most: most, first: true, mark: true}
}

type reader struct {
	r          *bufio.Reader
	left, most int64
	first      bool
	mark       bool // keep the byte order mark
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
	}
	n, err = t.r.Read(p)
	if t.left -= int64(n); t.left < 0 {
		return 0, fmt.Errorf("it is larger than %d bytes", t.most)
	}
	return n, err
}

// Open opens a file or a pipe. Devices and folders are errors, because some never end.
func Open(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case info.IsDir():
		err = fmt.Errorf("%s is a folder: name a file", path)
	case info.Mode()&os.ModeDevice != 0:
		err = fmt.Errorf("%s is a device: name a file", path)
	default:
		return f, nil
	}
	f.Close()
	return nil, err
}

// Read returns the text of a file of at most most bytes.
func Read(path string, most int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(NewReader(f, most))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return text, nil
}
