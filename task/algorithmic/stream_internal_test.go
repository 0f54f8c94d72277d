package algorithmic

import (
	"testing"

	"universal-transformer/task/tasktest"
)

// A task without hard cases fulfils the contract of tasks: it refuses a selection of hard cases.
// Caught when planted: a task that takes the selection, which divided by the number of kinds, 0.
func TestStreamWithoutHardCases(t *testing.T) {
	s := Copy{}.stream()
	s.hard = nil
	tasktest.Run(t, s)
}
