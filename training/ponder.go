package training

import (
	"fmt"
	"math"
	"strings"

	"universal-transformer/internal/objective"
	"universal-transformer/universal"
)

// Bounds below which the depth of a stack no longer depends on the input.
const (
	shallow    = 1.1  // mean number of steps
	atLimit    = 0.1  // distance of the mean from the limit
	constant   = 0.01 // variance of the number of steps: a hundredth of the positions takes one step more or less
	weightless = 0.02 // mean weight of the last step; with the authors' epsilon it is at least 0.01
)

// A stack is one recurrence of an adaptive model, as measured in a validation.
type stack struct {
	name                   string
	positions              float64
	steps, variance, final float64 // mean and variance of the number of steps, mean weight of the last step
}

// stacks returns the encoder and the decoder, as far as the model has them.
func stacks(tally objective.Tally, depths objective.Depths) (list []stack) {
	for _, s := range []struct {
		name                                 string
		positions, updates, squares, weights float64
	}{
		{"encoder", tally.EncoderPositions, tally.EncoderUpdates, depths.EncoderSquares, depths.EncoderRemainders},
		{"decoder", tally.DecoderPositions, tally.DecoderUpdates, depths.DecoderSquares, depths.DecoderRemainders},
	} {
		if s.positions > 0 {
			mean := s.updates / s.positions
			list = append(list, stack{s.name, s.positions, mean, s.squares/s.positions - mean*mean, s.weights / s.positions})
		}
	}
	return list
}

// ponderProblem describes a problem with a validation's ponder times: a stack that halts after one step everywhere, that never halts before
// the limit, or whose positions all take the same number of steps. Empty if there is none, or if depth is not adaptive.
func (t *Trainer) ponderProblem(tally objective.Tally, depths objective.Depths) string {
	deep, ok := t.Model.(universal.Deep)
	if !ok || !deep.Adaptive() || deep.StepLimit() < 2 {
		return ""
	}
	limit := float64(deep.StepLimit())
	for _, s := range stacks(tally, depths) {
		same := math.Round(s.steps)
		switch {
		case s.steps < shallow:
			return fmt.Sprintf("the %s runs %.2f steps per position, like a single layer: %s", s.name, s.steps, t.deeper(1))
		case s.steps > limit-atLimit:
			return fmt.Sprintf("the %s runs %.2f of %.0f steps per position: it never halts before the limit: %s", s.name, s.steps, limit, t.shallower(int(limit)))
		case s.variance < constant && s.final < weightless:
			return fmt.Sprintf("every position of the %s takes %.0f steps, the last with a weight of %.2f: %s", s.name, same, s.final, t.deeper(int(same)-1))
		case s.variance < constant:
			return fmt.Sprintf("every position of the %s takes %.0f steps: %s", s.name, same, t.deeper(int(same)))
		}
	}
	return ""
}

// deeper lists changes that give a stack a reason to take more steps or different numbers of steps, without those that are set already, and
// the fixed depth that computes the same in less time.
func (t *Trainer) deeper(steps int) string {
	var list []string
	if unit, ok := t.Model.(interface{ HaltingBias() (float64, bool) }); ok {
		if bias, ok := unit.HaltingBias(); ok && bias > startDeep && t.haltingField("bias") {
			list = append(list, fmt.Sprintf("start with more steps (model.halting.bias=%d)", startDeep))
		}
	}
	list = append(list, t.cheaper()...)
	if norms, ok := t.Model.(interface{ NormsFirstField() string }); ok && norms.NormsFirstField() != "" {
		list = append(list, fmt.Sprintf("normalize before the sub-layers (model.%s=true)", norms.NormsFirstField()))
	}
	return strings.Join(append(list, sameDepth(steps, len(list) > 0)), ", ")
}

// cheaper lists changes of the ponder cost that let positions take more steps.
func (t *Trainer) cheaper() (list []string) {
	p := t.Config.Ponder
	switch prior, draws := t.prior(); {
	case p.Weight == 0:
	case draws:
		list = append(list, fmt.Sprintf("expect more steps (%s=%g)", lambdaPath, prior.Lambda/2))
	default:
		if late := t.Config.Steps / 2; int64(p.Delay+p.Steps) < late {
			list = append(list, fmt.Sprintf("let the ponder cost grow later (training.ponder.warmup=%d)", late))
		}
		list = append(list, fmt.Sprintf("lower the ponder cost (training.ponder.weight=%g)", p.Weight/10))
	}
	return list
}

// prior returns the prior that draws positions to a number of steps, if the ponder cost has one.
func (t *Trainer) prior() (prior objective.GeometricPrior, ok bool) {
	prior, ok = t.Config.PonderCost.(objective.GeometricPrior)
	return prior, ok
}

const lambdaPath = "training.ponder_cost.geometric_prior.lambda"

// startDeep is a bias of the halting unit with which positions run many steps at first.
const startDeep = -2

// shallower lists changes that let a stack halt before the limit.
func (t *Trainer) shallower(limit int) string {
	weight := 10 * t.Config.Ponder.Weight
	if weight == 0 {
		weight = 0.001
	}
	higher := "the limit of the halting policy"
	if t.haltingField("max_steps") {
		higher = fmt.Sprintf("the limit (model.halting.max_steps=%d)", 2*limit)
	}
	if prior, ok := t.prior(); ok && t.Config.Ponder.Weight > 0 {
		return fmt.Sprintf("expect fewer steps (%s=%g) or raise %s, %s", lambdaPath, (1+prior.Lambda)/2, higher, sameDepth(limit, true))
	}
	return fmt.Sprintf("raise the ponder cost (training.ponder.weight=%g) or %s, %s", weight, higher, sameDepth(limit, true))
}

// haltingField reports whether the halting policy, which may be of another module, has a field with a JSON name.
func (t *Trainer) haltingField(name string) bool {
	m, ok := t.Model.(interface{ HaltingField(string) bool })
	return ok && m.HaltingField(name)
}

func sameDepth(steps int, last bool) string {
	or := ""
	if last {
		or = "or "
	}
	return fmt.Sprintf("%suse a fixed depth, which takes less time (model.halting.fixed.steps=%d)", or, max(steps, 1))
}

// warnOfPonder warns once per run of a problem with its ponder times, when two consecutive validations have one.
func (t *Trainer) warnOfPonder(tally objective.Tally, depths objective.Depths) {
	problem := t.ponderProblem(tally, depths)
	if problem == "" {
		t.state.PonderProblems = 0
		return
	}
	if t.state.PonderProblems++; t.state.PonderProblems == 2 {
		t.notify("warning: " + problem)
	}
}
