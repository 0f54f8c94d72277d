package agreement

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"universal-transformer/internal/textfile"
	"universal-transformer/internal/vocab"
)

const (
	longestLine = 1 << 20 // bytes; far above any line of these files
	largestFile = 4 << 30 // bytes; far above any of these files
)

// eachLine calls do with every line of a text. Errors name the text and the line, from 1.
func eachLine(name string, r io.Reader, do func(line string) error) error {
	lines := bufio.NewScanner(textfile.NewLineReader(r, largestFile))
	lines.Buffer(nil, longestLine)
	at := 0
	for lines.Scan() {
		at++
		if err := do(lines.Text()); err != nil { // without its line ending
			return fmt.Errorf("%s:%d: %w", name, at, err)
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("%s:%d: the line is longer than %d bytes: this is not a file of sentences", name, at+1, longestLine)
	case err != nil && at == 0: // the file is not compressed, or not readable at all
		return fmt.Errorf("%s: %w", name, err)
	case err != nil:
		return fmt.Errorf("%s:%d: %w", name, at+1, err)
	case at == 0:
		return fmt.Errorf("%s:1: the file is empty", name)
	}
	return nil
}

// tokens returns the words of a text. A reserved spelling among them is an error.
func tokens(text string) ([]string, error) {
	if !utf8.ValidString(text) {
		return nil, errors.New("not valid UTF-8")
	}
	words := strings.Fields(text)
	if len(words) == 0 {
		return nil, errors.New("there are no words")
	}
	for _, w := range words {
		if vocab.Reserved(w) {
			return nil, fmt.Errorf("the reserved token %s", w)
		}
	}
	return words, nil
}

// readFile opens a file and parses it.
func readFile[T any](path string, parse func(name string, r io.Reader) (T, error)) (parsed T, err error) {
	f, err := textfile.Open(path)
	if err != nil {
		return parsed, err
	}
	defer f.Close()
	return parse(path, f)
}

func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// readNumpred reads a numpred file. Rows of numpred.test.K have K attractors and no other nouns in between; for other files the
// number of attractors is unknown.
func readNumpred(path string) ([]row, error) {
	rows, err := readFile(path, parseNumpred)
	if k, ok := strings.CutPrefix(filepath.Base(path), "numpred.test."); ok {
		if attractors, err := strconv.ParseUint(k, 10, 16); err == nil {
			for i := range rows {
				rows[i].attractors = int(attractors)
			}
		}
	}
	return rows, err
}

func numpredFile(path string) (rows []row, leftOut string, err error) {
	rows, err = readNumpred(path)
	return rows, "", err
}

// parseNumpred reads lines of a tag, a tab, and the words before the verb. A tab and the number of attractors may follow.
func parseNumpred(name string, r io.Reader) (rows []row, err error) {
	err = eachLine(name, r, func(line string) error {
		fields := strings.Split(line, "\t")
		if len(fields) != 2 && len(fields) != 3 {
			return errors.New("want a tag, one tab, and the words before the verb")
		}
		tag, preamble, attractors := fields[0], fields[1], unlabelled
		if len(fields) == 3 {
			n, err := strconv.ParseUint(fields[2], 10, 16)
			if err != nil {
				return fmt.Errorf("attractors are %.40q: want a number", fields[2])
			}
			attractors = int(n)
		}
		if tag != singular && tag != plural {
			return fmt.Errorf("the tag is %.40q: it must be %s or %s", tag, singular, plural)
		}
		words, err := tokens(preamble)
		if err != nil {
			return err
		}
		r := numberRow(append(words, tag))
		r.attractors = attractors
		rows = append(rows, r)
		return nil
	})
	return rows, err
}
