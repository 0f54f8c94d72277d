package table

import (
	"io"

	"universal-transformer/task"
)

// WriteExamples writes a row for each example, in the form that Reader.File reads.
func (c Table) WriteExamples(w io.Writer, v task.Vocabularies, examples []task.Example) error {
	return c.Layout.Write(w, c.columns(), func(yield func([]string) bool) {
		for _, e := range examples {
			if source, target := v.Original(e); !yield([]string{source, target}) {
				return
			}
		}
	})
}
