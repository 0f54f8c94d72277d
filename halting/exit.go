package halting

import "fmt"

// MaxSteps bounds the steps of every policy: a graph has each step of its own.
const MaxSteps = 1000

// Exit changes when a trained model stops computing, call by call and without training: a step limit, a lower threshold, or
// exactly so many steps. The zero value changes nothing.
type Exit struct {
	Steps     int     // no position runs longer; 0: as trained. A limit above the trained one changes nothing
	Threshold float64 // positions halt once their p sum to more than this, less than trained; 0: as trained. Adaptive policies only
	Fixed     int     // every position runs exactly so many steps, its last state is the output, under every policy; 0: as the policy says
}

// of gives a policy with the exit. What is alike for all policies is done here; changed is the policy with another limit or threshold.
func (e Exit) of(p Policy, changed func() (Policy, error)) (Policy, error) {
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
		return nil, fmt.Errorf("exit fixed is %d, which leaves no choice to a limit or a threshold: give only one of them", e.Fixed)
	case e.Fixed > 0:
		return Fixed{Steps: e.Fixed}, nil
	case e == Exit{}:
		return p, nil
	}
	return changed()
}

// withoutThreshold is an error if there is a threshold, which a policy that is not adaptive has no use for.
func (e Exit) withoutThreshold(what string) error {
	if e.Threshold > 0 {
		return fmt.Errorf("exit threshold is %v, but a model of %s does not halt by itself: limit its steps instead", e.Threshold, what)
	}
	return nil
}

// WithExit gives the same policy with fewer steps.
func (f Fixed) WithExit(e Exit) (Policy, error) {
	return e.of(f, func() (Policy, error) {
		return Fixed{Steps: min(f.Steps, e.Steps)}, e.withoutThreshold("fixed depth")
	})
}

// WithExit gives the policy of fewer steps, all of them always.
func (f Random) WithExit(e Exit) (Policy, error) {
	return e.of(f, func() (Policy, error) {
		return Fixed{Steps: min(f.MaxSteps, e.Steps)}, e.withoutThreshold("fixed depth")
	})
}

// WithExit gives the same policy with a lower bound.
func (l Length) WithExit(e Exit) (Policy, error) {
	return e.of(l, func() (Policy, error) {
		if l.Max == 0 || e.Steps < l.Max {
			l.Max = e.Steps
		}
		return l, e.withoutThreshold("depth by length")
	})
}

// WithExit gives the same policy with a lower limit or threshold.
func (a Listing) WithExit(e Exit) (Policy, error) {
	return e.of(a, func() (Policy, error) {
		act, err := a.ACT.withExit(e)
		return Listing{act}, err
	})
}

// WithExit gives the same policy with a lower limit or threshold.
func (a Graves) WithExit(e Exit) (Policy, error) {
	return e.of(a, func() (Policy, error) {
		act, err := a.ACT.withExit(e)
		return Graves{act}, err
	})
}

// WithExit gives the same policy with a lower limit or threshold.
func (a Frozen) WithExit(e Exit) (Policy, error) {
	return e.of(a, func() (Policy, error) {
		act, err := a.ACT.withExit(e)
		return Frozen{act}, err
	})
}

// withExit gives the halting unit with another limit and threshold.
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
