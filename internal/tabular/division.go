package tabular

import "fmt"

// Defaults of the fields of a [Division].
const (
	defaultHeldOut   = 0.1
	defaultMaxLength = 1000
)

// A Division holds the fields that all tasks on rows have: which rows are held out, and which tokens and rows are used.
type Division struct {
	HeldOut             float64
	HeldOutPath         string
	MinCount, MaxLength int
}

// Validate returns an error that names the first invalid field.
func (d Division) Validate() error {
	switch {
	case !(d.HeldOut >= 0 && d.HeldOut < 1):
		return fmt.Errorf("held_out is %v: it must be a share between 0 and 1, or 0 for %v", d.HeldOut, defaultHeldOut)
	case d.HeldOut != 0 && d.HeldOutPath != "":
		return fmt.Errorf("held_out is %v and held_out_path is %q: give only one of them", d.HeldOut, d.HeldOutPath)
	case d.MinCount < 0:
		return fmt.Errorf("min_count is %d: it must be at least 1, or 0 for 1", d.MinCount)
	case d.MaxLength < 0:
		return fmt.Errorf("max_length is %d: it must be at least 1, or 0 for %d", d.MaxLength, defaultMaxLength)
	}
	return nil
}

// Resolved returns the division with the defaults filled in.
func (d Division) Resolved() Division {
	if d.HeldOut == 0 && d.HeldOutPath == "" {
		d.HeldOut = defaultHeldOut
	}
	d.MinCount = max(d.MinCount, 1)
	if d.MaxLength == 0 {
		d.MaxLength = defaultMaxLength
	}
	return d
}

// Shares returns the share of a file that chooses a checkpoint, and the share of all that is not for training: half of what is held out each
// or, if another file is held out, the default for the checkpoint alone.
func (d Division) Shares() (validation, held float64) {
	if d.HeldOutPath != "" {
		return defaultHeldOut, defaultHeldOut
	}
	return d.HeldOut / 2, d.HeldOut
}
