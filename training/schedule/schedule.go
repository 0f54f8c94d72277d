// Package schedule holds the configuration of training: the number of updates, the optimizer, learning-rate schedules, intervals, and
// criteria for stopping. It runs nothing, so that a configuration can be read and checked without the training loop.
package schedule

import (
	"fmt"
	"math"
)

// Schedule determines the learning rate of every step. Its implementations are [Constant], [InverseSquareRoot] and [Cosine].
type Schedule interface {
	// Rate returns the learning rate of a step, counted from 1, out of steps, for a model of the given width.
	Rate(step, steps int64, width int) float64
	// Validate returns an error that names the first invalid field, its value, and valid values.
	Validate() error
	// Halved returns a schedule field and half its value, or the lowest valid one if that is higher, to suggest a lower learning rate.
	Halved() (field string, value float64)
}

// Rate returns the learning rate of an update, counted from 1. It returns an error unless the rate is at least 0, and finite in float32.
func (c Config) Rate(update int64) (float64, error) {
	rate := c.Schedule.Rate(update, c.Steps, c.Width)
	if x := computed(rate); !(x >= 0) || math.IsInf(x, 0) {
		return 0, fmt.Errorf("update %d: the learning rate of %T is %s: it must be finite and at least 0", update, c.Schedule, asComputed(rate))
	}
	return rate, nil
}

// Constant is a constant learning rate.
type Constant struct {
	LearningRate float64 `json:"rate"` // learning rate of every update
}

// Rate returns c.LearningRate.
func (c Constant) Rate(int64, int64, int) float64 { return c.LearningRate }

// Halved returns half the rate.
func (c Constant) Halved() (string, float64) { return "rate", c.LearningRate / 2 }

// Validate rejects a rate that is not positive and finite.
func (c Constant) Validate() error {
	return positive("rate", c.LearningRate)
}

// InverseSquareRoot is the authors' schedule: a linear warm-up, followed by decay with the inverse square root of the step,
//
//	factor * min(1, s/warmup) / sqrt(max(s, warmup)) / sqrt(width)
//
// with factor 2 and warmup 8000 in their settings; s counts from 0 there, from 1 here, so that the first update is not zero.
type InverseSquareRoot struct {
	Factor float64 `json:"factor"` // the rate is Factor / sqrt(width) / sqrt(update) after the warm-up; the authors use 2
	Warmup int64   `json:"warmup"` // updates of the warm-up
}

// Rate returns the formula above.
func (i InverseSquareRoot) Rate(step, _ int64, width int) float64 {
	s, w := float64(step), float64(max(i.Warmup, 1))
	return i.Factor * min(1, s/w) / math.Sqrt(max(s, w)) / math.Sqrt(float64(width))
}

// Halved returns half the factor.
func (i InverseSquareRoot) Halved() (string, float64) { return "factor", i.Factor / 2 }

// Validate rejects numbers that are not positive and finite.
func (i InverseSquareRoot) Validate() error {
	if i.Warmup < 1 {
		return fmt.Errorf("warmup is %d: it must be positive", i.Warmup)
	}
	return positive("factor", i.Factor)
}

// Cosine warms up linearly to the peak, then decays along half a cosine to the floor at the last update (Loshchilov and Hutter, 2017).
type Cosine struct {
	Peak   float64 `json:"peak"`            // learning rate after the warm-up
	Floor  float64 `json:"floor"`           // learning rate at the end
	Warmup int64   `json:"warmup"`          // updates of the warm-up
	Start  int64   `json:"start,omitempty"` // update after which the warm-up begins, from the floor, which is the rate until then; 0: at once, from 0
	End    int64   `json:"end,omitempty"`   // update at which the cosine reaches the floor, and stays there; 0: the last update
}

// Rate returns the learning rate of the warm-up or of the cosine.
func (c Cosine) Rate(step, steps int64, _ int) float64 {
	end := steps
	if c.End > 0 {
		end = min(c.End, steps)
	}
	step, end = step-c.Start, end-c.Start
	switch {
	case step <= 0:
		return c.Floor
	case step <= c.Warmup:
		from := 0.
		if c.Start > 0 {
			from = c.Floor
		}
		return from + (c.Peak-from)*float64(step)/float64(c.Warmup)
	}
	done := min(1, float64(step-c.Warmup)/float64(max(end-c.Warmup, 1)))
	return c.Floor + (c.Peak-c.Floor)*(1+math.Cos(math.Pi*done))/2
}

// Halved returns half the peak, or the floor if that is higher; half the floor if both are equal.
func (c Cosine) Halved() (string, float64) {
	if c.Floor == c.Peak {
		return "floor", c.Floor / 2
	}
	return "peak", max(c.Peak/2, c.Floor)
}

// Validate rejects a floor above the peak, and negative numbers.
func (c Cosine) Validate() error {
	if err := positive("peak", c.Peak); err != nil {
		return err
	}
	switch {
	case !(c.Floor >= 0 && c.Floor <= c.Peak):
		return fmt.Errorf("floor is %v: it must be from 0 to the peak, %v", c.Floor, c.Peak)
	case c.Warmup < 0:
		return fmt.Errorf("warmup is %d: it must not be negative", c.Warmup)
	case c.Start < 0:
		return fmt.Errorf("start is %d: it must be a step, or 0 to begin at once", c.Start)
	case c.End < 0 || c.End > 0 && c.End-c.Start <= c.Warmup: // the sum of start and warmup may overflow
		return fmt.Errorf("end is %d: it must be an update after start and warmup, %d, or 0 for the last update", c.End, uint64(c.Start)+uint64(c.Warmup))
	}
	return nil
}
