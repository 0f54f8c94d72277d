package lambada

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"universal-transformer/internal/penn"
	"universal-transformer/internal/textfile"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// A passage is a list of tokens, of which the last word is to be predicted. It is one token; in the version openai, a contraction such as
// "didn't" has several.
type passage struct {
	words    []string
	last     int    // number of tokens of the last word, at least 1
	pieces   int    // number of subwords of the last word; 0 if tokens are words
	question int    // index of the first word of the last sentence
	printed  string // the text that was tokenized; "" if it is words separated by spaces
}

// newPassage finds the last sentence of words, given the number of tokens of the last word. A passage has at least two words.
func newPassage(words []string, last int) passage {
	p := passage{words: words, last: last}
	for at := 0; at < len(words)-last; { // the last word belongs to the last sentence, even if it is its only word
		p.question = at
		at += penn.SentenceEnd(words[at:])
	}
	return p
}

// Text returns the words to read and the word to predict.
func (p passage) Text() (source, target string) {
	return strings.Join(p.given(), " "), p.answer()
}

func (p passage) text() string       { return strings.Join(p.words, " ") }
func (p passage) given() []string    { return p.words[:len(p.words)-p.last] }
func (p passage) answer() string     { return strings.Join(p.words[len(p.words)-p.last:], "") }
func (p passage) context() []string  { return p.words[:p.question] }
func (p passage) sentence() []string { return p.words[p.question : len(p.words)-p.last] } // without the answer

// occurrences returns how often the tokens of the last word occur one after another in the context.
func (p passage) occurrences() (n int) {
	last, context := p.words[len(p.words)-p.last:], p.context()
	for at := 0; at+p.last <= len(context); at++ {
		if slices.Equal(context[at:at+p.last], last) {
			n++
		}
	}
	return n
}

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
		found, last, err := words(lines.Text())
		if err == nil {
			err = valid(found)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, at, err)
		}
		p := newPassage(found, last)
		if v == OpenAI {
			p.printed, _ = jsonText(lines.Text()) // it was read before
		}
		passages = append(passages, p)
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
		if vocab.Reserved(w) || isMarker(w) || w == task.Question || w == blankToken {
			return fmt.Errorf("the reserved token %s", w)
		}
	}
	return nil
}

// plainWords splits a line at its spaces. The last word is one token.
func plainWords(line string) (words []string, last int, err error) {
	if !utf8.ValidString(line) {
		return nil, 0, errors.New("not valid UTF-8")
	}
	if strings.HasPrefix(line, "{") && json.Valid([]byte(line)) {
		return nil, 0, fmt.Errorf("the file has the version %s: the run's version is another, and results on the two are not comparable", OpenAI)
	}
	return strings.Fields(line), 1, nil
}

// jsonWords tokenizes the text of an object {"text": "..."} like the plain version. The last word is what stands behind the last white
// space, without opening quotes.
func jsonWords(line string) (words []string, last int, err error) {
	if !utf8.ValidString(line) {
		return nil, 0, errors.New("not valid UTF-8")
	}
	text, err := jsonText(line)
	if err != nil {
		return nil, 0, err
	}
	words, last = penn.Words(text), 1
	if fields := strings.Fields(text); len(fields) > 0 {
		tokens := penn.Words(fields[len(fields)-1])
		for len(tokens) > 1 && !penn.IsWord(tokens[0]) {
			tokens = tokens[1:]
		}
		if len(tokens) < len(words) && slices.Equal(tokens, words[len(words)-len(tokens):]) {
			last = max(len(tokens), 1)
		}
	}
	return words, last, nil
}

// jsonText returns the text of an object {"text": "..."}.
func jsonText(line string) (string, error) {
	var object struct{ Text *string }
	if err := json.Unmarshal([]byte(line), &object); err != nil || object.Text == nil {
		return "", fmt.Errorf(`want an object {"text": "..."}: this is not the version %s`, OpenAI)
	}
	return *object.Text, nil
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
