package training_test

import (
	"slices"
	"strings"
	"testing"

	"universal-transformer/halting"
	"universal-transformer/universal"
)

// Training says once, after its second validation, that all positions halt at once, that none does before the limit, or that all take the
// same steps: with a bias of 4.5, p is 0.989, below the threshold of 0.99, and the second step has the remaining 0.011.
// Caught when planted: a validation that warns of nothing, remainders of padding.
func TestTrainingWarnsOfPonderTimes(t *testing.T) {
	for bias, want := range map[float64]string{9: "warning: the encoder runs 1.00 steps per position", -9: "warning: the encoder runs 3.00 of 3 steps per position",
		4.5: "warning: every position of the encoder takes 2 steps, the last with a weight of 0.01: "} {
		model := universal.EncoderDecoder{Config: tiny()}
		model.Halting = halting.Frozen{ACT: halting.ACT{MaxSteps: 3, Epsilon: 0.01, Bias: bias}}
		c := config(15)
		tr := trainerOf(t, c, model, copying(c.Seed), copyingPlan)
		var said []string
		tr.Notify = func(line string) { said = append(said, line) }
		run(t, tr)
		said = slices.DeleteFunc(said, func(line string) bool {
			return !strings.HasPrefix(line, "validation at ") && !strings.HasPrefix(line, "warning: ")
		})
		if len(said) != 4 || !strings.HasPrefix(said[2], want) {
			t.Errorf("bias %v: training says %q, want %q behind the second of three validations", bias, said, want)
		}
	}
}
