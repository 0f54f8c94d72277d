package report

import (
	"fmt"
	"math"
	"testing"

	"universal-transformer/internal/score"
)

// Values of scipy.stats.ttest_ind(a, b, equal_var=False) and of the two-proportion z-test by hand.
func TestComparisons(t *testing.T) {
	c := welch([]float64{40.26, 41.0, 41.1}, []float64{40.0, 40.1, 39.9})
	if math.Abs(c.p-0.0909649057898) > 1e-9 || math.Abs(c.difference-(122.36/3-40)) > 1e-9 || c.test != "Welch's t-test, n = 3 and 3" {
		t.Errorf("%+v", c)
	}
	if c := welch([]float64{1}, []float64{2, 3}); !math.IsNaN(c.p) || c.word() != "not distinguishable" || c.evidence("%+.1f") != "-1.5; n = 1 and 2, too few for a test" {
		t.Errorf("%+v: %s", c, c.evidence("%+.1f"))
	}
	if c := welch([]float64{1, 1}, []float64{2, 2}); !math.IsNaN(c.p) || c.word() != "not distinguishable" {
		t.Errorf("%+v", c)
	}
	// (.6 - .5) / sqrt(.55 * .45 * .02) = 1.4213: p = .1552
	z := proportions(score.Accuracy{Correct: 60, Total: 100}, score.Accuracy{Correct: 50, Total: 100})
	if math.Abs(z.p-0.15521) > 1e-4 || z.word() != "not distinguishable" {
		t.Errorf("%+v", z)
	}
	if z := proportions(score.Accuracy{Correct: 600, Total: 1000}, score.Accuracy{Correct: 500, Total: 1000}); z.word() != "better" || z.evidence("%+.1f") != "+0.1; two-proportion z-test of one seed each, n = 1,000 examples, p < 0.001" {
		t.Errorf("%+v: %s", z, z.evidence("%+.1f"))
	}
	if z := proportions(score.Accuracy{Correct: 5, Total: 5}, score.Accuracy{Correct: 7, Total: 7}); z.p != 1 {
		t.Errorf("%+v", z)
	}
}

// Values of scipy.stats: ttest_rel; t.sf of (mean - value) / (s sqrt(1 + 1/n)) with n - 1 degrees of freedom.
func TestSmallSamples(t *testing.T) {
	if c := paired([]float64{1, 2, 3.5, 4}, []float64{1.5, 1, 3, 2}); math.Abs(c.difference-0.75) > 1e-12 || math.Abs(c.p-0.245194) > 1e-5 || c.test != "paired t-test over tasks, n = 4" {
		t.Errorf("%+v", c)
	}
	if c := seedTest([]float64{0.7, 0.66, 0.39}, []float64{0.58}); math.Abs(c.difference-0.0033333) > 1e-6 || math.Abs(c.p-0.987895) > 1e-5 || c.test != "t-test of a single run, n = 3 and 1" {
		t.Errorf("%+v", c)
	}
	if c := seedTest([]float64{0.58}, []float64{0.7, 0.66, 0.39}); math.Abs(c.difference+0.0033333) > 1e-6 || math.Abs(c.p-0.987895) > 1e-5 || c.test != "t-test of a single run, n = 1 and 3" {
		t.Errorf("%+v", c)
	}
	for _, c := range []comparison{seedTest([]float64{1, 1}, []float64{0.5}), seedTest([]float64{1}, []float64{2}), paired([]float64{1}, []float64{2})} {
		if !math.IsNaN(c.p) {
			t.Errorf("%+v", c)
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
