package archive

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"universal-transformer/internal/textfile"
)

// StandardInput is what users write for the standard input. It is no file of data.
const StandardInput = "-"

// OpenText opens a file of text that may be compressed with gzip or xz. UTF-16 and UTF-32, zip archives and spreadsheets are errors that say
// what to do. The result keeps a byte order mark.
func OpenText(path string) (io.ReadCloser, error) {
	if path == StandardInput {
		return nil, errors.New("the standard input cannot be read: evaluation and resumed training read the data again; save them in a file")
	}
	f, err := textfile.Open(path)
	if err != nil {
		return nil, err
	}
	text, err := text(f, path)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return struct {
		io.Reader
		io.Closer
	}{text, f}, nil
}

// text returns the decompressed content of a file.
func text(r io.Reader, path string) (io.Reader, error) {
	raw := bufio.NewReaderSize(r, 64<<10)
	if head, _ := raw.Peek(4); bytes.Equal(head, []byte("PK\x03\x04")) {
		return nil, errors.New("it is a zip archive or a spreadsheet: unpack the archive, or save the spreadsheet as CSV")
	}
	plain, _, err := Decompress(raw)
	if err != nil {
		return nil, err
	}
	buffered := bufio.NewReaderSize(plain, 64<<10)
	if head, _ := buffered.Peek(64); textfile.Encoding(head) != "" {
		return nil, textfile.EncodingError(path, textfile.Encoding(head))
	}
	return buffered, nil
}

// ReadText returns the text of a file that may be compressed, without a byte order mark. Text of more than most bytes, NUL characters, line
// ends that are CR alone, and text that is not UTF-8 are errors; the last one names the line.
func ReadText(path string, most int64) (string, error) {
	f, err := OpenText(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	content, err := io.ReadAll(textfile.NewProseReader(f, most))
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	if at := textfile.Invalid(content); at >= 0 {
		start := bytes.LastIndexByte(content[:at], '\n') + 1
		return "", fmt.Errorf("%s: line %d is not valid UTF-8 at byte %d: %w", path, 1+bytes.Count(content[:at], []byte("\n")), at-start+1, textfile.EncodingError(path, ""))
	}
	return string(content), nil
}
