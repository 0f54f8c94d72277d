package training

import (
	"fmt"

	"universal-transformer/internal/objective"
	"universal-transformer/universal"
)

// Distances of a mean ponder time from one step, or from the limit, below which the depth no longer depends on the input.
const (
	shallow = 1.1
	atLimit = 0.1
)

// ponderProblem describes a problem with a validation's ponder times: a stack that halts at once everywhere, or never before the limit.
// Empty if there is none, or if depth is not adaptive.
func (t *Trainer) ponderProblem(tally objective.Tally) string {
	deep, ok := t.Model.(universal.Deep)
	if !ok || !deep.Adaptive() || deep.StepLimit() < 2 {
		return ""
	}
	limit := float64(deep.StepLimit())
	for _, stack := range []struct {
		name      string
		positions float64
		ponder    float64
	}{{"encoder", tally.EncoderPositions, tally.EncoderPonder()}, {"decoder", tally.DecoderPositions, tally.DecoderPonder()}} {
		switch {
		case stack.positions == 0:
		case stack.ponder < shallow:
			return fmt.Sprintf("the %s runs %.2f steps per position, like a single layer: lower training.ponder.weight, warm it up (training.ponder.warmup), "+
				"or normalize before the sub-layers (model.pre_norm=true)", stack.name, stack.ponder)
		case stack.ponder > limit-atLimit:
			return fmt.Sprintf("the %s runs %.2f of %.0f steps per position: it never halts before the limit; raise training.ponder.weight, or model.halting.max_steps", stack.name, stack.ponder, limit)
		}
	}
	return ""
}

// warnOfPonder warns once per run of a problem with its ponder times, when two consecutive validations have the same kind of problem.
func (t *Trainer) warnOfPonder(tally objective.Tally) {
	problem := t.ponderProblem(tally)
	if problem == "" {
		t.state.PonderProblems = 0
		return
	}
	if t.state.PonderProblems++; t.state.PonderProblems == 2 {
		t.notify("warning: " + problem)
	}
}
