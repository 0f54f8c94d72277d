package report

import (
	"fmt"
	"slices"
	"strings"

	"universal-transformer/paper"
)

// A pair compares our model with another one in a setting, a task or a column of its table. Either may be empty where there is only one.
type pair struct {
	other, setting string
	comparison
}

// exception marks a model that breaks the rule of fair comparisons.
const exception = "*"

// marked returns a row's name, with an asterisk if the row is an exception to the rule of fair comparisons.
func marked(r paper.Row, name string) string {
	if len(r.Unequal) > 0 {
		return name + exception
	}
	return name
}

// verdictOf returns the verdict on comparisons in which higher is better: reproduced if all are distinguishably better, contradicted if one
// is worse.
func verdictOf(pairs []pair) Verdict {
	better := 0
	for _, c := range pairs {
		switch {
		case c.below():
			return Contradicted
		case c.above():
			better++
		}
	}
	switch {
	case len(pairs) == 0:
		return NotRun
	case better == len(pairs):
		return Reproduced
	}
	return NotReproduced
}

// judge summarizes pairs: the differences by model, those that are distinguishable in bold, and the tests. The settings are named beside the
// differences from a single model, and once for several models.
func judge(pairs []pair, digits string) judgement {
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
	if slices.ContainsFunc(others, func(other string) bool { return strings.HasSuffix(other, exception) }) {
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
	switch {
	case at < 0:
		return "-"
	case bold && (pairs[at].above() || pairs[at].below()):
		return fmt.Sprintf("**"+digits+"**", pairs[at].difference)
	}
	return fmt.Sprintf(digits, pairs[at].difference)
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
