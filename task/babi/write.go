package babi

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"universal-transformer/task"
)

// Origin is the question that an example was made from.
type Origin struct{ question Question }

// Text returns the story with its question, and the answer.
func (o Origin) Text() (source, target string) {
	return strings.Join(append(slices.Clone(o.question.Facts), o.question.Text), " "), o.question.Answer
}

// WriteExamples writes each question as a story of its own, in the format of the distribution. Words are as [Sentence] normalizes them.
func (Babi) WriteExamples(w io.Writer, _ task.Vocabularies, examples []task.Example) error {
	buffered := bufio.NewWriter(w)
	for _, e := range examples {
		o, ok := e.Origin.(Origin)
		if !ok {
			return errors.New("an example was not made by this task")
		}
		q := o.question
		for i, fact := range q.Facts {
			fmt.Fprintf(buffered, "%d %s\n", i+1, fact) // Flush returns the error
		}
		numbers := make([]string, len(q.Supports))
		for i, s := range q.Supports {
			numbers[i] = fmt.Sprint(s + 1)
		}
		fmt.Fprintf(buffered, "%d %s\t%s\t%s\n", len(q.Facts)+1, q.Text, q.Answer, strings.Join(numbers, " "))
	}
	return buffered.Flush()
}
