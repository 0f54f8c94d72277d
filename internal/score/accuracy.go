package score

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"universal-transformer/internal/strictjson"
)

// An Accuracy is a number of correct trials and the number of trials.
type Accuracy struct{ Correct, Total int }

// Value returns Correct/Total, between 0 and 1, or NaN if Total is 0.
func (a Accuracy) Value() float64 {
	if a.Total == 0 {
		return math.NaN()
	}
	return float64(a.Correct) / float64(a.Total)
}

// Interval95 returns the 95 % Wilson score interval (E. B. Wilson, Probable Inference, the Law of Succession, and Statistical Inference,
// JASA 22 (1927), 209-212): with n = Total, p = Correct/n and z the 97.5 % quantile of the normal distribution, (p + z²/2n ± z
// sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n); 0 to 1 if there were no trials. It assumes independent trials. Tokens of one sequence are not
// independent, so their interval is too narrow.
func (a Accuracy) Interval95() (low, high float64) {
	if a.Total == 0 {
		return 0, 1
	}
	const z = 1.959963984540054
	n, p := float64(a.Total), a.Value()
	middle := p + z*z/(2*n)
	half := z * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	low, high = (middle-half)/(1+z*z/n), (middle+half)/(1+z*z/n)
	if a.Correct == 0 {
		low = 0 // exact, whatever rounding gives
	}
	if a.Correct == a.Total {
		high = 1
	}
	return low, high
}

// Plus returns the accuracy over both sets of trials.
func (a Accuracy) Plus(other Accuracy) Accuracy {
	return Accuracy{Correct: a.Correct + other.Correct, Total: a.Total + other.Total}
}

// String returns "0.9512 (0.9458..0.9561, 6659 of 7000)", or "none" if there were no trials.
func (a Accuracy) String() string {
	if a.Total == 0 {
		return "none"
	}
	low, high := a.Interval95()
	return fmt.Sprintf("%.4f (%.4f..%.4f, %d of %d)", a.Value(), low, high, a.Correct, a.Total)
}

type accuracyJSON struct {
	Right int      `json:"correct"`
	Total int      `json:"total"`
	Value *float64 `json:"value"` // null if total is 0
	Low   float64  `json:"low"`   // of the 95 % interval
	High  float64  `json:"high"`
}

// MarshalJSON writes {"correct": 9, "total": 10, "value": 0.9, "low": 0.59, "high": 0.98}; value is null if total is 0.
func (a Accuracy) MarshalJSON() ([]byte, error) {
	low, high := a.Interval95()
	j := accuracyJSON{Right: a.Correct, Total: a.Total, Low: low, High: high}
	if value := a.Value(); a.Total != 0 {
		j.Value = &value
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads the output of MarshalJSON strictly: both counts are needed, and the share and its interval must be those of the
// counts. Files of earlier versions may lack the interval.
func (a *Accuracy) UnmarshalJSON(data []byte) error {
	var c counts
	if err := strictjson.Decode(data, &c); err != nil {
		return err
	}
	got, err := c.accuracy()
	if err != nil {
		return err
	}
	if c.Correct == nil { // and Total, too
		return errors.New("correct or total is missing or null")
	}
	*a = got
	return nil
}

// Of returns the accuracy of one trial.
func Of(correct bool) Accuracy {
	a := Accuracy{Total: 1}
	if correct {
		a.Correct = 1
	}
	return a
}
