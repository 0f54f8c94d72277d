package recipes_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"universal-transformer/sweep"
)

// facts holds what results on the same data have in common: values that are equal, and values that are near one another.
type facts struct {
	equal  map[string]sample
	nearby map[string][]sample
}

// A sample is a value of a result.
type sample struct {
	of, text string
	value    float64
	factor   float64 // of the median
}

func newFacts() *facts { return &facts{map[string]sample{}, map[string][]sample{}} }

func (f *facts) clone() *facts { return &facts{maps.Clone(f.equal), maps.Clone(f.nearby)} }

// key names a value of the results on the same data: the first word of their family, their column and data.
func key(r sweep.Result, what string) string {
	word, _, _ := strings.Cut(r.Family(), "-")
	return strings.Join([]string{word, r.Column(), r.Data, what}, "|")
}

// same returns an error if an earlier result has another value of what is named.
func (f *facts) same(r sweep.Result, what string, value any) error {
	k, text := key(r, what), fmt.Sprint(value)
	if _, ok := f.equal[k]; !ok {
		f.equal[k] = sample{of: r.Name(), text: text}
	}
	if first := f.equal[k]; first.text != text {
		return fmt.Errorf("%s: %s, but %s in %s", what, text, first.text, first.of)
	}
	return nil
}

// near adds a value that differs by at most a factor from the median.
func (f *facts) near(r sweep.Result, what string, value, factor float64) {
	k := key(r, what)
	f.nearby[k] = append(slices.Clip(f.nearby[k]), sample{r.Name(), what, value, factor})
}

// outliers returns an error for every value that is too far from the median.
func (f *facts) outliers() (found []error) {
	for _, k := range slices.Sorted(maps.Keys(f.nearby)) {
		var values []float64
		for _, s := range f.nearby[k] {
			values = append(values, s.value)
		}
		slices.Sort(values)
		median := values[len(values)/2]
		for _, s := range f.nearby[k] {
			if s.value > median*s.factor || s.value < median/s.factor {
				found = append(found, fmt.Errorf("%s: %s is %v, more than a factor of %v from the median, %v", s.of, s.text, s.value, s.factor, median))
			}
		}
	}
	return found
}
