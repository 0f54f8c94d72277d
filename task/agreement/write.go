package agreement

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"universal-transformer/task"
)

// WriteExamples writes a numpred file whose lines also have the number of attractors, where it is known.
func (Number) WriteExamples(w io.Writer, _ task.Vocabularies, examples []task.Example) error {
	return writeRows(w, "", examples, func(r row) string {
		line := r.words()[r.verb] + "\t" + r.preamble()
		if r.attractors != unlabelled {
			line += fmt.Sprintf("\t%d", r.attractors)
		}
		return line
	})
}

// WriteExamples writes a numpred file, like that of [Number].
func (Classes) WriteExamples(w io.Writer, v task.Vocabularies, examples []task.Example) error {
	return Number{}.WriteExamples(w, v, examples)
}

// WriteExamples writes a table with the columns of the authors' file that are read.
func (Verbs) WriteExamples(w io.Writer, _ task.Vocabularies, examples []task.Example) error {
	return writeRows(w, strings.Join(fields, "\t")+"\n", examples, func(r row) string {
		between, attractors, tag := r.between, r.differ, singular
		if r.attractors != unlabelled {
			between, attractors = r.attractors, r.attractors
		}
		if r.plural {
			tag = plural
		}
		return fmt.Sprintf("%s\t%s\t%s\t%d\t%d\t%d", quoted(r.text), quoted(r.words()[r.verb]), tag, r.verb+1, between, attractors)
	})
}

// quoted reverses split for a field.
func quoted(field string) string {
	if len(field) > 1 && field[0] == '"' && field[len(field)-1] == '"' {
		return `"` + strings.ReplaceAll(field, `"`, `""`) + `"`
	}
	return field
}

// WriteExamples writes sentences, each with the line of a .gold file behind a tab. Sentences of the training text have none.
func (Pairs) WriteExamples(w io.Writer, _ task.Vocabularies, examples []task.Example) error {
	return writeRows(w, "", examples, func(r row) string {
		if r.other == "" {
			return r.text
		}
		return fmt.Sprintf("%s\t%d\t%s\t%s\t%d", r.text, r.verb, r.words()[r.verb], r.other, r.attractors)
	})
}

// WriteExamples writes pairs like those of [Pairs], and rows without a pair of forms like those of [Number].
func (c Forms) WriteExamples(w io.Writer, v task.Vocabularies, examples []task.Example) error {
	for _, e := range examples {
		if r, ok := e.Origin.(row); ok && r.lexicon == nil {
			return c.Number.WriteExamples(w, v, examples)
		}
	}
	return Pairs{}.WriteExamples(w, v, examples)
}

// writeRows writes a line for the row of each example, below a heading.
func writeRows(w io.Writer, heading string, examples []task.Example, line func(row) string) error {
	buffered := bufio.NewWriter(w)
	_, _ = buffered.WriteString(heading) // Flush returns the error
	for _, e := range examples {
		r, ok := e.Origin.(row)
		if !ok {
			return errors.New("an example was not made by this task")
		}
		_, _ = buffered.WriteString(line(r) + "\n")
	}
	return buffered.Flush()
}
