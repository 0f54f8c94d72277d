package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"universal-transformer/internal/atomicfile"
	"universal-transformer/pipeline"
	"universal-transformer/task"
)

// writable returns an error if a file cannot be written, so that a long evaluation does not fail at its end. An empty path is valid.
func writable(path string) error {
	if path == "" {
		return nil
	}
	if folder, err := os.Stat(filepath.Dir(path)); err != nil || !folder.IsDir() {
		return fmt.Errorf("%s cannot be written: the folder %s does not exist", path, filepath.Dir(path))
	}
	return atomicfile.Check(path)
}

// writeErrors writes every wrong answer with its source and target.
func (f *evalFlags) writeErrors(m *pipeline.Model, e pipeline.Evaluation) error {
	if f.errors == "" {
		return nil
	}
	var lines bytes.Buffer
	for i, answer := range e.Answers {
		if answer.Correct {
			continue
		}
		source, target := m.Vocabularies.Original(e.Examples[i])
		answered := answer.Text
		if answered == "" {
			answered = m.Vocabularies.TargetText(answer.Tokens)
		}
		fmt.Fprintf(&lines, "%s\t%s\t%s\n", task.OneLine(source), task.OneLine(target), task.OneLine(answered))
	}
	return atomicfile.Write(f.errors, lines.Bytes())
}
