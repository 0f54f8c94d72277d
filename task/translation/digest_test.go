package translation

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"universal-transformer/subword"
	"universal-transformer/task"
	"universal-transformer/task/tasktest"
)

// Each part is sealed by itself, whichever language changes. Caught when planted: targets that are left out.
func TestDigests(t *testing.T) {
	source, target := counted(300)
	for _, c := range []struct{ file, part string }{{"train.en", "training"}, {"train.de", "training"}, {"valid.de", "validation"}, {"test.en", "test"}} {
		dir := folder(t, map[string]string{
			"train.en": source, "train.de": target, "valid.en": source, "valid.de": target, "test.en": source, "test.de": target,
		})
		definition := Translation{
			Path: dir, Training: []Corpus{two("train")}, Validation: []Corpus{two("valid")}, Test: []Corpus{two("test")}, Choice: subword.Choice{TokenizerSize: 300},
		}
		tasktest.Digests(t, func() (task.Task, error) { return definition.Open() }, func() {
			path := filepath.Join(dir, c.file)
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.SplitAfter(string(text), "\n")
			lines[7], lines[70] = lines[70], lines[7]
			if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600); err != nil {
				t.Fatal(err)
			}
		}, c.part)
	}
}
