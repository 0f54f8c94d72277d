package evaluation

import (
	"math"
	"testing"

	"github.com/gomlx/gomlx/core/tensors"
)

// Two batches with padding, each sequence divided into tenths of its own: expected values from the definition. Caught when planted: padding
// counted, tenths of the padded length, a variance for a deviation.
func TestStepsOfPositions(t *testing.T) {
	var c counter
	c.add(tensors.FromValue([]int32{0})) // no stack
	if c.steps() != nil {
		t.Errorf("of nothing %+v", c.steps())
	}
	c.add(tensors.FromValue([][]int32{{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0, 0}, {3, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}}))
	c.add(tensors.FromValue([][]int32{{7, 7, 7}}))
	all := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 3, 5, 7, 7, 7}
	sum, squares := 0.0, 0.0
	for _, n := range all {
		sum += n
	}
	for _, n := range all {
		squares += (n - sum/15) * (n - sum/15)
	}
	s := c.steps()
	if math.Abs(s.Mean-sum/15) > 1e-12 || math.Abs(s.Deviation-math.Sqrt(squares/15)) > 1e-12 {
		t.Errorf("%v ± %v, want %v ± %v", s.Mean, s.Deviation, sum/15, math.Sqrt(squares/15))
	}
	// the second sequence is in tenths 1 and 6, the third in 1, 4 and 7
	if want := [10]float64{(1 + 3 + 7) / 3.0, 2, 3, (4 + 7) / 2.0, 5, (6 + 5) / 2.0, (7 + 7) / 2.0, 8, 9, 10}; tenths(s) != want {
		t.Errorf("tenths %v, want %v", s.Tenths, want)
	}
}

// tenths returns the means of the tenths; -1 for a tenth without positions.
func tenths(s *Steps) (list [10]float64) {
	for i, tenth := range s.Tenths {
		if list[i] = -1; tenth != nil {
			list[i] = *tenth
		}
	}
	return list
}

// Short sequences leave tenths without positions, which are not 0.
func TestEmptyTenths(t *testing.T) {
	var c counter
	c.add(tensors.FromValue([][]int32{{2, 3}, {4, 1}}))
	if want := [10]float64{3, -1, -1, -1, -1, 2, -1, -1, -1, -1}; tenths(c.steps()) != want {
		t.Errorf("%v, want %v", tenths(c.steps()), want)
	}
}
