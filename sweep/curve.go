package sweep

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"universal-transformer/internal/curves"
)

// A Curve holds validations of a run during training, in order. Cross entropies are in nats per token, errors are shares of sequences. Results of
// earlier versions lack some of the series.
type Curve struct {
	Updates          []int64   `json:"updates"`
	Seconds          []float64 `json:"seconds,omitempty"`         // training time up to each; missing if the run recorded no times
	TrainingNats     []float64 `json:"training,omitempty"`        // mean cross entropy of the training batches before each, with dropout
	Validation       []float64 `json:"validation"`                // cross entropy
	TrainingErrors   []float64 `json:"training_errors,omitempty"` // of the training batches before each, with dropout
	ValidationErrors []float64 `json:"validation_errors,omitempty"`
}

// A series is one of those that a curve may lack, with its name in a result.
type series struct {
	name   string
	values *[]float64
}

func (c *Curve) optional() []series {
	return []series{{"seconds", &c.Seconds}, {"training", &c.TrainingNats}, {"training_errors", &c.TrainingErrors}, {"validation_errors", &c.ValidationErrors}}
}

// maxPoints is the largest number of points of a curve in a result, apart from that of the selected checkpoint.
const maxPoints = 40

// readCurve returns all validations of the run in a directory, up to a damaged one; nil if there are none.
func readCurve(dir string) *Curve {
	rows, _ := curves.Read(dir) // a result does not need its curve
	c := &Curve{}
	training, trainingErrors := math.NaN(), math.NaN()
	for _, r := range rows {
		nats, ok := r.Values["cross_entropy"]
		if ok && r.Split == "training" {
			training, trainingErrors = nats, errorsOf(r)
		}
		if r.Split != "validation" || !ok || len(c.Updates) > 0 && c.Updates[len(c.Updates)-1] == r.Step {
			continue
		}
		c.Updates, c.Validation = append(c.Updates, r.Step), append(c.Validation, nats)
		c.TrainingNats, c.TrainingErrors, c.ValidationErrors = append(c.TrainingNats, training), append(c.TrainingErrors, trainingErrors), append(c.ValidationErrors, errorsOf(r))
		seconds := math.NaN()
		if r.Seconds != nil {
			seconds = math.Round(*r.Seconds*1000) / 1000
		}
		c.Seconds = append(c.Seconds, seconds)
	}
	if len(c.Updates) == 0 {
		return nil
	}
	for _, s := range c.optional() {
		if slices.ContainsFunc(*s.values, math.IsNaN) {
			*s.values = nil
		}
	}
	return c
}

// errorsOf returns the share of wrong sequences in a row of metrics, rounded to nine decimals; NaN if the row does not have it.
func errorsOf(r curves.Row) float64 {
	right, ok := r.Values["sequence_accuracy"]
	if !ok {
		return math.NaN()
	}
	return math.Round((1-right)*1e9) / 1e9
}

// thin returns the curve with at most maxPoints points, evenly chosen, with the last one, and the one of update best if there is one.
func (c *Curve) thin(best int64) *Curve {
	thinned, n := &Curve{}, len(c.Updates)
	for i, step := range c.Updates {
		if n > maxPoints && (i+1)*maxPoints/n == i*maxPoints/n && step != best {
			continue
		}
		thinned.Updates, thinned.Validation = append(thinned.Updates, step), append(thinned.Validation, c.Validation[i])
		for k, s := range c.optional() {
			if *s.values != nil {
				to := thinned.optional()[k].values
				*to = append(*to, (*s.values)[i])
			}
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
	}
	for _, s := range c.optional() {
		if k := len(*s.values); k != n && k != 0 {
			return fmt.Errorf("%s has %d numbers of %d updates", s.name, k, n)
		}
	}
	step := int64(-1)
	for i, at := range c.Updates {
		if at <= step || at > h.Step {
			return fmt.Errorf("updates[%d] is %d: it must be above the one before and at most step, %d", i, at, h.Step)
		}
		step = at
		if v := c.Validation[i]; at == h.BestStep && math.Abs(v-h.Validation) > 1e-6*h.Validation {
			return fmt.Errorf("validation[%d] is %v, but validation is %v after the same update", i, v, h.Validation)
		}
	}
	for _, s := range append(c.optional(), series{"validation", &c.Validation}) {
		for i, v := range *s.values {
			share := s.name == "training_errors" || s.name == "validation_errors"
			switch {
			case !(v >= 0) || math.IsInf(v, 0):
				return fmt.Errorf("%s[%d] is %v: it must not be negative", s.name, i, v)
			case share && v > 1:
				return fmt.Errorf("%s[%d] is %v: it must be at most 1", s.name, i, v)
			case s.name == "seconds" && i > 0 && v < c.Seconds[i-1]:
				return fmt.Errorf("seconds[%d] is %v: it must not be below the one before", i, v)
			}
		}
	}
	if c.Seconds == nil {
		return nil
	}
	if seconds, tolerance := c.Seconds[n-1], 1+h.Seconds/100; seconds > h.Seconds+tolerance || step == h.Step && seconds < h.Seconds-tolerance {
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
