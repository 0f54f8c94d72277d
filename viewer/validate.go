package viewer

import (
	"fmt"
	"math"
)

// tolerance is how far rounding in float32 may push a weight outside [0, 1], and a step count outside 0..T.
const tolerance = 1e-3

// maxSteps is the maximum number of steps of a page, far above that of any model.
const maxSteps = 4096

// Validate returns an error that names the first field whose shape or value no model can produce.
func (t *Trace) Validate() error {
	if t.Encoder == nil && t.Decoder == nil {
		return fmt.Errorf("trace: neither encoder nor decoder")
	}
	if t.Checkpoint < 0 {
		return fmt.Errorf("trace: checkpoint %d is negative", t.Checkpoint)
	}
	sourceKeys := 0
	if t.Encoder != nil {
		if err := t.Encoder.validate(0); err != nil {
			return fmt.Errorf("trace: encoder.%w", err)
		}
		sourceKeys = len(t.Encoder.Tokens)
	}
	if t.Decoder != nil {
		if err := t.Decoder.validate(sourceKeys); err != nil {
			return fmt.Errorf("trace: decoder.%w", err)
		}
	}
	return t.validateReadouts()
}

// validate checks one stack; sourceKeys is the number of encoder positions for cross attention, 0 if there are none.
func (s *Stack) validate(sourceKeys int) error {
	positions := len(s.Tokens)
	if positions == 0 {
		return fmt.Errorf("tokens: no position")
	}
	if err := numbers("updates", s.Updates, positions, maxSteps); err != nil {
		return err
	}
	if s.Remainders != nil {
		if err := numbers("remainders", s.Remainders, positions, 1); err != nil {
			return err
		}
	}
	for t, row := range s.Weights {
		if err := numbers(fmt.Sprintf("weights[%d]", t), row, positions, 1); err != nil {
			return err
		}
	}
	for t, row := range s.Changes {
		if err := numbers(fmt.Sprintf("changes[%d]", t), row, positions, math.MaxFloat32); err != nil {
			return err
		}
	}
	if err := heads("attention", s.Attention, positions, positions); err != nil {
		return err
	}
	if s.CrossAttention != nil && sourceKeys == 0 {
		return fmt.Errorf("cross_attention: no encoder to attend to")
	}
	if err := heads("cross_attention", s.CrossAttention, positions, sourceKeys); err != nil {
		return err
	}
	if s.Limit < 0 || s.Limit > maxSteps || s.Limit > 0 && s.Limit < s.steps() {
		return fmt.Errorf("limit: %d, but there are %d steps and at most %d are allowed", s.Limit, s.steps(), maxSteps)
	}
	if len(s.Weights) > maxSteps {
		return fmt.Errorf("weights: %d steps, at most %d", len(s.Weights), maxSteps)
	}
	return s.validateSteps()
}

// validateSteps checks that everything recorded per step has the same number of steps, and that no position ran more than that.
func (s *Stack) validateSteps() error {
	steps, from := 0, ""
	for _, list := range []struct {
		name  string
		steps int
	}{{"weights", len(s.Weights)}, {"changes", len(s.Changes)}, {"attention", len(s.Attention)}, {"cross_attention", len(s.CrossAttention)}} {
		switch {
		case list.steps == 0:
		case steps == 0:
			steps, from = list.steps, list.name
		case list.steps != steps:
			return fmt.Errorf("%s: %d steps, but %s has %d", list.name, list.steps, from, steps)
		}
	}
	for i, n := range s.Updates {
		if steps > 0 && n > float64(steps)+tolerance {
			return fmt.Errorf("updates[%d]: %g steps, but %s has %d", i, n, from, steps)
		}
	}
	return nil
}

// heads checks [T][K][queries][keys], the same K at every step.
func heads(name string, attention [][][][]float64, queries, keys int) error {
	for t, step := range attention {
		if len(step) == 0 || len(step) != len(attention[0]) {
			return fmt.Errorf("%s[%d]: %d heads, but the first step has %d", name, t, len(step), len(attention[0]))
		}
		for k, head := range step {
			if len(head) != queries {
				return fmt.Errorf("%s[%d][%d]: %d query rows, want %d", name, t, k, len(head), queries)
			}
			for i, row := range head {
				if err := numbers(fmt.Sprintf("%s[%d][%d][%d]", name, t, k, i), row, keys, 1); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// numbers returns an error unless the list has want numbers, each finite and between 0 and limit.
func numbers(name string, list []float64, want int, limit float64) error {
	if len(list) != want {
		return fmt.Errorf("%s: %d numbers, want %d", name, len(list), want)
	}
	for i, v := range list {
		if !(v >= -tolerance && v <= limit+tolerance) { // false for NaN
			return fmt.Errorf("%s[%d]: %g is not between 0 and %g", name, i, v, limit)
		}
	}
	return nil
}
