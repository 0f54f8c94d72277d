package tasktest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"universal-transformer/task"
)

// Files checks that what [task.WriteExamples] writes, the task's reader reads: training, validation and test examples keep their text, and
// held-out ones their ids, in the same order. With resplit, ids may differ: a text that begins inside a word is split into other subwords.
// Segments of prose that do not end in a word may lose what is behind their last word.
func Files(t *testing.T, d task.Definition, tk task.Task, resplit bool) {
	t.Helper()
	splits := map[string][]task.Example{"training": nil}
	for i := range int64(20) {
		splits["training"] = append(splits["training"], tk.Training(3, i))
	}
	for name, validation := range map[string]bool{"validation": true, "test": false} {
		examples, err := tk.HeldOut(3, task.Selection{Validation: validation, Count: 20})
		if err != nil {
			t.Fatal(err)
		}
		splits[name] = examples
	}
	for name, examples := range splits {
		if err := readBack(t.TempDir(), d, tk.Vocabularies(), examples, name != "training" && !resplit); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// readBack writes examples to a file, reads it and compares.
func readBack(dir string, d task.Definition, v task.Vocabularies, examples []task.Example, ids bool) error {
	var file, again bytes.Buffer
	if err := task.WriteExamples(&file, d, v, examples); err != nil {
		return err
	}
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
		return err
	}
	read, _, err := d.Reader(v).File(path)
	if err != nil {
		return fmt.Errorf("%w, in\n%s", err, file.Bytes())
	}
	if len(read) != len(examples) {
		return fmt.Errorf("%d examples are read as %d:\n%s", len(examples), len(read), file.Bytes())
	}
	if err := task.WriteExamples(&again, d, v, read); err != nil {
		return err
	}
	if !bytes.Equal(file.Bytes(), again.Bytes()) {
		return fmt.Errorf("the file\n%s\nis written again as\n%s", file.Bytes(), again.Bytes())
	}
	for i, e := range examples {
		if ids && (!slices.Equal(e.Source, read[i].Source) || !slices.Equal(e.Target, read[i].Target)) {
			return fmt.Errorf("example %d is\n%v -> %v\nand read as\n%v -> %v", i, e.Source, e.Target, read[i].Source, read[i].Target)
		}
	}
	return nil
}
