// Package significance has what tests of significance need beyond means and deviations.
package significance

import (
	"cmp"
	"math"
	"slices"
)

// Holm returns the p-values of several comparisons, corrected by the procedure of Holm (1979): the i-th smallest of n times n-i, i from 0, at most 1
// and at least that of the one before. NaN, where there is no test, remains and does not count.
func Holm(p []float64) []float64 {
	var order []int
	for i, v := range p {
		if !math.IsNaN(v) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	corrected, largest := slices.Clone(p), 0.0
	for rank, i := range order {
		largest = max(largest, min(1, float64(len(order)-rank)*p[i]))
		corrected[i] = largest
	}
	return corrected
}

// StudentTwoSided returns the probability that Student's t with the given degrees of freedom is at least |t| away from 0.
func StudentTwoSided(t, freedom float64) float64 {
	return incompleteBeta(freedom/2, 0.5, freedom/(freedom+t*t))
}

// A Sample is n values with their mean and their sample standard deviation.
type Sample struct {
	Mean, Deviation float64
	N               int
}

// rounding is the deviation, relative to the mean, that equal values may have.
const rounding = 1e-9

// SampleOf returns the mean and the standard deviation of values. The deviation is that of a sample, NaN for fewer than two values.
func SampleOf(values []float64) Sample {
	s := Sample{N: len(values)}
	for _, v := range values {
		s.Mean += v
	}
	s.Mean /= float64(s.N)
	for _, v := range values {
		s.Deviation += (v - s.Mean) * (v - s.Mean)
	}
	s.Deviation = math.Sqrt(s.Deviation / float64(s.N-1)) // 0/0 is NaN
	return s
}

// Constant reports whether the values of a sample do not differ.
func (s Sample) Constant() bool { return s.Deviation <= rounding*math.Abs(s.Mean) }

// Welch returns the p-value of Welch's t-test of equal means. ok is false, and there is no test, with fewer than two values in a sample, and if the
// values of neither sample differ.
func Welch(a, b Sample) (p float64, ok bool) {
	if a.N < 2 || b.N < 2 || a.Constant() && b.Constant() {
		return math.NaN(), false
	}
	x, y := a.Deviation*a.Deviation/float64(a.N), b.Deviation*b.Deviation/float64(b.N)
	freedom := (x + y) * (x + y) / (x*x/float64(a.N-1) + y*y/float64(b.N-1))
	return StudentTwoSided((a.Mean-b.Mean)/math.Sqrt(x+y), freedom), true
}

// Fisher returns the two-sided p-value of Fisher's exact test of equal shares: a of m examples against b of n. It adds up the hypergeometric
// probabilities that are at most that of a and b, up to rounding. ok is false, and there is no test, if all examples of both are right, or none.
func Fisher(a, m, b, n int) (p float64, ok bool) {
	right := a + b
	if right == 0 || right == m+n {
		return math.NaN(), false
	}
	observed := logHypergeometric(a, m, right, n)
	for k := max(0, right-n); k <= min(right, m); k++ {
		if l := logHypergeometric(k, m, right, n); l <= observed+rounding {
			p += math.Exp(l)
		}
	}
	return min(1, p), true
}

// logHypergeometric returns the logarithm of the probability that k of the right examples are among m and the others among n.
func logHypergeometric(k, m, right, n int) float64 {
	return logBinomial(m, k) + logBinomial(n, right-k) - logBinomial(m+n, right)
}

func logBinomial(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}

// incompleteBeta returns the regularized incomplete beta function I_x(a, b), by its continued fraction (Numerical Recipes, section 6.4).
func incompleteBeta(a, b, x float64) float64 {
	if x <= 0 || x >= 1 {
		return min(max(x, 0), 1)
	}
	if x > (a+1)/(a+b+2) {
		return 1 - incompleteBeta(b, a, 1-x)
	}
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	lab, _ := math.Lgamma(a + b)
	front := math.Exp(lab-la-lb+a*math.Log(x)+b*math.Log(1-x)) / a
	return front * betaFraction(a, b, x)
}

// betaFraction returns the continued fraction of the incomplete beta function, by Lentz's method.
func betaFraction(a, b, x float64) float64 {
	const tiny, precision, iterations = 1e-300, 1e-14, 500
	atLeast := func(v float64) float64 {
		if math.Abs(v) < tiny {
			return tiny
		}
		return v
	}
	c, d := 1.0, 1/atLeast(1-(a+b)*x/(a+1))
	result := d
	for i := 1; i < iterations; i++ {
		m := float64(i)
		for _, term := range []float64{m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m)), -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))} {
			d = 1 / atLeast(1+term*d)
			c = atLeast(1 + term/c)
			result *= d * c
		}
		if math.Abs(d*c-1) < precision {
			break
		}
	}
	return result
}
