package babi

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"universal-transformer/internal/textfile"
)

// A Question is one question of a story, with all facts before it.
type Question struct {
	Task     int      // 1 to 20
	Story    int      // in its file, from 0
	Line     int      // in its file, from 1
	Facts    []string // the facts before it, in order, as normalized by Sentence
	Text     string   // the question itself, as normalized by Sentence
	Answer   string   // as written; commas separate a list: "n,w"
	Supports []int    // indices in Facts of the facts that answer it, in the order of the file
}

// longestLine is in bytes, far above any line of the distribution.
const longestLine = 1 << 12

// Parse reads one file of the distribution. It stops at the first invalid line with an error, "name:line: ...".
func Parse(name string, r io.Reader) ([]Question, error) { return parser{}.parse(name, r) }

func (p parser) parse(name string, r io.Reader) ([]Question, error) {
	lines := bufio.NewScanner(textfile.NewLineReader(r, largestFile))
	lines.Buffer(nil, longestLine)
	for lines.Scan() {
		p.line++
		if err := p.read(strings.TrimSuffix(lines.Text(), "\r")); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, p.line, err)
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("%s:%d: the line is longer than %d bytes: this is not a file of bAbI", name, p.line+1, longestLine)
	case err != nil:
		return nil, fmt.Errorf("%s:%d: %w", name, p.line+1, err)
	case len(p.questions) == 0:
		return nil, fmt.Errorf("%s: no questions in %d lines: this is not a file of bAbI, or it was cut short", name, p.line)
	}
	return p.questions, nil
}

// parser is the state of reading a file.
type parser struct {
	lenient   bool // questions need no supporting facts
	line      int  // of the file
	number    int  // the number at the start of the line
	story     int  // from 1
	facts     []string
	factAt    map[int]int // number of a fact in the story -> its index in facts
	questions []Question
}

// read parses one line: "NUMBER TEXT", and for a question a tab, the answer, a tab, and the numbers of the supporting facts.
func (p *parser) read(line string) error {
	if at := strings.IndexFunc(line, func(r rune) bool { return r == utf8.RuneError || r != '\t' && unicode.IsControl(r) }); at >= 0 {
		return fmt.Errorf("byte %d is not text: get the file again, or convert it to UTF-8", at+1)
	}
	digits, text, ok := strings.Cut(line, " ")
	number, err := strconv.Atoi(digits)
	if !ok || err != nil || number < 1 {
		return fmt.Errorf("%q does not begin with a number and a space", clip(line))
	}
	if err := p.count(number); err != nil {
		return err
	}
	columns := strings.Split(text, "\t")
	sentence, err := Sentence(columns[0], "")
	if err != nil {
		return err
	}
	switch len(columns) {
	case 1:
		if !strings.HasSuffix(sentence, " .") {
			return fmt.Errorf("the fact %q does not end with a full stop: was its answer lost?", clip(text))
		}
		p.factAt[number] = len(p.facts)
		p.facts = append(p.facts, sentence)
		return nil
	case 2:
		if p.lenient {
			return p.ask(sentence, columns[1], "")
		}
	case 3:
		return p.ask(sentence, columns[1], columns[2])
	}
	return fmt.Errorf("%d tabs: a fact has none, a question two (QUESTION tab ANSWER tab NUMBERS)", len(columns)-1)
}

// count checks the numbering of lines; 1 begins a story.
func (p *parser) count(number int) error {
	switch {
	case number == 1:
		p.story++
		p.facts, p.factAt = nil, map[int]int{}
	case p.number == 0:
		return fmt.Errorf("the first line has number %d, not 1", number)
	case number != p.number+1:
		return fmt.Errorf("number %d follows %d: it must be %d, or 1 for a new story", number, p.number, p.number+1)
	}
	p.number = number
	return nil
}

func (p *parser) ask(sentence, answer, supports string) error {
	if !strings.HasSuffix(sentence, " ?") {
		return fmt.Errorf("the question %q does not end with a question mark", clip(sentence))
	}
	if len(p.facts) == 0 {
		return fmt.Errorf("the question %q comes before any fact", clip(sentence))
	}
	for member := range strings.SplitSeq(answer, ",") {
		if member == "" || strings.ContainsFunc(member, func(r rune) bool { return !unicode.IsLetter(r) }) {
			return fmt.Errorf("the answer %q is not a word, or words separated by commas", clip(answer))
		}
	}
	q := Question{Story: p.story - 1, Line: p.line, Facts: slices.Clip(p.facts), Text: sentence, Answer: answer}
	for word := range strings.FieldsSeq(supports) {
		number, err := strconv.Atoi(word)
		fact, isFact := p.factAt[number]
		if err != nil || !isFact {
			return fmt.Errorf("the supporting fact %q is not a fact of the story before line number %d", clip(word), p.number)
		}
		q.Supports = append(q.Supports, fact)
	}
	if len(q.Supports) == 0 && !p.lenient {
		return fmt.Errorf("the question %q names no supporting fact", clip(sentence))
	}
	p.questions = append(p.questions, q)
	return nil
}

// Sentence normalizes a sentence: lower case, words and punctuation marks separated by single spaces, "mary is here ." If the text does
// not end in a mark, mark is appended unless it is empty. Text without a word is an error.
func Sentence(text, mark string) (string, error) {
	var words []string
	word := -1 // start of the word being read; -1: none
	for at, r := range text + " " {
		inWord := unicode.IsLetter(r) || unicode.IsDigit(r)
		switch {
		case inWord && word < 0:
			word = at
		case !inWord && word >= 0:
			words = append(words, strings.ToLower(text[word:at]))
			word = -1
		}
		if !inWord && !unicode.IsSpace(r) {
			words = append(words, string(r))
		}
	}
	if !slices.ContainsFunc(words, isWord) {
		return "", fmt.Errorf("%q has no words", clip(text))
	}
	if mark != "" && isWord(words[len(words)-1]) {
		words = append(words, mark)
	}
	return strings.Join(words, " "), nil
}

func isWord(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

// clip shortens a quotation in an error.
func clip(text string) string {
	const limit = 60
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "..."
}
