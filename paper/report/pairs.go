package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// A pair compares our model with another one in a setting, a task or a column of its table. Either may be empty where there is only one.
type pair struct {
	other, setting string
	comparison
	excepted bool // the comparison breaks the rule of fair comparisons
}

// exception marks the difference from a model that breaks the rule of fair comparisons.
const exception = "†"

// verdictOf returns the verdict on comparisons over seeds in which higher is better: reproduced if all are distinguishably better, contradicted
// if some are worse and none is better, not comparable if there are too few runs for any test.
func verdictOf(pairs []pair) Verdict {
	better, worse, tested := 0, 0, false
	for _, c := range pairs {
		tested = tested || !math.IsNaN(c.p)
		switch {
		case c.below():
			worse++
		case c.above():
			better++
		}
	}
	switch {
	case len(pairs) == 0:
		return NotRun
	case !tested:
		return NotComparable
	case better == len(pairs):
		return Reproduced
	case worse > 0 && better == 0:
		return Contradicted
	}
	return NotReproduced
}

// corrected returns pairs with p-values corrected by Holm's method for their number.
func corrected(pairs []pair) []pair {
	pairs = slices.Clone(pairs)
	correct(pairs, func(c *pair) *comparison { return &c.comparison })
	return pairs
}

// overSeeds returns pairs without the tests of a single run of each model, which say nothing about other seeds.
func overSeeds(pairs []pair) []pair {
	pairs = slices.Clone(pairs)
	for i, c := range pairs {
		if c.examples {
			pairs[i].comparison = comparison{difference: c.difference, p: math.NaN(), test: tooFew(1, 1)}
		}
	}
	return pairs
}

// judge summarizes pairs, whose p-values are corrected: the differences by model, those that are distinguishable over seeds in bold, and the
// tests. The settings are named beside the differences from a single model, and once for several models.
func judge(pairs []pair, digits string) judgement {
	pairs = overSeeds(pairs)
	others, settings := unique(pairs, func(c pair) string { return c.other }), unique(pairs, func(c pair) string { return c.setting })
	words := unique(pairs, func(c pair) string { return c.word() })
	var ours []string
	for _, other := range others {
		var values []string
		for _, setting := range settings {
			value := gap(pairs, other, setting, digits, len(words) > 1)
			if len(others) == 1 {
				value = strings.TrimSpace(setting + " " + value)
			}
			values = append(values, value)
		}
		ours = append(ours, strings.TrimSpace(other+" "+strings.Join(values, ", ")))
	}
	var why []string
	if len(settings) > 1 && len(others) > 1 {
		why = append(why, strings.Join(settings, ", "))
	}
	if len(words) > 1 {
		why = append(why, "bold: distinguishable")
	} else {
		why = append(why, words...)
	}
	why = append(why, testsOf(pairs)...)
	if slices.ContainsFunc(pairs, func(c pair) bool { return c.excepted }) {
		why = append(why, exception+" not trained alike, see the table")
	}
	return judgement{strings.Join(ours, "; "), verdictOf(pairs), strings.Join(why, "; ")}
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

// gap returns the difference from a model in a setting, or "-" if the two were not compared. bold says whether distinguishable ones are
// printed in bold.
func gap(pairs []pair, other, setting, digits string, bold bool) string {
	at := slices.IndexFunc(pairs, func(c pair) bool { return c.other == other && c.setting == setting })
	if at < 0 {
		return "-"
	}
	c := pairs[at]
	text := fmt.Sprintf(digits, c.difference)
	if c.excepted {
		text += exception
	}
	if bold && (c.above() || c.below()) {
		text = "**" + text + "**"
	}
	return text
}

// testsOf returns the tests of pairs; those that differ only in n are one: "Welch's t-test, n = 3 and 3 or 3 and 2".
func testsOf(pairs []pair) (tests []string) {
	for _, test := range unique(pairs, func(c pair) string { return c.test }) {
		name, n, ok := strings.Cut(test, ", n = ")
		at := slices.IndexFunc(tests, func(t string) bool { return strings.HasPrefix(t, name+", n = ") })
		if !ok || at < 0 {
			tests = append(tests, test)
		} else {
			tests[at] += " or " + n
		}
	}
	return tests
}
