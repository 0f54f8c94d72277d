package report

import (
	"math"
	"strings"
	"testing"
)

// Verdicts by comparisons over seeds: all better; some worse and none better; otherwise not distinguishable. Their text has a value per model and
// setting. Caught when planted: a test over the examples of single runs that counts; one worse of several, of which others are better.
func TestJudge(t *testing.T) {
	at := func(other, setting string, difference, p float64, test string) pair {
		return pair{other: strings.TrimSuffix(other, "*"), setting: setting, comparison: comparison{difference, p, test, strings.HasPrefix(test, "two-")}, excepted: strings.HasSuffix(other, "*")}
	}
	const welch, z = "Welch's t-test, n = 3 and 3", "two-proportion z-test of one seed each, n = 1,000 examples"
	for _, c := range []struct {
		pairs []pair
		want  judgement
	}{
		{nil, judgement{verdict: NotRun}},
		{[]pair{at("A", "", 1, .01, welch), at("B", "", 2, .01, welch)}, judgement{"A +1.0; B +2.0", Reproduced, "better; " + welch}},
		{corrected([]pair{at("A", "", 1, .03, welch), at("B", "", 1, .04, welch)}), judgement{"A +1.0; B +1.0", NotReproduced, "not distinguishable; " + welch}}, // .06 corrected
		{[]pair{at("A*", "", 1, .2, welch)}, judgement{"A +1.0†", NotReproduced, "not distinguishable; " + welch + "; † not trained alike, see the table"}},
		{[]pair{at("A", "", 1, math.NaN(), "n = 1 and 1")}, judgement{"A +1.0", NotComparable, "not distinguishable; n = 1 and 1"}},
		{[]pair{at("A", "", 1, .2, welch)}, judgement{"A +1.0", NotReproduced, "not distinguishable; " + welch}},
		{[]pair{at("", "x", 1, .2, welch), at("", "y", 1, .01, z)}, judgement{"x +1.0, y +1.0", NotReproduced, "not distinguishable; " + welch + "; n = 1 and 1, too few for a test"}},
		{[]pair{at("A", "", -1, .001, z)}, judgement{"A -1.0", NotComparable, "not distinguishable; n = 1 and 1, too few for a test"}},
		{[]pair{at("A", "x", -1, .01, welch), at("A", "y", 1, .2, welch)}, judgement{"A x **-1.0**, y +1.0", Contradicted, "bold: distinguishable; " + welch}},
		{[]pair{at("A", "x", 1, .01, welch), at("A", "y", -2, .01, welch), at("B", "y", 0.25, .3, "Welch's t-test, n = 3 and 2")},
			judgement{"A **+1.0**, **-2.0**; B -, +0.2", NotReproduced, "x, y; bold: distinguishable; " + welch + " or 3 and 2"}},
	} {
		if got := judge(c.pairs, "%+.1f"); got != c.want {
			t.Errorf("%v:\n got %q\nwant %q", c.pairs, got, c.want)
		}
	}
}
