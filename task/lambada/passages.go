package lambada

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"universal-transformer/internal/penn"
	"universal-transformer/internal/textfile"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// A passage is a list of words, of which the last is to be predicted.
type passage struct {
	words    []string
	question int // index of the first word of the last sentence
}

// newPassage finds the last sentence of words. A passage has at least two words.
func newPassage(words []string) passage {
	p := passage{words: words}
	for at := 0; at < len(words)-1; { // the last word belongs to the last sentence, even if it is its only word
		p.question = at
		at += penn.SentenceEnd(words[at:])
	}
	return p
}

// Text returns the words to read and the word to predict.
func (p passage) Text() (source, target string) {
	return strings.Join(p.words[:len(p.words)-1], " "), p.answer()
}

func (p passage) text() string       { return strings.Join(p.words, " ") }
func (p passage) answer() string     { return p.words[len(p.words)-1] }
func (p passage) context() []string  { return p.words[:p.question] }
func (p passage) sentence() []string { return p.words[p.question : len(p.words)-1] } // without the answer

const (
	longestLine = 1 << 20 // far above any line of these files
	largestFile = 4 << 30
)

// parse reads a file of passages of the version, one per line. Errors name the file and the line.
func (v Version) parse(name string, r io.Reader) (passages []passage, err error) {
	words := plainWords
	if v == OpenAI {
		words = jsonWords
	}
	lines, at := bufio.NewScanner(textfile.NewLineReader(r, largestFile)), 0
	lines.Buffer(nil, longestLine)
	for lines.Scan() {
		at++
		found, err := words(lines.Text())
		if err == nil {
			err = valid(found)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, at, err)
		}
		passages = append(passages, newPassage(found))
	}
	err = lines.Err()
	switch {
	case errors.Is(err, bufio.ErrTooLong):
		err = fmt.Errorf("the line is longer than %d bytes: this is no file of passages", longestLine)
	case err == nil && at == 0:
		err = errors.New("the file is empty")
	}
	if err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, at+1, err)
	}
	return passages, nil
}

// valid returns an error unless the words form a passage.
func valid(words []string) error {
	if len(words) < 2 {
		return errors.New("a passage has at least two words: the last is predicted from the others")
	}
	if last := words[len(words)-1]; !penn.IsWord(last) {
		return fmt.Errorf("the passage ends in %.40q, which is not a word", last)
	}
	return checkNoneReserved(words)
}

// checkNoneReserved returns an error if a word has a reserved spelling.
func checkNoneReserved(words []string) error {
	for _, w := range words {
		if vocab.Reserved(w) || isMarker(w) || w == task.Question || w == Blank {
			return fmt.Errorf("the reserved token %s", w)
		}
	}
	return nil
}

// plainWords splits a line at its spaces.
func plainWords(line string) ([]string, error) {
	if !utf8.ValidString(line) {
		return nil, errors.New("not valid UTF-8")
	}
	if strings.HasPrefix(line, "{") && json.Valid([]byte(line)) {
		return nil, fmt.Errorf("the file has the version %s: the run's version is another, and results on the two are not comparable", OpenAI)
	}
	return strings.Fields(line), nil
}

// jsonWords tokenizes the text of an object {"text": "..."} like the plain version.
func jsonWords(line string) ([]string, error) {
	if !utf8.ValidString(line) {
		return nil, errors.New("not valid UTF-8")
	}
	var object struct{ Text *string }
	if err := json.Unmarshal([]byte(line), &object); err != nil || object.Text == nil {
		return nil, fmt.Errorf(`want an object {"text": "..."}: this is not the version %s`, OpenAI)
	}
	return penn.Words(*object.Text), nil
}

// readFile opens a file and parses it.
func (v Version) readFile(path string) ([]passage, error) {
	f, err := textfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return v.parse(path, f)
}
