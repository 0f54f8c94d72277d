package execute

import (
	"fmt"
	"strings"

	"universal-transformer/internal/textfile"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// A reader reads programs, one per line.
type reader struct {
	task.LineReader
	answer func(source string) (string, error) // computes a program and returns its answer in the task's form
}

func newReader(v task.Vocabularies, what string, answer func(source string) (string, error)) task.Reader {
	r := reader{LineReader: task.LineReader{Vocabularies: v, Name: what}, answer: answer}
	r.FileOf = r.file
	return r
}

// Read reads a program. The error for other text names the first unexpected character.
func (r reader) Read(text string) (task.Input, error) {
	if text == "" {
		return task.Input{}, fmt.Errorf("the %s is empty", r.Name)
	}
	answer, err := r.answer(text)
	if err != nil {
		return task.Input{}, err
	}
	in, err := r.LineReader.Read(text)
	if err != nil {
		return in, err
	}
	in.Answer, err = r.Target(answer)
	return in, err
}

// largestFile is far above any test set.
const largestFile = 1 << 30

// file reads one program per line. A tab and the answer may follow; the answer must then be correct.
func (r reader) file(path string) (examples []task.Example, notes []string, err error) {
	data, err := textfile.Read(path, largestFile)
	if err != nil {
		return nil, nil, err
	}
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		e, err := r.pair(strings.TrimRight(line, "\r\n"))
		if err != nil {
			return nil, nil, fmt.Errorf("%s:%d: %w", path, n, err)
		}
		examples = append(examples, e)
	}
	if n == 0 {
		return nil, nil, fmt.Errorf("%s is empty: it must have one %s per line", path, r.Name)
	}
	return examples, nil, nil
}

func (r reader) pair(line string) (e task.Example, err error) {
	source, given, answered := strings.Cut(line, "\t")
	in, err := r.Read(source)
	if err != nil {
		return e, err
	}
	if answer := text(r.Vocabularies, in.Answer); answered && given != answer {
		return e, fmt.Errorf("the answer is %q: it must be %s", given, answer)
	}
	return task.Example{Source: in.Source, Target: in.Answer}, nil
}

// text is the readable form of a source or, as both have the same characters, of a target.
func text(v task.Vocabularies, source []vocab.ID) string {
	return v.Tokenizer.Join(v.Source.Decode(source))
}
