package report

import (
	"fmt"
	"math"
	"testing"

	"universal-transformer/internal/score"
)

// Values of scipy.stats.ttest_ind(a, b, equal_var=False) and ttest_rel, and of Fisher's exact test in exact integers. Without two seeds of
// both models, a deviation or an example that one run has right and another wrong, there is no test. Caught when planted: a test of three
// seeds against one; the p-value 1 of proportions that are both 0; an exact test that counts as one over seeds; a deviation that comes from
// rounding alone.
func TestComparisons(t *testing.T) {
	for _, c := range []struct {
		got                      comparison
		difference, p, tolerance float64
		word, evidence           string
	}{
		{welch([]float64{40.26, 41.0, 41.1}, []float64{40.0, 40.1, 39.9}), 122.36/3 - 40, 0.0909649057898, 1e-9, "not distinguishable", "Welch's t-test, n = 3 and 3, p = 0.091"},
		{welch([]float64{1, 1}, []float64{2, 2.5, 3}), -1.5, 1 - math.Sqrt(27./29), 1e-9, "worse", "Welch's t-test, n = 2 and 3, p = 0.035"}, // t^2 = 27 with 2 degrees of freedom: p = 1 - t / sqrt(t^2 + 2)
		{welch([]float64{1, 1, 1}, []float64{0.5}), 0.5, math.NaN(), 0, "", "no test: n = 3 and 1"},
		{welch([]float64{0.25}, []float64{0.5, 0.75}), -0.375, math.NaN(), 0, "", "no test: n = 1 and 2"},
		{welch([]float64{1}, []float64{2}), -1, math.NaN(), 0, "", "no test: n = 1 and 1"},
		{welch([]float64{1, 1}, []float64{2, 2, 2}), -1, math.NaN(), 0, "", "no test: n = 2 and 3 without deviation"},
		{welch([]float64{0.007, 0.007, 0.007}, []float64{0.006, 0.006, 0.006}), 0.001, math.NaN(), 0, "", "no test: n = 3 and 3 without deviation"}, // their means are rounded
		{paired([]float64{1, 2, 3.5, 4}, []float64{1.5, 1, 3, 2}, "tasks"), 0.75, 0.245194, 1e-5, "not distinguishable", "paired t-test over tasks, n = 4, p = 0.25"},
		{paired([]float64{1}, []float64{2}, "tasks"), -1, math.NaN(), 0, "", "no test: n = 1"},
		{paired([]float64{3, 5, 7}, []float64{2, 3, 4}, "seeds"), 2, 1 - math.Sqrt(12./14), 1e-9, "not distinguishable", "paired t-test over seeds, n = 3, p = 0.074"}, // t^2 = 12
		{paired([]float64{3, 5}, []float64{2, 4}, "seeds"), 1, math.NaN(), 0, "", "no test: n = 2 without deviation"},
		{proportions(score.Accuracy{Correct: 60, Total: 100}, score.Accuracy{Correct: 50, Total: 100}), 0.1, 0.20070760013598077, 1e-9, "", "one run each; Fisher's exact test of these runs, n = 100 examples, p = 0.2"},
		{proportions(score.Accuracy{Correct: 600, Total: 1000}, score.Accuracy{Correct: 250, Total: 500}), 0.1, 0.000262061007671965, 1e-9, "", "one run each; Fisher's exact test of these runs, n = 1,000 and 500 examples, p < 0.001"},
		{proportions(score.Accuracy{Correct: 5, Total: 5}, score.Accuracy{Correct: 7, Total: 7}), 0, math.NaN(), 0, "", "no test: n = 1 and 1"},
		{proportions(score.Accuracy{Total: 1000}, score.Accuracy{Total: 1000}), 0, math.NaN(), 0, "", "no test: n = 1 and 1"},
	} {
		pAsWanted := math.Abs(c.got.p-c.p) <= c.tolerance || math.IsNaN(c.got.p) && math.IsNaN(c.p)
		if math.Abs(c.got.difference-c.difference) > 1e-9 || !pAsWanted || c.got.word() != c.word || c.got.evidence() != c.evidence {
			t.Errorf("%+v: %q, %q; want %v, p = %v, %q, %q", c.got, c.got.word(), c.got.evidence(), c.difference, c.p, c.word, c.evidence)
		}
	}
}

