package babi_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"universal-transformer/task"
	"universal-transformer/task/babi"
	"universal-transformer/task/tasktest"
)

// Each part is sealed by itself. Caught when planted: facts, or answers, that are left out.
func TestDigests(t *testing.T) {
	for _, c := range map[string]struct {
		part     string
		old, new string
	}{
		"answer": {"test", "\tkitchen\t", "\toffice\t"}, "fact": {"test", " went ", " ran "}, "training answer": {"train", "\tkitchen\t", "\toffice\t"},
	} {
		root := folder(t, small())
		parts := []string{"test"}
		if c.part == "train" {
			parts = []string{"training", "validation"}
		}
		open := func() (task.Task, error) { return babi.OpenTask(babi.Babi{Path: root, Set: "en", Task: 1}) }
		tasktest.Digests(t, open, func() {
			replaceIn(t, filepath.Join(root, "tasks_1-20_v1-2", "en", "qa1_single-supporting-fact_"+c.part+".txt"), c.old, c.new)
		}, parts...)
	}
}

// replaceIn replaces a text in a file.
func replaceIn(t *testing.T, path, old, with string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), old) {
		t.Fatalf("%s has no %q: %v", path, old, err)
	}
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(text), old, with)), 0o600); err != nil {
		t.Fatal(err)
	}
}
