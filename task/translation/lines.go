package translation

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"universal-transformer/internal/textfile"
)

// longestLine is the maximum length of a line in bytes; longer lines are skipped without reading them into memory.
const longestLine = 1 << 20

// malformed is the error of a malformed line in a file of pairs.
type malformed string

func (m malformed) Error() string { return string(m) }

// longLine is the error of a line that is too long; its text is the name of the file.
type longLine string

func (longLine) Error() string { return fmt.Sprintf("longer than %d bytes", longestLine) }

// nextPair reads the next line of both files. An error of reading comes before a missing line: a damaged file may end anywhere.
func nextPair(a, b *lines) (source, target string, err error) {
	source, first := a.nextText()
	target, second := b.nextText()
	for _, err := range []error{first, second} {
		if err != nil && err != io.EOF && !errors.As(err, new(longLine)) {
			return "", "", err
		}
	}
	if (first == io.EOF) != (second == io.EOF) {
		if first == io.EOF {
			a, b = b, a
		}
		return "", "", fmt.Errorf("line %d of %s has no partner: %s ends after line %d; the two files must have the same number of lines", a.count, a.name, b.name, b.count)
	}
	if first == io.EOF {
		return "", "", io.EOF
	}
	return source, target, errors.Join(first, second)
}

// lines reads the lines of a file.
type lines struct {
	io.Closer
	name  string
	r     *bufio.Reader
	count int
}

// pair reads a line, source TAB target.
func (l *lines) pair() (source, target string, err error) {
	text, err := l.next()
	if err != nil {
		return "", "", err
	}
	source, target, found := strings.Cut(text, "\t")
	switch {
	case text == "":
		err = malformed("the line is empty")
	case !found:
		err = malformed("no tab between source and target" + l.otherFormat(text))
	case strings.Contains(target, "\t"):
		err = malformed("more than one tab")
	}
	return source, target, err
}

// nextText reads a line that is a text. A file that begins with an object of JSON is an error.
func (l *lines) nextText() (string, error) {
	text, err := l.next()
	if start := strings.TrimSpace(text); l.count == 1 && strings.HasPrefix(start, "{") && json.Valid([]byte(start)) {
		return "", textfile.Named(l.name, textfile.ErrJSONLines)
	}
	return text, err
}

// otherFormat says how rows of another format become pairs; "" if the row seems to have none.
func (l *lines) otherFormat(row string) string {
	switch {
	case strings.HasPrefix(row, "{") && strings.HasSuffix(row, "}"):
		return `: the file seems to be JSON; with its keys in place of source and target, this converts it: jq -r '[.source, .target] | join("\t")'`
	case strings.HasSuffix(strings.TrimSuffix(l.name, ".gz"), ".csv"):
		return ": the file seems to be CSV: write its two columns with a tab between them, or as two files, source and target"
	}
	return ""
}

// next reads a line without its line feed.
func (l *lines) next() (string, error) {
	var text []byte
	long := false
	for some := false; ; some = true {
		part, err := l.r.ReadSlice('\n')
		if err == io.EOF && !some && len(part) == 0 {
			return "", io.EOF
		}
		if err != nil && err != io.EOF && !errors.Is(err, bufio.ErrBufferFull) {
			return "", textfile.Named(l.name, err)
		}
		if long = long || len(text)+len(part) > longestLine; !long {
			text = append(text, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		l.count++
		if long {
			return "", longLine(l.name)
		}
		return string(bytes.TrimSuffix(text, []byte("\n"))), nil
	}
}
