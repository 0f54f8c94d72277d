package score_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"universal-transformer/internal/score"
)

// The figures are those of scikit-learn 1.9.1 for the same answers:
//
//	from sklearn.metrics import *
//	t = "a a a a b b b c c d".split(); p = "a a b a b c b a c e".split()
//	classification_report(t, p, digits=6, zero_division=0); confusion_matrix(t, p); f1_score(t, p, average="macro")
//
// Caught when planted: precision and recall exchanged, a matrix transposed, the mean over classes with examples only.
func TestConfusionAgreesWithScikitLearn(t *testing.T) {
	truth, predicted := strings.Fields("a a a a b b b c c d"), strings.Fields("a a b a b c b a c e")
	c := score.NewConfusion([]string{"a", "b", "c", "d", "never"})
	for i := range truth {
		c.Add(truth[i], predicted[i])
	}
	want := []score.ClassScore{
		{"a", 0.75, 0.75, 0.75, 4, 4}, {"b", 0.666667, 0.666667, 0.666667, 3, 3}, {"c", 0.5, 0.5, 0.5, 2, 2}, {"d", 0, 0, 0, 1, 0}, {"never", 0, 0, 0, 0, 0}, {"e", 0, 0, 0, 0, 1},
	}
	for i, s := range c.Scores() {
		w := want[i]
		if s.Class != w.Class || s.Support != w.Support || s.Predicted != w.Predicted || math.Abs(s.Precision-w.Precision) > 5e-7 || math.Abs(s.Recall-w.Recall) > 5e-7 || math.Abs(s.F1-w.F1) > 5e-7 {
			t.Errorf("%+v, want %+v", s, w)
		}
	}
	if a := c.Accuracy(); a.Correct != 6 || a.Total != 10 || math.Abs(c.MacroF1()-0.3833333333) > 5e-7 {
		t.Errorf("accuracy %v, macro F1 %v", a, c.MacroF1())
	}
	if got := fmt.Sprint(c.Counts); got != "[[3 1 0 0 0 0] [0 2 1 0 0 0] [1 0 1 0 0 0] [0 0 0 0 0 1] [0 0 0 0 0 0] [0 0 0 0 0 0]]" {
		t.Errorf("counts %s", got)
	}
	if lines := c.Lines(); len(lines) != 1+6+1+6 || !strings.HasPrefix(lines[1], "a              0.7500  0.7500  0.7500         4") {
		t.Errorf("%s", strings.Join(lines, "\n"))
	}
}

// A confusion of many classes is made row by row, each once. Caught when planted: rows that grow class by class, a table of all.
func TestConfusionOfManyClasses(t *testing.T) {
	const n = 300
	classes := make([]string, n)
	for i := range classes {
		classes[i] = fmt.Sprintf("class %d", i)
	}
	if times := testing.AllocsPerRun(5, func() { score.NewConfusion(classes) }); times > n+10 {
		t.Errorf("%v allocations for %d classes", times, n)
	}
	c := score.NewConfusion(classes)
	for i := range n {
		c.Add(classes[i], classes[n-1-i])
	}
	if lines := c.Lines(); len(lines) != 1+30+1 || lines[31] != "and 270 more" {
		t.Errorf("%d lines, the last one %q", len(lines), lines[len(lines)-1])
	}
	if c.Counts[7][n-8] != 1 || c.Accuracy().Total != n || c.Accuracy().Correct != 0 || len(c.Classes) != n {
		t.Errorf("%d classes, %v", len(c.Classes), c.Accuracy())
	}
}
