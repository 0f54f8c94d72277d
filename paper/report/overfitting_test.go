package report

import (
	"strings"
	"testing"

	"universal-transformer/sweep"
)

// A run overfits if validation ends more than a tenth above its lowest and training below what it was there.
// Caught when planted: the lowest validation for the last; a training that rises, too; a tenth of the training.
func TestOverfits(t *testing.T) {
	for name, c := range map[string]struct {
		training, validation []float64
		want                 bool
	}{
		"overfits":            {[]float64{1, 0.5, 0.25}, []float64{1, 0.75, 0.85}, true},
		"rises by less":       {[]float64{1, 0.5, 0.25}, []float64{1, 0.75, 0.8}, false},
		"training rises, too": {[]float64{1, 0.25, 0.5}, []float64{1, 0.75, 0.9}, false},
		"lowest at the end":   {[]float64{1, 0.5, 0.25}, []float64{1, 0.9, 0.75}, false},
	} {
		if got := overfits(&sweep.Curve{Updates: []int64{1, 2, 3}, TrainingNats: c.training, Validation: c.validation}); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// The page has, for each task, the run with the lowest validation; the claim counts the tasks in which it overfits.
// Caught when planted: the first of two seeds; runs without training counted; runs that end otherwise counted as perfect; a claim that fails in one
// of two tasks called contradicted, or one that holds in one of three not.
func TestOverfittingPage(t *testing.T) {
	const family = "babi-1k-single-transformer/"
	withCurve := func(r sweep.Result, validation float64, training []float64, curve ...float64) sweep.Result {
		r.Validation, r.Step, r.Curve = validation, 3000, &sweep.Curve{Updates: []int64{1000, 2000, 3000}, TrainingNats: training, Validation: curve}
		return r
	}
	falling := []float64{1, 0.5, 0.25}
	pages := render(t, []sweep.Result{
		withCurve(answered(t, family+"task02", 1, 2, 9, 9), 0.9, falling, 1.2, 0.9, 0.9), // not the lowest
		withCurve(answered(t, family+"task02", 2, 2, 9, 9), 0.5, falling, 1, 0.5, 0.75),
		withCurve(answered(t, family+"task03", 1, 3, 9, 9), 0.25, falling, 1, 0.5, 0.25),
		withCurve(answered(t, family+"task04", 1, 4, 9, 9), 0.25, nil, 1, 0.5, 0.25),
		answered(t, "babi-10k-single-transformer/task02", 1, 2, 1, 1),
	}, "| not reproduced | in words | overfits in 1 of 2 tasks of 1k single; test errors ")
	perfect := withCurve(answered(t, family+"task03", 1, 3, 9, 9), 0.25, falling, 1, 0.5, 0.25)
	perfect.Stopped = "accuracy"
	none := render(t, []sweep.Result{perfect}, "| contradicted | in words | overfits in 0 of 1 tasks of 1k single")
	if want := "| 1k, single | Transformer | 0 of 1 tasks | 1 | 0.250 | 0.250 | 0.250 |\n"; !strings.Contains(string(none.Files["table1.md"]), want) {
		t.Errorf("table1.md lacks %q", want)
	}
	render(t, []sweep.Result{withCurve(answered(t, family+"task02", 2, 2, 9, 9), 0.5, falling, 1, 0.5, 0.75)}, "| reproduced | in words | overfits in 1 of 1 tasks of 1k single")
	render(t, []sweep.Result{
		withCurve(answered(t, family+"task02", 2, 2, 9, 9), 0.5, falling, 1, 0.5, 0.75), perfect, withCurve(answered(t, family+"task04", 1, 4, 9, 9), 0.25, falling, 1, 0.5, 0.25),
	}, "| contradicted | in words | overfits in 1 of 3 tasks of 1k single; test errors ", "of the other 2 runs, 1 ended at perfect validation |")
	render(t, []sweep.Result{answered(t, family+"task02", 1, 2, 9, 9)}, "| not run | in words | - | no curves of training and validation of a Transformer |")
	if want := "| 1k, single | Transformer | 1 of 2 tasks | 0 | 0.250 | 0.375 | 0.500 |\n"; !strings.Contains(string(pages.Files["table1.md"]), want) {
		t.Errorf("table1.md lacks %q", want)
	}
	if figure := string(pages.Files["table1-overfitting-1k-single.svg"]); strings.Count(figure, "three supporting facts") != 1 || !strings.Contains(figure, "Transformer, training") {
		t.Error("the figure lacks a task or a line")
	}
}
