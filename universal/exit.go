package universal

import (
	"fmt"

	"universal-transformer/halting"
)

// WithExit is the same model, weights included, that stops by another criterion.
func (m EncoderDecoder) WithExit(e halting.Exit) (Deep, error) {
	config, err := m.withExit(e)
	m.Config = config
	return m, err
}

// WithExit is the same model, weights included, that stops by another criterion.
func (m Encoder) WithExit(e halting.Exit) (Deep, error) {
	config, err := m.withExit(e)
	m.Config = config
	return m, err
}

// WithExit is the same model, weights included, that stops by another criterion.
func (m Pointer) WithExit(e halting.Exit) (Deep, error) {
	config, err := m.withExit(e)
	m.Config = config
	return m, err
}

// WithExit is the same model, weights included, that stops by another criterion.
func (m Decoder) WithExit(e halting.Exit) (Deep, error) {
	config, err := m.withExit(e)
	return Decoder{config}, err
}

// withExit changes the policy. Where steps have weights of their own, learned step
// signals or untied layers, it can take no more than it was trained with.
func (c Config) withExit(e halting.Exit) (Config, error) {
	policy, err := c.Halting.WithExit(e)
	if err != nil {
		return c, err
	}
	if c.LearnedSteps || c.UntiedLayers {
		if c.trained = c.trainedSteps(); e.Fixed > c.trained {
			return c, fmt.Errorf("exit fixed is %d, but the model has weights for %d steps: give at most %[2]d", e.Fixed, c.trained)
		}
	}
	c.Halting = policy
	return c, nil
}

// trainedSteps is how many steps have weights of their own, if they have: rows of the table of learned steps, or untied layers.
func (c Config) trainedSteps() int {
	if c.trained > 0 {
		return c.trained
	}
	return c.Halting.Limit(0)
}
