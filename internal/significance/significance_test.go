package significance

import (
	"math"
	"testing"
)

// Values of scipy.stats.t.sf(t, df) * 2 (SciPy 1.17.1).
func TestStudentTwoSided(t *testing.T) {
	for _, c := range []struct{ t, freedom, want float64 }{
		{2.0, 3.0, 0.139325968559}, {-1.5, 1.0, 0.374334083622}, {0.0, 5.0, 1}, {12.0, 2.3, 0.00400791383823}, {0.3, 47.5, 0.765486146158}, {4.5, 120.0, 1.58255793986e-05},
	} {
		if got := StudentTwoSided(c.t, c.freedom); math.Abs(got-c.want) > 1e-10 {
			t.Errorf("t = %v with %v degrees of freedom: %v, want %v", c.t, c.freedom, got, c.want)
		}
	}
}

// Holm's example: 0.01, 0.04, 0.03 and 0.005 become 0.03, 0.06, 0.06 and 0.02.
func TestHolm(t *testing.T) {
	got := Holm([]float64{0.04, math.NaN(), 0.01, 0.03, 0.005})
	for i, want := range []float64{0.06, math.NaN(), 0.03, 0.06, 0.02} {
		if !(math.Abs(got[i]-want) < 1e-12) && !(math.IsNaN(got[i]) && math.IsNaN(want)) {
			t.Errorf("%v at %d, want %v", got[i], i, want)
		}
	}
}
