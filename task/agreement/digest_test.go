package agreement

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"universal-transformer/task"
	"universal-transformer/task/tasktest"
)

// The test is sealed by itself, and so are the rows to learn, of which some are for validation.
// Caught when planted: the number of the verb left out.
func TestDigests(t *testing.T) {
	for name, parts := range map[string][]string{"numpred.test.3": {"test"}, "numpred.val": {"training", "validation"}} {
		dir := numpred(t, 200)
		tasktest.Digests(t, func() (task.Task, error) { return Classes{Path: dir, Regime: Natural}.Open() }, func() {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			swapped := strings.NewReplacer("VBZ\t", "VBP\t", "VBP\t", "VBZ\t").Replace(string(text)) // every verb has the other number
			write(t, dir, name, swapped)
		}, parts...)
	}
}
