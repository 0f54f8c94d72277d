package universal

import (
	"fmt"

	"universal-transformer/halting"
)

// Exit is the same model, weights included, with another criterion of when to stop. A model with learned steps has vectors for
// those it was trained with and can take no more.
func (c Config) Exit(e halting.Exit) (Config, error) {
	policy, err := e.Of(c.Halting)
	if err != nil {
		return c, err
	}
	if c.LearnedSteps {
		if c.learned = c.stepsLearned(); e.Fixed > c.learned {
			return c, fmt.Errorf("exit fixed is %d, but the model has learned %d steps: give at most %d", e.Fixed, c.learned, c.learned)
		}
	}
	c.Halting = policy
	return c, nil
}

// stepsLearned is how many rows the table of learned steps has.
func (c Config) stepsLearned() int {
	if c.learned > 0 {
		return c.learned
	}
	return c.Halting.Limit(0)
}
