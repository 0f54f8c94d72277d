package task

import (
	"bufio"
	"io"
	"strings"
)

// A FileWriter is a Definition whose files have another form than a line with source, tab and target for each example, or a line with the
// text if the task is a language model. It is an interface of its own because most tasks have that form.
type FileWriter interface {
	// WriteExamples writes examples in the form that [Reader.File] reads.
	WriteExamples(w io.Writer, v Vocabularies, examples []Example) error
}

// WriteExamples writes examples of a task in the form that its [Reader.File] reads. Words that are not in the vocabulary are written as in
// the data.
func WriteExamples(w io.Writer, d Definition, v Vocabularies, examples []Example) error {
	if own, ok := d.(FileWriter); ok {
		return own.WriteExamples(w, v, examples)
	}
	buffered := bufio.NewWriter(w)
	for _, e := range examples {
		source, target := v.Original(e)
		if d.Kind() != LanguageModeling {
			target = OneLine(source) + "\t" + OneLine(target)
		} else {
			target = OneLine(target)
		}
		if _, err := buffered.WriteString(target + "\n"); err != nil {
			return err
		}
	}
	return buffered.Flush()
}

// Original returns the text that an example was made from, with words that are not in the vocabulary, if its Origin is [Readable];
// otherwise what its ids say.
func (v Vocabularies) Original(e Example) (source, target string) {
	if of, ok := e.Origin.(Readable); ok {
		return of.Text()
	}
	return v.Text(e)
}

// OneLine replaces tabs and line breaks by spaces.
func OneLine(text string) string { return oneLine.Replace(text) }

var oneLine = strings.NewReplacer("\n", " ", "\r", " ", "\t", " ")
