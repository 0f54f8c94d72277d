package viewer

import (
	"fmt"
	"slices"
)

// A Readout records what the model would answer at one position if every position ended after step 1, 2, ..., T. At the last step
// that is the model's output. Once a position has halted, its readout no longer changes. Steps count from 1.
type Readout struct {
	Steps   [][]Candidate `json:"steps"`             // [T][k]: the most probable tokens after each step, the most probable first
	Written []float64     `json:"written,omitempty"` // [T]: probability of the token written at the position; nil for a classifier or pointer
	Answer  string        `json:"answer"`            // the most probable token after the last step
	First   int           `json:"first"`             // first step after which Answer is the most probable token
	Settled int           `json:"settled"`           // step from which on Answer remains the most probable token, at least First
	Flips   []int         `json:"flips,omitempty"`   // steps whose most probable token differs from that of the step before, from 2
}

// A Candidate is a token with its probability.
type Candidate struct {
	Token       string  `json:"token"`
	Probability float64 `json:"probability"`
}

// NewReadout returns the readout of a position from its most probable tokens after each step, [T][k] with T and k at least 1. written
// may be nil.
func NewReadout(steps [][]Candidate, written []float64) Readout {
	r := Readout{Steps: steps, Written: written, Settled: 1}
	best := make([]string, len(steps))
	for t, top := range steps {
		best[t] = top[0].Token
		if t > 0 && best[t] != best[t-1] {
			r.Flips = append(r.Flips, t+1)
			r.Settled = t + 1
		}
	}
	r.Answer = best[len(best)-1]
	r.First = 1 + slices.Index(best, r.Answer)
	return r
}

// validateReadouts checks that the readouts belong to the positions and steps of the stack that is read out.
func (t *Trace) validateReadouts() error {
	if len(t.Readouts) == 0 {
		return nil
	}
	stack := t.Decoder
	if stack == nil {
		stack = t.Encoder
	}
	n, once := len(t.Readouts), t.Decoder == nil // a classifier is read out once, a tagger at each position
	if positions := len(stack.Tokens); n != positions && !(once && n == 1) {
		return fmt.Errorf("trace: readouts: %d, want %d", n, positions)
	}
	for i, r := range t.Readouts {
		if err := r.validate(stack.steps()); err != nil {
			return fmt.Errorf("trace: readouts[%d].%w", i, err)
		}
	}
	return nil
}

// validate checks one readout of the given number of steps.
func (r Readout) validate(steps int) error {
	if len(r.Steps) == 0 || len(r.Steps) != steps {
		return fmt.Errorf("steps: %d, but the stack has %d", len(r.Steps), steps)
	}
	if r.Written != nil {
		if err := numbers("written", r.Written, steps, 1); err != nil {
			return err
		}
	}
	for t, top := range r.Steps {
		if len(top) == 0 {
			return fmt.Errorf("steps[%d]: no token", t)
		}
		for k, c := range top {
			if err := numbers(fmt.Sprintf("steps[%d][%d].probability", t, k), []float64{c.Probability}, 1, 1); err != nil {
				return err
			}
		}
	}
	want := NewReadout(r.Steps, r.Written)
	if r.Answer != want.Answer || r.First != want.First || r.Settled != want.Settled || !slices.Equal(r.Flips, want.Flips) {
		return fmt.Errorf("answer: answer, first, settled and flips must be those of steps: %q, %d, %d and %v", want.Answer, want.First, want.Settled, want.Flips)
	}
	return nil
}
