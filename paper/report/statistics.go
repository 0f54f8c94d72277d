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
	s := significance.SampleOf(values)
	return s.Mean, s.Deviation
}

func mean(values []float64) float64 {
	m, _ := moments(values)
	return m
}

// A comparison compares a model with another one by a statistical test.
type comparison struct {
	difference float64 // model minus other; higher is better
	p          float64 // two-sided; NaN without a test
	test       string  // its name: "Welch's t-test"; noTest without one
	n          string  // of the test, "3 and 3"; without one with the reason, "3 and 3 without deviation"
	examples   bool    // the test is over the test examples of one run each, and says nothing about other seeds
	excepted   bool    // the comparison breaks the rule of fair comparisons
}

// noTest is the name of a test that there is none.
const noTest = "no test"

// exception marks the difference from a model that breaks the rule of fair comparisons.
const exception = "†"

// level is the p-value below which a difference counts.
const level = 0.05

// tested reports whether there is a test over seeds, or over tasks. Only such comparisons count in verdicts.
func (c comparison) tested() bool { return !math.IsNaN(c.p) && !c.examples }

// better and worse report whether the model is distinguishable from the other over seeds.
func (c comparison) better() bool { return c.tested() && c.p < level && c.difference > 0 }
func (c comparison) worse() bool  { return c.tested() && c.p < level && c.difference < 0 }

// word returns "better", "worse" or "not distinguishable", or "" without a test over seeds.
func (c comparison) word() string {
	switch {
	case c.better():
		return "better"
	case c.worse():
		return "worse"
	case c.tested():
		return "not distinguishable"
	}
	return ""
}

// overSeeds returns a comparison of one run each without its test over the test examples.
func (c comparison) overSeeds() comparison {
	if c.examples {
		c.p, c.test, c.n, c.examples = math.NaN(), noTest, oneEach, false
	}
	return c
}

// gap returns the difference, with the mark of an exception: "+0.015†". A difference that rounds to zero has no sign but the plus.
func (c comparison) gap(format string) string {
	text := fmt.Sprintf(format, c.difference)
	if strings.Trim(text, "-0.") == "" {
		text = strings.Replace(text, "-", "+", 1)
	}
	if c.excepted {
		text += exception
	}
	return text
}

// evidence returns the test and its p-value: "Welch's t-test, n = 3 and 3, p = 0.04", "no test: n = 3 and 1".
func (c comparison) evidence() string {
	switch {
	case c.test == noTest:
		return noTest + ": n = " + c.n
	case c.examples:
		return fmt.Sprintf("one run each; %s, n = %s, %s", c.test, c.n, probability(c.p))
	}
	return fmt.Sprintf("%s, n = %s, %s", c.test, c.n, probability(c.p))
}

// probability returns "p = 0.04".
func probability(p float64) string {
	if p < 0.001 {
		return "p < 0.001"
	}
	return fmt.Sprintf("p = %.2g", p)
}

// welch compares the means of two samples of seeds by Welch's t-test. There is no test with fewer than two seeds of a model, and none if the seeds
// of neither differ.
func welch(a, b []float64) comparison {
	x, y := significance.SampleOf(a), significance.SampleOf(b)
	c := comparison{difference: x.Mean - y.Mean, p: math.NaN(), test: noTest, n: fmt.Sprintf("%d and %d", x.N, y.N)}
	if x.N < 2 || y.N < 2 {
		return c
	}
	p, ok := significance.Welch(x, y)
	if !ok {
		c.n += " without deviation"
		return c
	}
	c.test, c.p = "Welch's t-test", p
	return c
}

// oneSample compares the mean of a sample of seeds with a figure by the one-sample t-test. ok is false with fewer than two seeds, or if they do not
// differ.
func oneSample(list []float64, figure float64) (t, p float64, ok bool) {
	s := significance.SampleOf(list)
	if s.N < 2 || s.Constant() {
		return 0, 0, false
	}
	t = (s.Mean - figure) / (s.Deviation / math.Sqrt(float64(s.N)))
	return t, significance.StudentTwoSided(t, float64(s.N-1)), true
}

// oneEach is the n of a comparison of one run of each model.
const oneEach = "1 and 1"

// paired compares two models by their values on the same tasks or seeds, by the paired t-test. over is "tasks" or "seeds". There is no test
// with fewer than two pairs, and none if all have the same difference.
func paired(a, b []float64, over string) comparison {
	differences := make([]float64, len(a))
	for i := range a {
		differences[i] = a[i] - b[i]
	}
	s := significance.SampleOf(differences)
	c := comparison{difference: s.Mean, p: math.NaN(), test: noTest, n: fmt.Sprint(s.N)}
	switch {
	case s.N < 2:
	case s.Constant():
		c.n += " without deviation"
	default:
		c.test, c.p = "paired t-test over "+over, significance.StudentTwoSided(s.Mean/(s.Deviation/math.Sqrt(float64(s.N))), float64(s.N-1))
	}
	return c
}

// proportions compares the accuracies of one run of each of two models on test examples by Fisher's exact test. There is no test if both have all
// examples right, or none.
func proportions(a, b score.Accuracy) comparison {
	c := comparison{difference: a.Value() - b.Value(), p: math.NaN(), test: noTest, n: oneEach}
	if p, ok := significance.Fisher(a.Correct, a.Total, b.Correct, b.Total); ok {
		c.p, c.test, c.n, c.examples = p, "Fisher's exact test of these runs", examples(a.Total, b.Total), true
	}
	return c
}

func examples(a, b int) string {
	if a == b {
		return count(a, "example")
	}
	return fmt.Sprintf("%s and %s", thousands(a), count(b, "example"))
}

// grouped holds the names of models by the outcome of a comparison: over seeds, between one run each, or without a test.
type grouped struct{ better, worse, ahead, behind, equal, untested []string }

// add adds a comparison with a model: "LSTM (+0.015†; Welch's t-test, n = 3 and 3, p = 0.04)".
func (g *grouped) add(c comparison, title, format string) {
	list := &g.equal
	switch {
	case c.better():
		list = &g.better
	case c.worse():
		list = &g.worse
	case c.examples && c.p < level && c.difference > 0:
		list = &g.ahead
	case c.examples && c.p < level && c.difference < 0:
		list = &g.behind
	case c.test == noTest:
		list = &g.untested
	}
	*list = append(*list, fmt.Sprintf("%s (%s; %s)", title, c.gap(format), c.evidence()))
}

// String returns "better than A and B; worse than C".
func (g grouped) String() string {
	var parts []string
	for _, part := range []struct {
		words string
		list  []string
	}{
		{"better than ", g.better}, {"worse than ", g.worse}, {"ahead of ", g.ahead}, {"behind ", g.behind},
		{"not distinguishable from ", g.equal}, {"untested against ", g.untested},
	} {
		if len(part.list) > 0 {
			parts = append(parts, part.words+strings.Join(part.list, ", "))
		}
	}
	return strings.Join(parts, "; ")
}
