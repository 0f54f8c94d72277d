package pipeline

import (
	"fmt"

	"github.com/gomlx/gomlx/core/graph"
	"universal-transformer/task"
)

// maxTraced is the largest number of positions of a trace: attention grows with its square.
const maxTraced = 1000

// maxTracedValues is the largest number of values of a trace, most of which are attention weights: as JSON they take some 5 to 20 bytes each.
const maxTracedValues = 1 << 23

// TraceSizeError is the error of an input whose trace would have too many values.
type TraceSizeError struct {
	Values int // that it would have
	Limit  int // that it may have
}

func (e *TraceSizeError) Error() string {
	return fmt.Sprintf("a trace with %d values, of which attention has the square of the length in each step and head, exceeds the limit, %d: shorten the input, or run fewer steps", e.Values, e.Limit)
}

// readToTrace is Read with the limit of traces.
func (m *Model) readToTrace(text string) (task.Input, error) {
	in, err := m.Read(text)
	if err == nil {
		err = checkTraced(in)
	}
	return in, err
}

// checkTraced returns an error if an input is too long for a trace.
func checkTraced(in task.Input) error {
	if n := len(in.Labels); n > maxTraced {
		return fmt.Errorf("%d positions exceed the limit of a trace, %d", n, maxTraced)
	}
	return nil
}

// size returns the number of values of all nodes.
func size(nodes []*graph.Node) (n int) {
	for _, node := range nodes {
		n += node.Shape().Size()
	}
	return n
}
