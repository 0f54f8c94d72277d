package pipeline

import (
	"errors"
	"math"
)

// errNotFinite is the error of texts for which the model computes numbers that are not finite. Package decoding has an error of its own.
var errNotFinite = errors.New("the model computes numbers that are not finite: its weights are damaged")

// checkFinite returns errNotFinite unless all numbers are finite.
func checkFinite(numbers []float64) error {
	for _, v := range numbers {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return errNotFinite
		}
	}
	return nil
}
