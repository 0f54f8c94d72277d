package report

import (
	"fmt"
	"slices"
	"strings"
)

// A pair compares our model with another one in a setting, a task or a column of its table. Either may be empty where there is only one.
type pair struct {
	other, setting string
	comparison
}

// verdictOf returns the verdict on comparisons by their tests over seeds, without those of exceptions: contradicted if none is better and at least
// half of the tested ones are worse, not reproduced if others are not better. It is reproduced if all are better, and not comparable if this holds
// but for those without a test, or if all are exceptions.
func verdictOf(pairs []pair) Verdict {
	n := outcomesOf(pairs)
	switch {
	case len(pairs) == 0:
		return NotRun
	case n.excepted == len(pairs):
		return NotComparable
	case n.better == 0 && n.worse > 0 && n.worse >= n.equal:
		return Contradicted
	case n.worse+n.equal > 0:
		return NotReproduced
	case n.untested > 0:
		return NotComparable
	}
	return Reproduced
}

// outcomes holds numbers of comparisons by their tests over seeds. Those that break the rule of fair comparisons are counted apart.
type outcomes struct{ better, worse, equal, untested, excepted int }

func outcomesOf(pairs []pair) (n outcomes) {
	for _, c := range pairs {
		switch {
		case c.excepted:
			n.excepted++
		case c.better():
			n.better++
		case c.worse():
			n.worse++
		case c.tested():
			n.equal++
		default:
			n.untested++
		}
	}
	return n
}

// corrected returns pairs with p-values corrected by Holm's method for the number of their tests.
func corrected(pairs []pair) []pair {
	pairs = slices.Clone(pairs)
	correct(pairs, func(c *pair) *comparison { return &c.comparison })
	return pairs
}

// judge summarizes pairs, whose p-values are corrected: the differences by model and setting, those that are distinguishable over seeds in bold, and
// the tests.
func judge(pairs []pair, digits string) judgement {
	words := unique(pairs, func(c pair) string { return c.word() }) // "" for those without a test
	bold := len(words) > 1 && slices.ContainsFunc(pairs, func(c pair) bool { return c.better() || c.worse() })
	var ours []string
	for _, other := range unique(pairs, func(c pair) string { return c.other }) {
		var values []string
		named := false
		for _, c := range pairs {
			if c.other == other {
				values = append(values, strings.TrimSpace(c.setting+" "+c.emphasized(digits, bold)))
				named = named || c.setting != ""
			}
		}
		if named && other != "" {
			other += ":"
		}
		ours = append(ours, strings.TrimSpace(other+" "+strings.Join(values, ", ")))
	}
	var why []string
	if bold {
		why = append(why, "bold: distinguishable")
	} else {
		why = append(why, slices.DeleteFunc(words, func(word string) bool { return word == "" })...)
	}
	why = append(why, testsOf(pairs)...)
	j := judgement{ours: strings.Join(ours, "; "), verdict: verdictOf(pairs), why: strings.Join(why, "; "), brief: briefly(pairs)}
	if n := outcomesOf(pairs); n.equal > 0 && n.better+n.worse == 0 {
		j.reason = "not distinguishable"
	}
	return j
}

// briefly counts the outcomes of several pairs, without exceptions: "better in 4 of 9 comparisons, worse in 0". It returns "" for one pair.
func briefly(pairs []pair) string {
	if len(pairs) < 2 {
		return ""
	}
	n := outcomesOf(pairs)
	fair := len(pairs) - n.excepted
	text := fmt.Sprintf("better in %d of %s, worse in %d", n.better, count(fair, "comparison"), n.worse)
	switch {
	case fair == 0:
		return "no comparison with a model that was trained alike"
	case n.untested == fair:
		text = count(fair, "comparison") + " without a test"
	case n.untested > 0:
		text += fmt.Sprintf(", untested in %d", n.untested)
	}
	if n.excepted > 0 {
		text += fmt.Sprintf("; %d more †", n.excepted)
	}
	return text
}

// unique returns the values of all pairs, each once.
func unique(pairs []pair, of func(pair) string) (list []string) {
	for _, c := range pairs {
		if v := of(c); !slices.Contains(list, v) {
			list = append(list, v)
		}
	}
	return list
}

// emphasized returns the difference of a pair. bold says whether distinguishable ones are printed in bold, with their p-values.
func (c pair) emphasized(digits string, bold bool) string {
	if bold && (c.better() || c.worse()) {
		return fmt.Sprintf("**%s** (%s)", c.gap(digits), probability(c.p))
	}
	return c.gap(digits)
}

// testsOf returns the tests of pairs over seeds, with all their n: "Welch's t-test, n = 3 and 3 or 3 and 2", "no test: n = 3 and 1".
func testsOf(pairs []pair) (tests []string) {
	name := func(c comparison) string {
		if c.test == noTest {
			return c.test + ": n = "
		}
		return c.test + ", n = "
	}
	for _, c := range pairs {
		c := c.overSeeds()
		at := slices.IndexFunc(tests, func(t string) bool { return strings.HasPrefix(t, name(c)) })
		if at < 0 {
			tests = append(tests, name(c)+c.n)
		} else if !slices.Contains(strings.Split(strings.TrimPrefix(tests[at], name(c)), " or "), c.n) {
			tests[at] += " or " + c.n
		}
	}
	return tests
}
