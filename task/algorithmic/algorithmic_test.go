package algorithmic_test

import (
	"testing"

	"universal-transformer/task"
	"universal-transformer/task/algorithmic"
	"universal-transformer/task/tasktest"
)

func TestConformance(t *testing.T) {
	for name, tk := range map[string]task.Task{
		"copy":             algorithmic.Copy{},
		"copy fixed":       algorithmic.Copy{Base: 2, MaxLength: 30, Examples: 1000},
		"reverse":          algorithmic.Reverse{Base: 36, MaxLength: 9},
		"reverse fixed":    algorithmic.Reverse{Examples: 100_000},
		"addition":         algorithmic.Addition{},
		"addition binary":  algorithmic.Addition{Base: 2, MaxLength: 21},
		"addition minimal": algorithmic.Addition{MaxLength: 5, Examples: 500},
	} {
		t.Run(name, func(t *testing.T) { tasktest.Run(t, tk) })
	}
}
