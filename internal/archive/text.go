package archive

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"universal-transformer/internal/textfile"
)

// standardInput is what users write for the standard input. It is no file of data.
const standardInput = "-"

// OpenText opens a file of text that may be compressed with gzip or xz. UTF-16 and UTF-32, zip archives and spreadsheets are errors that say
// what to do. The result keeps a byte order mark.
func OpenText(path string) (io.ReadCloser, error) {
	if path == standardInput {
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
	if err := foreign(raw); err != nil {
		return nil, err
	}
	plain, err := decompress(raw, path)
	if err != nil {
		return nil, err
	}
	buffered := bufio.NewReaderSize(plain, 64<<10)
	if err := foreign(buffered); err != nil {
		return nil, err
	}
	if head, _ := buffered.Peek(64); textfile.Encoding(head) != "" {
		return nil, textfile.EncodingError(path, textfile.Encoding(head))
	}
	return buffered, nil
}

// decompress is like Decompress. Errors of compressed data say how to keep what can be read of the file.
func decompress(r *bufio.Reader, path string) (io.Reader, error) {
	command := "gzip"
	if head, _ := r.Peek(1); len(head) > 0 && head[0] == xzMagic[0] {
		command = "xz"
	}
	plain, packed, err := Decompress(r)
	d := &damageReader{r: plain, path: path, command: command}
	if err != nil {
		return nil, d.describe(err)
	}
	if !packed {
		return plain, nil
	}
	return d, nil
}

// A damageReader describes the errors of compressed data. It returns an error again, since a buffer that looks ahead drops the first one.
type damageReader struct {
	r             io.Reader
	path, command string
	err           error
}

func (d *damageReader) Read(p []byte) (n int, err error) {
	if d.err != nil {
		return 0, d.err
	}
	n, err = d.r.Read(p)
	if err != nil && err != io.EOF {
		d.err = d.describe(err)
		err = d.err
	}
	return n, err
}

func (d *damageReader) describe(err error) error {
	return textfile.DamagedError(d.path, d.command, err)
}

// formats are files that people take for text, recognized by the bytes at an offset.
var formats = []struct {
	at           int
	magic        string
	name, remedy string
}{
	{0, "PK\x03\x04", "a zip archive or a spreadsheet", "unpack the archive, or save the spreadsheet as CSV"},
	{0, "\xd0\xcf\x11\xe0", "a spreadsheet or document of Office", "save it as CSV or text"},
	{4, "1AY&SY", "compressed with bzip2", "decompress it with bunzip2, or use gzip or xz"},
	{0, "\x28\xb5\x2f\xfd", "compressed with zstd", "decompress it with unzstd, or use gzip or xz"},
	{0, "7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it"},
	{0, "Rar!\x1a\x07", "a RAR archive", "unpack it"},
	{0, "PAR1\x15", "a Parquet file", "save it as CSV"},
	{0, "SQLite format 3\x00", "an SQLite database", "save a table as CSV"},
	{0, "%PDF-", "a PDF document", "save its text"},
	{257, "ustar\x00", "a tar archive", "unpack it with tar -xf"},
	{257, "ustar ", "a tar archive", "unpack it with tar -xf"},
}

// foreign returns an error that names the format of a file that is no text.
func foreign(r *bufio.Reader) error {
	head, _ := r.Peek(512)
	for _, f := range formats {
		if len(head) > f.at && bytes.HasPrefix(head[f.at:], []byte(f.magic)) {
			return fmt.Errorf("it is %s: %s", f.name, f.remedy)
		}
	}
	return nil
}

// ReadText returns the text of a file that may be compressed, without a byte order mark. Text of more than limit bytes, NUL characters, line
// ends that are CR alone, and text that is not UTF-8 are errors; the last one names the line.
func ReadText(path string, limit int64) (string, error) {
	f, err := OpenText(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	content, err := io.ReadAll(textfile.NewProseReader(f, limit))
	if err != nil {
		return "", textfile.Named(path, err)
	}
	if at := textfile.Invalid(content); at >= 0 {
		start := bytes.LastIndexByte(content[:at], '\n') + 1
		return "", fmt.Errorf("%s: line %d is not valid UTF-8 at byte %d: %w", path, 1+bytes.Count(content[:at], []byte("\n")), at-start+1, textfile.EncodingError(path, ""))
	}
	return string(content), nil
}
