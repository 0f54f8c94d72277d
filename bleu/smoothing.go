package bleu

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Smoothing determines the precision of an order of n-grams without a match (Chen and Cherry, WMT 2014). The zero value is
// Exponential. If no n-gram of any order matches, the score is 0 with every smoothing.
type Smoothing uint8

const (
	Exponential Smoothing = iota // "exp": the k-th order without a match counts 1/2^k matches
	Floor                        // "floor": the order counts SmoothingValue matches
	AddK                         // "add-k": SmoothingValue is added to matches and totals of all orders but the first
	Unsmoothed                   // "none": the precision is 0, and so is the score
)

var (
	smoothingNames = [...]string{Exponential: "exp", Floor: "floor", AddK: "add-k", Unsmoothed: "none"}
	usualValues    = [...]float64{Exponential: 0, Floor: 0.1, AddK: 1, Unsmoothed: 0} // 0: takes no value
)

// precisions returns the smoothed p_n in percent, and the number of orders before the first one without n-grams. counts and totals
// change by what AddK adds.
func (c Config) precisions(counts, totals [MaxOrder]float64) (precisions [MaxOrder]float64, reached int) {
	unmatched := 0
	for n := range MaxOrder {
		count, total := counts[n], totals[n]
		if total == 0 {
			break
		}
		reached = n + 1
		if count > 0 {
			precisions[n] = 100 * count / total
			continue
		}
		unmatched++
		switch c.Smoothing {
		case Exponential:
			precisions[n] = 100 / (math.Ldexp(1, unmatched) * total)
		case Floor:
			precisions[n] = 100 * c.smoothingValue() / total
		}
	}
	return precisions, reached
}

// smoothingValue returns the value that Floor and AddK use.
func (c Config) smoothingValue() float64 {
	if c.SmoothingValue == 0 {
		return usualValues[c.Smoothing]
	}
	return c.SmoothingValue
}

// Validate returns an error if the value is not one of the constants.
func (s Smoothing) Validate() error {
	return validName("smoothing", uint8(s), smoothingNames[:])
}

// String returns the name in signatures: "exp", "floor", "add-k" or "none".
func (s Smoothing) String() string { return nameOf("smoothing", uint8(s), smoothingNames[:]) }

// MarshalText writes the name.
func (s Smoothing) MarshalText() ([]byte, error) { return []byte(s.String()), s.Validate() }

// UnmarshalText reads the name.
func (s *Smoothing) UnmarshalText(text []byte) error {
	i, err := named("smoothing", string(text), smoothingNames[:])
	if err == nil {
		*s = Smoothing(i)
	}
	return err
}

// validName returns an error if a value of an enumeration has no name.
func validName(what string, value uint8, names []string) error {
	if int(value) >= len(names) {
		return fmt.Errorf("%s is %d: there are %d of them", what, value, len(names))
	}
	return nil
}

// nameOf returns the name of a value, or a description of an invalid one for errors.
func nameOf(what string, value uint8, names []string) string {
	if validName(what, value, names) != nil {
		return fmt.Sprintf("%s(%d)", what, value)
	}
	return names[value]
}

// named returns the value with a name.
func named(what, name string, names []string) (uint8, error) {
	if i := slices.Index(names, name); i >= 0 {
		return uint8(i), nil
	}
	last := len(names) - 1
	return 0, fmt.Errorf("%s is %q: use %s or %s", what, name, strings.Join(names[:last], ", "), names[last])
}
