package lambada

import (
	"testing"

	"universal-transformer/task"
	"universal-transformer/task/tasktest"
)

// Each part is sealed by itself; the development set is training data where it is trained on.
// Caught when planted: books alone, passages that are learned left out.
func TestDigests(t *testing.T) {
	for _, c := range []struct {
		file      string // "" is a book
		annotated float64
		parts     []string
	}{
		{"", 0, []string{"training"}}, {Test, 0, []string{"test"}}, {Development, 0, []string{"validation"}},
		{Development, 0.5, []string{"training", "validation"}},
	} {
		d := data(t)
		tasktest.Digests(t, func() (task.Task, error) { return Reading{Data: d, Annotated: c.annotated}.Open() }, func() {
			folder, name := d.Path, c.file
			if name == "" {
				folder, name = d.Prose, "one.txt"
			}
			text := string(read(t, folder, name))
			at := 0 // the end of the first line
			for text[at] != '\n' {
				at++
			}
			write(t, folder, name, text[at+1:]+text[:at+1])
		}, c.parts...)
	}
}
