package report

import (
	"math"
	"strings"
	"testing"
)

// Verdicts by comparisons over seeds: contradicted with some worse and none better; not reproduced with others that are not better; reproduced if all
// are better and tested. Their text has a value per model and setting. Caught when planted: a test over the examples of single runs that counts; one
// worse of several, of which others are better; untested pairs beside better ones as reproduced; the n of the first test for all; exceptions that
// count.
func TestJudge(t *testing.T) {
	at := func(other, setting string, difference, p float64, test, n string) pair {
		return pair{strings.TrimSuffix(other, "*"), setting, comparison{difference, p, test, n, strings.HasPrefix(test, "Fisher"), strings.HasSuffix(other, "*")}}
	}
	untested := func(other, setting string, difference float64, n string) pair {
		return at(other, setting, difference, math.NaN(), noTest, n)
	}
	const welch, z, of = "Welch's t-test", "Fisher's exact test of these runs", "3 and 3"
	for _, c := range []struct {
		pairs []pair
		want  judgement
	}{
		{nil, judgement{verdict: NotRun}},
		{[]pair{at("A", "", 1, .01, welch, of), at("B", "", 2, .01, welch, of)}, judgement{ours: "A +1.0; B +2.0", verdict: Reproduced, why: "better; Welch's t-test, n = 3 and 3", brief: "better in 2 of 2 comparisons, worse in 0"}},
		{corrected([]pair{at("A", "", 1, .03, welch, of), at("B", "", 1, .04, welch, of)}), judgement{ours: "A +1.0; B +1.0", verdict: NotReproduced, why: "not distinguishable; Welch's t-test, n = 3 and 3", brief: "better in 0 of 2 comparisons, worse in 0", reason: "not distinguishable"}}, // .06 corrected
		{corrected([]pair{at("A", "", 1, .03, welch, of), untested("B", "", 1, "3 and 1")}), judgement{ours: "A **+1.0** (p = 0.03); B +1.0", verdict: NotComparable, why: "bold: distinguishable; Welch's t-test, n = 3 and 3; no test: n = 3 and 1", brief: "better in 1 of 2 comparisons, worse in 0, untested in 1"}},
		{[]pair{at("A*", "", 1, .2, welch, of)}, judgement{ours: "A +1.0†", verdict: NotComparable, why: "not distinguishable; Welch's t-test, n = 3 and 3"}},
		{[]pair{at("A*", "x", 1, .01, welch, of), at("A*", "y", 1, .2, welch, of)}, judgement{ours: "A: x **+1.0†** (p = 0.01), y +1.0†", verdict: NotComparable,
			why: "bold: distinguishable; Welch's t-test, n = 3 and 3", brief: "no comparison with a model that was trained alike"}},
		{[]pair{at("A*", "x", 1, .01, welch, of), at("A", "y", 1, .2, welch, of), at("A", "z", 1, .3, welch, of)}, judgement{ours: "A: x **+1.0†** (p = 0.01), y +1.0, z +1.0", verdict: NotReproduced,
			why: "bold: distinguishable; Welch's t-test, n = 3 and 3", brief: "better in 0 of 2 comparisons, worse in 0; 1 more †", reason: "not distinguishable"}},
		{[]pair{at("A*", "x", -1, .01, welch, of), at("B", "x", 1, .01, welch, of), at("B", "y", 1, .01, welch, of)}, judgement{ours: "A: x **-1.0†** (p = 0.01); B: x **+1.0** (p = 0.01), y **+1.0** (p = 0.01)", verdict: Reproduced,
			why: "bold: distinguishable; Welch's t-test, n = 3 and 3", brief: "better in 2 of 2 comparisons, worse in 0; 1 more †"}},
		{[]pair{untested("A", "", 1, "1 and 1")}, judgement{ours: "A +1.0", verdict: NotComparable, why: "no test: n = 1 and 1"}},
		{[]pair{untested("A", "", 1, "3 and 1"), untested("B", "", 0, "3 and 3 without deviation"), untested("C", "", 1, "3 and 1")},
			judgement{ours: "A +1.0; B +0.0; C +1.0", verdict: NotComparable, why: "no test: n = 3 and 1 or 3 and 3 without deviation", brief: "3 comparisons without a test"}},
		{[]pair{at("", "x", 1, .2, welch, of), at("", "y", 1, .01, z, "9 examples")}, judgement{ours: "x +1.0, y +1.0", verdict: NotReproduced, why: "not distinguishable; Welch's t-test, n = 3 and 3; no test: n = 1 and 1", brief: "better in 0 of 2 comparisons, worse in 0, untested in 1", reason: "not distinguishable"}},
		{[]pair{at("A", "", -1, .001, z, "9 examples")}, judgement{ours: "A -1.0", verdict: NotComparable, why: "no test: n = 1 and 1"}},
		{[]pair{at("A", "x", -1, .01, welch, of), at("A", "y", 1, .2, welch, of)}, judgement{ours: "A: x **-1.0** (p = 0.01), y +1.0", verdict: Contradicted, why: "bold: distinguishable; Welch's t-test, n = 3 and 3", brief: "better in 0 of 2 comparisons, worse in 1"}},
		{[]pair{at("A", "x", -1, .01, welch, of), at("A", "y", 1, .2, welch, of), at("A", "z", 0, .9, welch, of), untested("A", "u", 1, "1 and 1")},
			judgement{ours: "A: x **-1.0** (p = 0.01), y +1.0, z +0.0, u +1.0", verdict: NotReproduced, why: "bold: distinguishable; Welch's t-test, n = 3 and 3; no test: n = 1 and 1", brief: "better in 0 of 4 comparisons, worse in 1, untested in 1"}},
		{[]pair{at("A", "x", 1, .01, welch, of), at("A", "y", -2, .01, welch, of), at("B", "y", 0.25, .3, welch, "3 and 2")},
			judgement{ours: "A: x **+1.0** (p = 0.01), y **-2.0** (p = 0.01); B: y +0.2", verdict: NotReproduced, why: "bold: distinguishable; Welch's t-test, n = 3 and 3 or 3 and 2", brief: "better in 1 of 3 comparisons, worse in 1"}},
	} {
		if got := judge(c.pairs, "%+.1f"); got != c.want {
			t.Errorf("%v:\n got %q\nwant %q", c.pairs, got, c.want)
		}
	}
}
