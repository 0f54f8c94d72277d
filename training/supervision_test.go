package training_test

import (
	"math"
	"testing"

	"universal-transformer/halting"
	"universal-transformer/internal/objective"
	"universal-transformer/training/schedule"
	"universal-transformer/universal"
)

// supervisedConfig is a training whose loss is that of the answers after every step.
func supervisedConfig(s objective.Supervision) schedule.Config {
	c := config(6)
	c.Objective = objective.Objective{Supervision: s}
	c.Ponder, c.EvaluateEvery, c.LogEvery = objective.PonderSchedule{}, 3, 1
	return c
}

// In training the loss is that of all answers, in validation that of the last one.
// Caught when planted: a validation that is supervised, a training that is not.
func TestSupervisionIsForTrainingOnly(t *testing.T) {
	m := universal.EncoderDecoder{Config: tiny()}
	m.Halting = halting.Fixed{Steps: 3}
	c, plan := supervisedConfig(objective.Uniform{}), copyingPlan
	c.Accumulate, plan.Rows, plan.Boundaries = 0, 24, []int{6} // one batch each
	tr := trainerOf(t, c, m, copying(11), plan)
	run(t, tr)
	seen := map[string]int{}
	for _, row := range metrics(t, tr) {
		loss, _ := row.Number("loss")
		nats, _ := row.Number("cross_entropy")
		split := row["split"].(string)
		seen[split]++
		if same := math.Abs(loss-nats) < 1e-5*nats; same != (split == "validation") {
			t.Errorf("%s: loss %v, cross entropy of the answers %v", split, loss, nats)
		}
	}
	if seen["training"] != 6 || seen["validation"] != 2 {
		t.Errorf("%v rows", seen)
	}
}

// Adaptive models whose steps are supervised compute all positions in all steps, so that the weights of the steps do not depend on how
// many positions run: plans of capacities change nothing. Caught when planted: capacities planned for them.
func TestSupervisionComputesAllSteps(t *testing.T) {
	weightsOf := func(computeHalted bool) map[string][]float32 {
		m := universal.EncoderDecoder{Config: tiny()}
		m.Halting = halting.Frozen{ACT: halting.ACT{MaxSteps: 6, Epsilon: 0.01, Bias: 3}} // halts early
		c := supervisedConfig(objective.Uniform{})
		c.ComputeHalted = computeHalted
		tr := trainerOf(t, c, m, copying(11), copyingPlan)
		tr.PlanFreely()
		run(t, tr)
		return weights(tr)
	}
	planned, whole := weightsOf(false), weightsOf(true)
	for name, want := range whole {
		for i := range want {
			if planned[name][i] != want[i] {
				t.Fatalf("%s is %v, want %v", name, planned[name][i], want[i])
			}
		}
	}
}
