package universal

import (
	"fmt"

	"universal-transformer/halting"
)

// WithExit returns the same model, including its weights, with another criterion for stopping.
func (m EncoderDecoder) WithExit(e halting.Exit) (Deep, error) {
	config, err := m.withExit(e)
	m.Config = config
	return m, err
}

// WithExit returns the same model, including its weights, with another criterion for stopping.
func (m Encoder) WithExit(e halting.Exit) (Deep, error) {
	config, err := m.withExit(e)
	m.Config = config
	return m, err
}

// WithExit returns the same model, including its weights, with another criterion for stopping.
func (m Pointer) WithExit(e halting.Exit) (Deep, error) {
	config, err := m.withExit(e)
	m.Config = config
	return m, err
}

// WithExit returns the same model, including its weights, with another criterion for stopping.
func (m Decoder) WithExit(e halting.Exit) (Deep, error) {
	config, err := m.withExit(e)
	return Decoder{config}, err
}

// withExit changes the policy. If steps have their own weights (learned step signals or untied layers), the number of steps cannot
// exceed that of training.
func (c Config) withExit(e halting.Exit) (Config, error) {
	policy, err := c.Halting.WithExit(e)
	if err != nil {
		return c, err
	}
	if c.LearnedSteps || c.UntiedLayers {
		if c.OwnSteps = c.ownSteps(); e.Fixed > c.OwnSteps {
			return c, fmt.Errorf("exit fixed is %d, but the model has weights for %d steps: give at most %[2]d", e.Fixed, c.OwnSteps)
		}
	}
	c.Halting = policy
	return c, nil
}

// ownSteps returns the number of steps with their own weights: rows of the table of learned steps, or untied layers; 0 if there
// are none.
func (c Config) ownSteps() int {
	if c.OwnSteps > 0 {
		return c.OwnSteps
	}
	return c.Halting.Limit(0)
}
