package halting

import "fmt"

// MaxSteps is the maximum number of steps of any policy: a graph contains every step.
const MaxSteps = 1000

// An Exit makes a trained model stop earlier, or later, for one call and without training: by a step limit, a lower threshold, or an
// exact number of steps. The zero value changes nothing.
type Exit struct {
	Steps     int     // maximum number of steps of a position; 0, or a value above the trained limit, changes nothing
	Threshold float64 // positions halt once their p sum to more than this, which must be less than in training; 0: as trained. Adaptive policies only
	Fixed     int     // every position runs exactly this number of steps and the last state is the output, under every policy; 0: as the policy decides
}

// apply returns p with the exit. It handles what is the same for all policies; changed returns the policy with another limit or
// threshold.
func (e Exit) apply(p Policy, changed func() (Policy, error)) (Policy, error) {
	switch {
	case e.Steps < 0:
		return nil, fmt.Errorf("exit steps is %d: give at least 1, or 0 to run as trained", e.Steps)
	case e.Fixed < 0:
		return nil, fmt.Errorf("exit fixed is %d: give at least 1, or 0 to run as trained", e.Fixed)
	case e.Threshold < 0 || e.Threshold != e.Threshold:
		return nil, fmt.Errorf("exit threshold is %v: give a number above 0, or 0 to halt as trained", e.Threshold)
	case max(e.Steps, e.Fixed) > MaxSteps:
		return nil, fmt.Errorf("exit steps is %d: at most %d steps can be run", max(e.Steps, e.Fixed), MaxSteps)
	case e.Fixed > 0 && (e.Steps > 0 || e.Threshold > 0):
		return nil, fmt.Errorf("exit fixed is %d, but a limit or a threshold is also given: give only one of them", e.Fixed)
	case e.Fixed > 0:
		return Fixed{Steps: e.Fixed}, nil
	case e == Exit{}:
		return p, nil
	}
	return changed()
}

// withoutThreshold returns an error if there is a threshold, for policies that are not adaptive.
func (e Exit) withoutThreshold(what string) error {
	if e.Threshold > 0 {
		return fmt.Errorf("exit threshold is %v, but a model of %s does not halt by itself: limit its steps instead", e.Threshold, what)
	}
	return nil
}

// Limited implements WithExit for a policy p without a threshold that takes at most limit steps: limited returns p with another limit.
func (e Exit) Limited(p Policy, limit int, limited func(limit int) Policy) (Policy, error) {
	return e.apply(p, func() (Policy, error) { return limited(min(limit, e.Steps)), e.withoutThreshold("this halting policy") })
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

// WithExit returns the same policy with a lower bound.
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
