package score

import (
	"errors"
	"fmt"
	"math"
)

// counts are the counts of an accuracy in JSON, and what follows from them. A nil field is missing or null.
type counts struct {
	Correct *int     `json:"correct"`
	Total   *int     `json:"total"`
	Value   *float64 `json:"value"`
	Low     *float64 `json:"low"`
	High    *float64 `json:"high"`
}

// tolerance is the largest difference between a share in a file and that of its counts.
const tolerance = 1e-9

// accuracy returns the accuracy, which is zero without counts. It is an error if a field does not follow from the counts.
func (c counts) accuracy() (Accuracy, error) {
	if c.Correct == nil && c.Total == nil {
		if c.Low != nil || c.High != nil {
			return Accuracy{}, errors.New("low and high are given without correct and total")
		}
		return Accuracy{}, nil
	}
	if c.Correct == nil || c.Total == nil {
		return Accuracy{}, errors.New("correct or total is missing or null")
	}
	a := Accuracy{Correct: *c.Correct, Total: *c.Total}
	if a.Correct < 0 || a.Total < a.Correct {
		return a, fmt.Errorf("correct is %d of %d", a.Correct, a.Total)
	}
	low, high := a.Interval95()
	for _, field := range []struct {
		name  string
		given *float64
		want  float64
		need  bool
	}{{"value", c.Value, a.Value(), true}, {"low", c.Low, low, false}, {"high", c.High, high, false}} {
		switch {
		case a.Total == 0 || !field.need && field.given == nil:
		case field.given == nil:
			return a, fmt.Errorf("%s is missing or null, but %d of %d are correct", field.name, a.Correct, a.Total)
		case !(math.Abs(*field.given-field.want) <= tolerance):
			return a, fmt.Errorf("%s is %v, but %d of %d are correct", field.name, *field.given, a.Correct, a.Total)
		}
	}
	return a, nil
}
