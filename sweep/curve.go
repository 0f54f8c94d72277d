package sweep

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"universal-transformer/internal/curves"
)

// A Curve holds validations of a run during training, in order. Cross entropies are in nats per token.
type Curve struct {
	Updates      []int64   `json:"updates"`
	Seconds      []float64 `json:"seconds,omitempty"`  // training time up to each; missing if the run recorded no times
	TrainingNats []float64 `json:"training,omitempty"` // mean cross entropy of the training batches before each, with dropout; missing in results of earlier versions
	Validation   []float64 `json:"validation"`         // cross entropy
}

// maxPoints is the largest number of points of a curve in a result, apart from that of the selected checkpoint.
const maxPoints = 40

// readCurve returns all validations of the run in a directory, up to a damaged one; nil if there are none.
func readCurve(dir string) *Curve {
	rows, _ := curves.Read(dir) // a result does not need its curve
	c, timed, training := &Curve{}, true, math.NaN()
	for _, r := range rows {
		nats, ok := r.Values["cross_entropy"]
		if ok && r.Split == "training" {
			training = nats
		}
		if r.Split != "validation" || !ok || len(c.Updates) > 0 && c.Updates[len(c.Updates)-1] == r.Step {
			continue
		}
		c.Updates, c.TrainingNats, c.Validation = append(c.Updates, r.Step), append(c.TrainingNats, training), append(c.Validation, nats)
		if timed = timed && r.Seconds != nil; timed {
			c.Seconds = append(c.Seconds, math.Round(*r.Seconds*1000)/1000)
		}
	}
	if len(c.Updates) == 0 {
		return nil
	}
	if !timed {
		c.Seconds = nil
	}
	if slices.ContainsFunc(c.TrainingNats, math.IsNaN) {
		c.TrainingNats = nil
	}
	return c
}

// thin returns the curve with at most maxPoints points, evenly chosen, with the last one, and the one of update best if there is one.
func (c *Curve) thin(best int64) *Curve {
	thinned, n := &Curve{}, len(c.Updates)
	for i, step := range c.Updates {
		if n > maxPoints && (i+1)*maxPoints/n == i*maxPoints/n && step != best {
			continue
		}
		thinned.Updates, thinned.Validation = append(thinned.Updates, step), append(thinned.Validation, c.Validation[i])
		if c.Seconds != nil {
			thinned.Seconds = append(thinned.Seconds, c.Seconds[i])
		}
		if c.TrainingNats != nil {
			thinned.TrainingNats = append(thinned.TrainingNats, c.TrainingNats[i])
		}
	}
	return thinned
}

// validate returns an error that names the first invalid field of the curve of a result.
func (c *Curve) validate(h Header) error {
	n := len(c.Updates)
	switch {
	case n == 0:
		return errors.New("updates are missing")
	case len(c.Validation) != n:
		return fmt.Errorf("validation has %d numbers of %d updates", len(c.Validation), n)
	case len(c.Seconds) != n && len(c.Seconds) != 0:
		return fmt.Errorf("seconds has %d numbers of %d updates", len(c.Seconds), n)
	case len(c.TrainingNats) != n && len(c.TrainingNats) != 0:
		return fmt.Errorf("training has %d numbers of %d updates", len(c.TrainingNats), n)
	}
	step, seconds := int64(-1), 0.0
	for i, at := range c.Updates {
		if at <= step || at > h.Step {
			return fmt.Errorf("updates[%d] is %d: it must be above the one before and at most step, %d", i, at, h.Step)
		}
		if v := c.Validation[i]; !(v >= 0) || math.IsInf(v, 0) {
			return fmt.Errorf("validation[%d] is %v: it must not be negative", i, v)
		}
		if c.TrainingNats != nil && (!(c.TrainingNats[i] >= 0) || math.IsInf(c.TrainingNats[i], 0)) {
			return fmt.Errorf("training[%d] is %v: it must not be negative", i, c.TrainingNats[i])
		}
		if at == h.BestStep && math.Abs(c.Validation[i]-h.Validation) > 1e-6*h.Validation {
			return fmt.Errorf("validation[%d] is %v, but validation is %v after the same update", i, c.Validation[i], h.Validation)
		}
		if step = at; c.Seconds != nil {
			if s := c.Seconds[i]; !(s >= seconds) || math.IsInf(s, 0) {
				return fmt.Errorf("seconds[%d] is %v: it must not be below the one before", i, s)
			}
			seconds = c.Seconds[i]
		}
	}
	if tolerance := 1 + h.Seconds/100; c.Seconds != nil && (seconds > h.Seconds+tolerance || step == h.Step && seconds < h.Seconds-tolerance) {
		return fmt.Errorf("seconds[%d] is %v, but seconds is %v", n-1, seconds, h.Seconds)
	}
	return nil
}

// curve returns the validations of a cell: those of its run, or those of its result if the run is gone; nil if there are none.
func (c Cell) curve() *Curve {
	if curve := readCurve(c.Dir()); curve != nil {
		return curve
	}
	r, _, _, err := c.Done()
	if err != nil || c.Changed(r) {
		return nil
	}
	return r.Curve
}
