package tags

import (
	"io"
	"strings"

	"universal-transformer/task"
)

// WriteExamples writes a row for each sentence, its words and its tags, in the form that Reader.File reads. If all sentences have one word,
// a reader would take such rows for words of one sentence; blank lines are between them then.
func (c Tags) WriteExamples(w io.Writer, v task.Vocabularies, examples []task.Example) error {
	between := true
	for _, e := range examples {
		_, tags := v.Original(e)
		between = between && !strings.Contains(tags, " ")
	}
	return c.Layout.Write(w, c.columns(), func(yield func([]string) bool) {
		for _, e := range examples {
			words, tags := v.Original(e)
			if !yield([]string{words, tags}) || between && !yield([]string{"", ""}) {
				return
			}
		}
	})
}
