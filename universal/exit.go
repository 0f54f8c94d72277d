package universal

import (
	"fmt"

	"universal-transformer/halting"
)

// WithExit returns the same model, including its weights, with another criterion for stopping.
func (m EncoderDecoder) WithExit(e halting.Exit) (Deep, error) {
	config, err := m.withExit(e)
	if err == nil && e.DecoderSteps > 0 {
		config.DecoderHalting = halting.Fixed{Steps: e.DecoderSteps}
	}
	if err == nil && e.EncoderSteps > 0 {
		config.DecoderHalting, config.Halting = config.decoderHalting(), halting.Fixed{Steps: e.EncoderSteps}
	}
	m.Config = config
	return m, err
}

// WithExit returns the same model, including its weights, with another criterion for stopping.
func (m Encoder) WithExit(e halting.Exit) (Deep, error) {
	config, err := m.onlyEncoder(e)
	m.Config = config
	return m, err
}

// WithExit returns the same model, including its weights, with another criterion for stopping.
func (m Pointer) WithExit(e halting.Exit) (Deep, error) {
	config, err := m.onlyEncoder(e)
	m.Config = config
	return m, err
}

// WithExit returns the same model, including its weights, with another criterion for stopping.
func (m Decoder) WithExit(e halting.Exit) (Deep, error) {
	if e.EncoderSteps > 0 {
		return m, fmt.Errorf("exit encoder_steps is %d, but a language model has no encoder: leave it out", e.EncoderSteps)
	}
	config, err := m.withExit(e)
	if err == nil && e.DecoderSteps > 0 {
		config.Halting = halting.Fixed{Steps: e.DecoderSteps}
	}
	return Decoder{config}, err
}

// onlyEncoder is withExit of a model without a decoder.
func (c Config) onlyEncoder(e halting.Exit) (Config, error) {
	if e.DecoderSteps > 0 {
		return c, fmt.Errorf("exit decoder_steps is %d, but the model has no decoder: leave it out", e.DecoderSteps)
	}
	c, err := c.withExit(e)
	if err == nil && e.EncoderSteps > 0 {
		c.Halting = halting.Fixed{Steps: e.EncoderSteps}
	}
	return c, err
}

// withExit changes the policy of all stacks, and sets the rule. If steps have their own weights (learned step signals or untied layers),
// the number of steps cannot exceed that of training.
func (c Config) withExit(e halting.Exit) (Config, error) {
	policy, err := c.Halting.WithExit(e)
	if err != nil {
		return c, err
	}
	if c.LearnedSteps || c.UntiedLayers {
		c.OwnSteps = c.ownSteps()
		for _, asked := range []struct {
			name  string
			steps int
		}{{"fixed", e.Fixed}, {"encoder_steps", e.EncoderSteps}, {"decoder_steps", e.DecoderSteps}} {
			if asked.steps > c.OwnSteps {
				return c, fmt.Errorf("exit %s is %d, but the model has weights for %d steps: give at most %[3]d", asked.name, asked.steps, c.OwnSteps)
			}
		}
	}
	c.Halting, c.Rule = policy, e.Rule
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

// decoderHalting returns the policy of the decoder.
func (c Config) decoderHalting() halting.Policy {
	if c.DecoderHalting != nil {
		return c.DecoderHalting
	}
	return c.Halting
}

// ofDecoder returns the configuration with the decoder's policy.
func (c Config) ofDecoder() Config {
	c.Halting = c.decoderHalting()
	return c
}
