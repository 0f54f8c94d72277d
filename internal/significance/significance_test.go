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

// By hand: 2, 4, 4, 4, 5, 5, 7, 9 have the mean 5 and squared deviations of 32 in all. Equal values have no deviation, also where a sum of
// parts of them would have one. Caught when planted: n in place of n-1; each value divided by n before the sum.
func TestSampleOf(t *testing.T) {
	if s := SampleOf([]float64{2, 4, 4, 4, 5, 5, 7, 9}); s.Mean != 5 || math.Abs(s.Deviation-math.Sqrt(32.0/7)) > 1e-15 || s.N != 8 {
		t.Errorf("%+v", s)
	}
	if s := SampleOf([]float64{1, 1, 1, 1, 1, 1, 1}); s.Mean != 1 || s.Deviation != 0 {
		t.Errorf("equal values: %+v", s)
	}
	if s := SampleOf([]float64{0.25}); s.Mean != 0.25 || !math.IsNaN(s.Deviation) || s.N != 1 {
		t.Errorf("one value: %+v", s)
	}
}

// By hand: means .3 and .25 with deviations sqrt(.08) and sqrt(.005), n = 2: t = .05 / sqrt(.0425) = .24254 with .0425^2 / (.04^2 + .0025^2) =
// 1.12451 degrees of freedom; p by Simpson's rule from the density. Caught when planted: the deviation not squared; n in place of n-1.
func TestWelch(t *testing.T) {
	a, b := Sample{0.3, math.Sqrt(0.08), 2}, Sample{0.25, math.Sqrt(0.005), 2}
	if p, ok := Welch(a, b); !ok || math.Abs(p-0.8450283873936597) > 1e-9 {
		t.Errorf("%v, %v", p, ok)
	}
	for _, s := range []Sample{{0.3, 0, 1}, {}} {
		if p, ok := Welch(a, s); ok || !math.IsNaN(p) {
			t.Errorf("%+v: %v", s, p)
		}
	}
	if p, ok := Welch(Sample{0.3, 1e-12, 3}, Sample{0.4, 0, 3}); ok || !math.IsNaN(p) {
		t.Errorf("without deviation: %v", p)
	}
	if p, ok := Welch(a, Sample{0.25, 0, 2}); !ok || !(p > 0.8 && p < 0.9) { // t = .25 with one degree of freedom: p = 1 - 2/pi atan(.25)
		t.Errorf("one without deviation: %v", p)
	}
}

// By hand: Fisher's tea, 3 of 4 against 1 of 4, has the probabilities 1, 16, 36, 16, 1 of 70, of which all but the 36 count: 34/70; 3 of 1,000
// against none has 2 (1000 choose 3) / (2000 choose 3) = .249625. The other two are sums of binomial coefficients in exact integers. Caught when
// planted: one side; the observed table left out.
func TestFisher(t *testing.T) {
	for _, c := range []struct {
		a, m, b, n int
		want       float64
	}{
		{3, 4, 1, 4, 34.0 / 70}, {1, 4, 3, 4, 34.0 / 70}, {3, 1000, 0, 1000, 2 * (1000.0 * 999 * 998) / (2000.0 * 1999 * 1998)}, {2, 4, 2, 4, 1}, {10, 100, 30, 100, 0.000650410707603421},
		{2, 3, 0, 5, 3.0 / 28},
	} {
		if p, ok := Fisher(c.a, c.m, c.b, c.n); !ok || math.Abs(p-c.want) > 1e-9 {
			t.Errorf("%d of %d against %d of %d: %v, want %v", c.a, c.m, c.b, c.n, p, c.want)
		}
	}
	for _, right := range []int{0, 5} {
		if p, ok := Fisher(right, 5, right, 5); ok || !math.IsNaN(p) {
			t.Errorf("%d of 5 each: %v", right, p)
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