// Models are grouped by outcome: over seeds as better or worse, between one run each as ahead or behind.
func TestGrouped(t *testing.T) {
	var g grouped
	const welch, z = "Welch's t-test", "Fisher's exact test of these runs"
	for title, c := range map[string]comparison{
		"A": {difference: 1, p: .01, test: welch, n: "3 and 3"}, "B": {difference: -1, p: .0004, test: welch, n: "3 and 2", excepted: true}, "C": {difference: 1, p: .05, test: welch, n: "3 and 3"},
		"D": {difference: 1, p: .04, test: z, n: "9 examples", examples: true}, "E": {difference: -1, p: .04, test: z, n: "9 examples", examples: true},
		"F": {difference: -1, p: math.NaN(), test: noTest, n: "3 and 1", excepted: true},
	} {
		g.add(c, title, "%+.1f")
	}
	const want = "better than A (+1.0; Welch's t-test, n = 3 and 3, p = 0.01); worse than B (-1.0†; Welch's t-test, n = 3 and 2, p < 0.001); " +
		"ahead of D (+1.0; one run each; Fisher's exact test of these runs, n = 9 examples, p = 0.04); behind E (-1.0; one run each; Fisher's exact test of these runs, n = 9 examples, p = 0.04); " +
		"not distinguishable from C (+1.0; Welch's t-test, n = 3 and 3, p = 0.05); untested against F (-1.0†; no test: n = 3 and 1)"
	if g.String() != want {
		t.Errorf("%s\nwant %s", g, want)
	}
}

// Holm's correction by hand: .01, .02 and .04 over seeds become .03, .04 and .04; .01 and .03 over examples .02 and .03. Caught when planted: one
// family of all five; comparisons without a test counted.
func TestCorrect(t *testing.T) {
	list := []comparison{
		{p: .02, test: "t"}, {p: .01, test: "z", examples: true}, {p: math.NaN(), test: noTest}, {p: .04, test: "t"}, {p: .03, test: "z", examples: true}, {p: .01, test: "t"},
		{p: math.NaN(), test: noTest},
	}
	correct(list, func(c *comparison) *comparison { return c })
	var all []compared
	for i, want := range []float64{.04, .02, math.NaN(), .04, .03, .03, math.NaN()} {
		if got := list[i].p; !(math.Abs(got-want) < 1e-12) && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("comparison %d: p = %v, want %v", i, got, want)
		}
		all = append(all, compared{comparison: list[i]})
	}
	for want, list := range map[string][]compared{
		"3 tests over seeds and apart from these for 2 exact tests": all, "1 test over seeds": all[2:4], "1 exact test": all[1:3], "": all[2:3],
	} {
		if got := families(list); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// By hand: 1, 2 and 6 have mean 3 and deviation sqrt(14/2).
func TestMoments(t *testing.T) {
	if mean, deviation := moments([]float64{1, 2, 6}); mean != 3 || math.Abs(deviation-math.Sqrt(7)) > 1e-12 {
		t.Errorf("%v, %v", mean, deviation)
	}
	if _, deviation := moments([]float64{4}); !math.IsNaN(deviation) {
		t.Errorf("one value has deviation %v", deviation)
	}
}

func TestWords(t *testing.T) {
	for want, got := range map[string]string{
		"task 3": numbered([]int{3}), "tasks 7 and 8": numbered([]int{7, 8}), "tasks 1, 3 to 5, 19 and 20": numbered([]int{1, 3, 4, 5, 19, 20}),
		"1 seed": count(1, "seed"), "999 updates": count(999, "update"), "1,000,234 updates": count(1000234, "update"), "a, b and c": and([]string{"a", "b", "c"}),
		"p = 0.058": probability(0.0581), "p < 0.001": probability(0.0001), "0.997": fmt.Sprintf("%.3f", rounded(0.99651, "%.3f")), "1.0": fmt.Sprintf("%.1f", rounded(0.9966, "%.1f")),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Differences that are equal but for rounding have no test, and those that round to zero no minus. Caught when planted: a deviation above
// zero enough; a sign of its own for zero.
func TestEqualDifferences(t *testing.T) {
	if c := paired([]float64{0.3, 0.7, 1.1}, []float64{0.2, 0.6, 1.0}, "tasks"); c.test != noTest || !math.IsNaN(c.p) {
		t.Errorf("%+v", c)
	}
	if c := paired([]float64{0.3, 0.7, 1.2}, []float64{0.2, 0.6, 1.0}, "tasks"); c.test == noTest || math.IsNaN(c.p) {
		t.Errorf("%+v", c)
	}
	for want, c := range map[string]comparison{"+0.00": {difference: -0.004}, "-0.01†": {difference: -0.006, excepted: true}, "+0.01": {difference: 0.006}} {
		if got := c.gap("%+.2f"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Of two degrees of freedom, P(|T| > t) = 1 - t / sqrt(t^2 + 2). By hand: 1, 2 and 3 have the mean 2 and the deviation 1, so against 4 t is
// -2 sqrt(3). Caught when planted: the deviation of a value in place of the mean's; the sign.
func TestOneSample(t *testing.T) {
	statistic, p, ok := oneSample([]float64{1, 2, 3}, 4)
	if want := 1 - math.Sqrt(12./14); !ok || math.Abs(statistic+2*math.Sqrt(3)) > 1e-12 || math.Abs(p-want) > 1e-9 {
		t.Errorf("t = %v, p = %v, want %v, %v; %v", statistic, p, -2*math.Sqrt(3), want, ok)
	}
	for _, list := range [][]float64{nil, {1}, {1, 1}} {
		if _, _, ok := oneSample(list, 4); ok {
			t.Errorf("%v has a test", list)
		}
	}
}
