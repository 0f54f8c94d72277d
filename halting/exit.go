package halting

import (
	"fmt"
	"strings"
)

// MaxSteps is the maximum number of steps that a policy may be given: a graph contains every step. Only [Length] without a maximum takes
// more, as many as the source has positions.
const MaxSteps = 1000

// leastThreshold is far below any useful threshold, and far above those of which 1 - threshold is 1 in float64.
const leastThreshold = 1e-9

// An Exit makes a trained model stop earlier, or later, for one call and without training: by a step limit, a lower threshold, an exact
// number of steps, or a rule that looks at what the model would answer. The zero value changes nothing.
type Exit struct {
	Steps     int     // maximum number of steps of a position; 0, or a value above the trained limit, changes nothing
	Threshold float64 // positions halt once their p sum to more than this, which must be less than in training; 0: as trained. Adaptive policies only
	Fixed     int     // every position runs exactly this number of steps and the last state is the output, under every policy; 0: as the policy decides

	// EncoderSteps and DecoderSteps are Fixed for one stack of a model that has both, or for the stack that it has; 0: as the other
	// fields say. They are read by models, not by policies.
	EncoderSteps, DecoderSteps int
	// Rule ends the positions of the stack that is read out: of the decoder or, in a classifier or a pointer, of the encoder. nil: none.
	// It is read by models, not by policies.
	Rule Rule
}

// String describes the exit, such as "at most 4 steps, confidence of at least 0.9"; "" for the zero value.
func (e Exit) String() string {
	var parts []string
	for _, n := range []struct {
		steps  int
		format string
	}{{e.Steps, "at most %d steps"}, {e.Fixed, "%d fixed steps"}, {e.EncoderSteps, "%d encoder steps"}, {e.DecoderSteps, "%d decoder steps"}} {
		if n.steps > 0 {
			text := fmt.Sprintf(n.format, n.steps)
			if n.steps == 1 {
				text = strings.TrimSuffix(text, "s")
			}
			parts = append(parts, text)
		}
	}
	if e.Threshold > 0 {
		parts = append(parts, fmt.Sprintf("halting threshold %v", e.Threshold))
	}
	if e.Rule != nil {
		parts = append(parts, e.Rule.String())
	}
	return strings.Join(parts, ", ")
}

// Validate returns an error that names the first invalid field, its value, and valid values.
func (e Exit) Validate() error {
	for _, n := range []struct {
		name  string
		steps int
	}{{"steps", e.Steps}, {"fixed", e.Fixed}, {"encoder_steps", e.EncoderSteps}, {"decoder_steps", e.DecoderSteps}} {
		if n.steps < 0 {
			return fmt.Errorf("exit %s is %d: give at least 1, or 0 to run as trained", n.name, n.steps)
		}
		if n.steps > MaxSteps {
			return fmt.Errorf("exit %s is %d: at most %d steps can be run", n.name, n.steps, MaxSteps)
		}
	}
	switch {
	case e.Threshold < 0 || e.Threshold != e.Threshold:
		return fmt.Errorf("exit threshold is %v: give a number above 0, or 0 to halt as trained", e.Threshold)
	case e.Threshold > 0 && e.Threshold < leastThreshold:
		return fmt.Errorf("exit threshold is %v: give at least %v, with which positions halt after 1 step, or 0 to halt as trained", e.Threshold, leastThreshold)
	case e.Fixed > 0 && (e.Steps > 0 || e.Threshold > 0):
		return fmt.Errorf("exit fixed is %d, but a limit or a threshold is also given: give only one of them", e.Fixed)
	case e.Fixed > 0 && (e.EncoderSteps > 0 || e.DecoderSteps > 0):
		return fmt.Errorf("exit fixed is %d, but steps of the encoder or the decoder are also given: give only one of them", e.Fixed)
	case e.Rule != nil:
		if err := e.Rule.Validate(); err != nil {
			return fmt.Errorf("exit %s: %w", e.Rule.Name(), err)
		}
	}
	return nil
}

// apply returns p with the exit. It handles what is the same for all policies; changed returns the policy with another limit or
// threshold.
func (e Exit) apply(p Policy, changed func() (Policy, error)) (Policy, error) {
	if err := e.Validate(); err != nil {
		return nil, err
	}
	switch {
	case e.Fixed > 0:
		return Fixed{Steps: e.Fixed}, nil
	case e.Steps == 0 && e.Threshold == 0:
		return p, nil
	}
	return changed()
}

// withoutThreshold returns an error if there is a threshold, for policies of this package that are not adaptive.
func (e Exit) withoutThreshold(what string) error {
	if e.Threshold > 0 {
		return fmt.Errorf("exit threshold is %v, but a model of %s does not halt by itself: limit its steps instead", e.Threshold, what)
	}
	return nil
}

// Limited implements WithExit for a policy p without a threshold that takes at most limit steps: limited returns p with another limit.
func (e Exit) Limited(p Policy, limit int, limited func(limit int) Policy) (Policy, error) {
	return e.apply(p, func() (Policy, error) {
		if e.Threshold > 0 {
			return nil, fmt.Errorf("exit threshold is %v, but halting policy %T has no threshold that can be changed: limit its steps instead", e.Threshold, p)
		}
		return limited(min(limit, e.Steps)), nil
	})
}

// WithExit returns the same policy with fewer steps.
func (f Fixed) WithExit(e Exit) (Policy, error) {
	return e.apply(f, func() (Policy, error) {
		return Fixed{Steps: min(f.Steps, e.Steps)}, e.withoutThreshold("fixed depth")
	})
}

// WithExit returns fixed depth with fewer steps.
func (f Random) WithExit(e Exit) (Policy, error) {
	return e.apply(f, func() (Policy, error) {
		return Fixed{Steps: min(f.MaxSteps, e.Steps)}, e.withoutThreshold("fixed depth")
	})
}

// WithExit returns the same policy with a smaller maximum.
func (l Length) WithExit(e Exit) (Policy, error) {
	return e.apply(l, func() (Policy, error) {
		if l.Max == 0 || e.Steps < l.Max {
			l.Max = e.Steps
		}
		return l, e.withoutThreshold("depth by length")
	})
}

// WithExit returns the same policy with a lower limit or threshold.
func (a Listing) WithExit(e Exit) (Policy, error) {
	return e.apply(a, func() (Policy, error) {
		act, err := a.ACT.withExit(e)
		return Listing{act}, err
	})
}

// WithExit returns the same policy with a lower limit or threshold.
func (a Graves) WithExit(e Exit) (Policy, error) {
	return e.apply(a, func() (Policy, error) {
		act, err := a.ACT.withExit(e)
		return Graves{act}, err
	})
}

// WithExit returns the same policy with a lower limit or threshold.
func (a Frozen) WithExit(e Exit) (Policy, error) {
	return e.apply(a, func() (Policy, error) {
		act, err := a.ACT.withExit(e)
		return Frozen{act}, err
	})
}

// withExit returns the halting unit with another limit and threshold.
func (a ACT) withExit(e Exit) (ACT, error) {
	if e.Steps > 0 {
		a.MaxSteps = min(a.MaxSteps, e.Steps)
	}
	if trained := 1 - a.Epsilon; e.Threshold >= trained {
		return a, fmt.Errorf("exit threshold is %v: it must be below %v, at which the model was trained to halt", e.Threshold, trained)
	}
	if e.Threshold > 0 {
		a.Epsilon = 1 - e.Threshold
	}
	return a, nil
}
