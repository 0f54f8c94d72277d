package main

import (
	"bytes"
	"fmt"

	"github.com/spf13/cobra"
	"universal-transformer/pipeline"
	"universal-transformer/task"
)

// writeErrors writes every wrong answer with its source and target.
func (f *evalFlags) writeErrors(c *cobra.Command, m *pipeline.Model, e pipeline.Evaluation) error {
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
	return writeOutput(c, f.errors, lines.Bytes())
}
