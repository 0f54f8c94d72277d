package report

import (
	"fmt"
	"math"
	"strings"

	"universal-transformer/internal/score"
	"universal-transformer/internal/significance"
)

// moments returns the mean and the sample standard deviation, which is NaN for fewer than two values.
func moments(values []float64) (mean, deviation float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	if len(values) < 2 {
		return mean, math.NaN()
	}
	for _, v := range values {
		deviation += (v - mean) * (v - mean) / float64(len(values)-1)
	}
	return mean, math.Sqrt(deviation)
}

func mean(values []float64) float64 {
	m, _ := moments(values)
	return m
}

// A comparison compares a model with another one by a statistical test.
type comparison struct {
	difference float64 // model minus other
	p          float64 // two-sided; NaN if there is no test
	test       string  // with its n: "Welch's t-test, n = 3 and 3"
	examples   bool    // the test is over the test examples of one run each, and says nothing about other seeds
}

// level is the p-value below which a difference counts.
const level = 0.05

// above and below report whether the model is distinguishably better or worse than the other; higher is better.
func (c comparison) above() bool { return c.p < level && c.difference > 0 }
func (c comparison) below() bool { return c.p < level && c.difference < 0 }

// word returns "better", "worse" or "not distinguishable"; higher is better.
func (c comparison) word() string {
	switch {
	case c.above():
		return "better"
	case c.below():
		return "worse"
	}
	return "not distinguishable"
}

// evidence returns the difference and the test: "+0.015; Welch's t-test, n = 3 and 3, p = 0.04".
func (c comparison) evidence(format string) string {
	text := fmt.Sprintf(format, c.difference)
	if math.IsNaN(c.p) {
		return text + "; " + c.test
	}
	return fmt.Sprintf("%s; %s, %s", text, c.test, probability(c.p))
}

// probability returns "p = 0.04".
func probability(p float64) string {
	if p < 0.001 {
		return "p < 0.001"
	}
	return fmt.Sprintf("p = %.2g", p)
}

// welch compares the means of two samples of seeds by Welch's t-test.
func welch(a, b []float64) comparison {
	meanA, deviationA := moments(a)
	meanB, deviationB := moments(b)
	c := comparison{difference: meanA - meanB, p: math.NaN(), test: tooFew(len(a), len(b))}
	if len(a) < 2 || len(b) < 2 {
		return c
	}
	c.test = fmt.Sprintf("Welch's t-test, n = %d and %d", len(a), len(b))
	x, y := deviationA*deviationA/float64(len(a)), deviationB*deviationB/float64(len(b))
	if x+y == 0 {
		c.test += ", no deviation"
		return c
	}
	freedom := (x + y) * (x + y) / (x*x/float64(len(a)-1) + y*y/float64(len(b)-1))
	c.p = significance.StudentTwoSided(c.difference/math.Sqrt(x+y), freedom)
	return c
}

// tooFew says that two numbers of runs are too few for a test.
func tooFew(a, b int) string { return fmt.Sprintf("n = %d and %d, too few for a test", a, b) }

// seedTest compares two models by their seeds: by Welch's t-test, or where one of them has a single run, by the t-test of one value against a
// sample (Crawford and Howell, 1998). p is NaN if both have a single run, or if the seeds do not differ.
func seedTest(a, b []float64) comparison {
	switch {
	case len(a) > 1 && len(b) == 1:
		return single(a, b[0], 1)
	case len(a) == 1 && len(b) > 1:
		return single(b, a[0], -1)
	}
	return welch(a, b)
}

// single compares a sample with a single value: t = (mean - value) / (s sqrt(1 + 1/n)). sign is -1 if the single value is the model's.
func single(sample []float64, value, sign float64) comparison {
	m, deviation := moments(sample)
	n := float64(len(sample))
	c := comparison{difference: sign * (m - value), p: math.NaN(), test: fmt.Sprintf("t-test of a single run, n = %d and 1", len(sample))}
	if sign < 0 {
		c.test = fmt.Sprintf("t-test of a single run, n = 1 and %d", len(sample))
	}
	if deviation == 0 {
		c.test += ", no deviation"
		return c
	}
	c.p = significance.StudentTwoSided((m-value)/(deviation*math.Sqrt(1+1/n)), n-1)
	return c
}

// paired compares two models by their values on the same tasks, by the paired t-test.
func paired(a, b []float64) comparison {
	differences := make([]float64, len(a))
	for i := range a {
		differences[i] = a[i] - b[i]
	}
	m, deviation := moments(differences)
	c := comparison{difference: m, p: math.NaN(), test: fmt.Sprintf("paired t-test over tasks, n = %d", len(a))}
	if len(a) > 1 && deviation > 0 {
		c.p = significance.StudentTwoSided(m/(deviation/math.Sqrt(float64(len(a)))), float64(len(a)-1))
	}
	return c
}

// proportions compares the accuracies of two models on test examples by the two-proportion z-test.
func proportions(a, b score.Accuracy) comparison {
	c := comparison{difference: a.Value() - b.Value(), p: 1, examples: true, test: fmt.Sprintf("two-proportion z-test of one seed each, n = %s", examples(a.Total, b.Total))}
	pooled := float64(a.Correct+b.Correct) / float64(a.Total+b.Total)
	if spread := pooled * (1 - pooled) * (1/float64(a.Total) + 1/float64(b.Total)); spread > 0 {
		c.p = math.Erfc(math.Abs(c.difference) / math.Sqrt(2*spread))
	}
	return c
}

func examples(a, b int) string {
	if a == b {
		return count(a, "example")
	}
	return fmt.Sprintf("%s and %s", thousands(a), count(b, "example"))
}

// grouped holds the names of models by the outcome of a comparison.
type grouped struct{ better, worse, equal []string }

func (g *grouped) add(c comparison, text string) {
	switch {
	case c.above():
		g.better = append(g.better, text)
	case c.below():
		g.worse = append(g.worse, text)
	default:
		g.equal = append(g.equal, text)
	}
}

func (g grouped) empty() bool { return len(g.better)+len(g.worse)+len(g.equal) == 0 }

// String returns "better than A and B; worse than C".
func (g grouped) String() string {
	var parts []string
	for _, part := range []struct {
		words string
		list  []string
	}{{"better than ", g.better}, {"worse than ", g.worse}, {"not distinguishable from ", g.equal}} {
		if len(part.list) > 0 {
			parts = append(parts, part.words+strings.Join(part.list, ", "))
		}
	}
	return strings.Join(parts, "; ")
}
