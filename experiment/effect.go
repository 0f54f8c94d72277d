package experiment

import (
	"fmt"
	"slices"
	"strings"
)

// Remarks returns a line for each value of a valid configuration that can hardly be meant: a warm-up longer than training and, of the
// fields that assignments set, values that have no effect. The defaults of a recipe are no mistake of whoever uses it.
func (r Run) Remarks(assignments ...string) (lines []string) {
	if s, ok := r.Training.Schedule.Value.(interface{ WarmedUp() int64 }); ok && s.WarmedUp() > r.Training.Steps {
		lines = append(lines, fmt.Sprintf("training.schedule warms up until update %d, but training.steps is %d: the learning rate does not reach its peak", s.WarmedUp(), r.Training.Steps))
	}
	for _, e := range r.effects() {
		if e.set && !e.works && slices.ContainsFunc(assignments, func(a string) bool { return sets(a, e.field) }) {
			lines = append(lines, fmt.Sprintf("%s is %v, but %s: it has no effect", e.field, e.value, e.why))
		}
	}
	return lines
}

// effect is a field that has an effect only together with others.
type effect struct {
	field      string
	value      any
	set, works bool
	why        string
}

func (r Run) effects() []effect {
	t := r.Training
	adaptive := r.Policy() != nil && r.Policy().Weighted()
	const fixed, free, undecayed = "the model's depth is not adaptive", "training.ponder.weight is 0", "training.weight_decay is 0"
	weighed, why := adaptive && t.Ponder.Weight > 0, fixed
	if adaptive {
		why = free
	}
	return []effect{
		{"training.ponder.weight", t.Ponder.Weight, t.Ponder.Weight > 0, adaptive, fixed},
		{"training.ponder.warmup", t.Ponder.Steps, t.Ponder.Steps > 0, weighed, why},
		{"training.ponder.delay", t.Ponder.Delay, t.Ponder.Delay > 0, weighed, why},
		{"training.compute_halted", t.ComputeHalted, t.ComputeHalted, adaptive, fixed},
		{"training.decay_vectors", t.DecayVectors, t.DecayVectors, t.WeightDecay > 0, undecayed},
		{"training.weigh_by_tokens", t.WeighByTokens, t.WeighByTokens, t.Batches() > 1, "an update has one batch"},
	}
}

// sets reports whether an assignment sets a field, alone or with others.
func sets(assignment, field string) bool {
	path, _, _ := strings.Cut(assignment, "=")
	return field == path || strings.HasPrefix(field, path+".")
}
