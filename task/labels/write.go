package labels

import (
	"io"

	"universal-transformer/task"
)

// WriteExamples writes a row for each example, in the form that Reader.File reads.
func (c Labels) WriteExamples(w io.Writer, v task.Vocabularies, examples []task.Example) error {
	return c.Layout.Write(w, c.columns(), func(yield func([]string) bool) {
		for _, e := range examples {
			if text, label := v.Original(e); !yield([]string{text, label}) {
				return
			}
		}
	})
}
