package pipeline

import (
	"cmp"
	"slices"

	"universal-transformer/internal/evaluation"
	"universal-transformer/task"
	"universal-transformer/universal"
)

// readoutCost returns what the exit rule costs, with the operations for the example of median length.
func (m *Model) readoutCost(e *evaluation.Evaluator, row evaluation.Row, examples []task.Example) (*evaluation.Readouts, error) {
	steps := cmp.Or(row.Decoder, row.Encoder).Average() // the model may have no decoder
	cost := &evaluation.Readouts{Extra: max(0, steps-1)}
	if len(examples) == 0 {
		return cost, nil
	}
	without := m.exit
	without.Rule = nil
	plain, err := m.trained.(universal.Deep).WithExit(without)
	if err != nil {
		return nil, err
	}
	length := func(e task.Example) int { return len(e.Source) + len(e.Target) }
	sorted := slices.SortedFunc(slices.Values(examples), func(a, b task.Example) int { return cmp.Compare(length(a), length(b)) })
	ruled, err := e.Operations(sorted[len(sorted)/2])
	if err != nil {
		return nil, err
	}
	base := *e
	base.Model = plain
	operations, err := base.Operations(sorted[len(sorted)/2])
	if operations > 0 {
		cost.Operations = ruled/operations - 1
	}
	return cost, err
}
