package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"universal-transformer/paper"
)

// The columns of table 3 that claims compare, with short names.
var (
	languageModels = []named{{"language", "six novels"}, {"novels-words", "words of many novels"}, {"novels", "subwords of many novels"}}
	readers        = []named{{"reading", "six novels"}, {"annotated", "six novels and development passages"}, {"novels-reading", "many novels"}, {"novels-pretrained", "many novels after a language model"}}
)

// named is a column with a short name.
type named struct{ column, name string }

// lambadaBaselines are the rows of table 3 that claims compare with the Universal Transformer.
var lambadaBaselines = []string{"lambada-transformer", "lambada-lstm"}

// judgePerplexities compares the logarithms of the baselines' perplexities of last words with those of the Universal Transformer, without and with
// a cache, so that higher is better for it.
func judgePerplexities(b book) judgement {
	t := paper.Table3()
	var pairs []pair
	for _, family := range lambadaBaselines {
		for _, c := range languageModels {
			for _, d := range b.comparisons(t, ownRow(t)) {
				if d.row.Family == family && d.column.Name == c.column {
					pairs = append(pairs, pair{d.row.Title + " " + cacheOf(d.figure), c.name, d.comparison})
				}
			}
		}
	}
	j := judge(pairs, "%+.3f")
	if len(pairs) > 0 {
		j.why = "nats of the perplexity of the test's last words, higher is better; " + j.why
	}
	return j
}

// judgeReading compares accuracies of reading comprehension with those of the baselines.
func judgeReading(b book) judgement {
	t := paper.Table3()
	own := ownRow(t)
	var pairs []pair
	for _, family := range lambadaBaselines {
		other, _ := t.Row(family)
		for _, c := range readers {
			if result, ok := b.against(t, own, family, c.column); ok {
				pairs = append(pairs, pair{other.Title, c.name, result})
			}
		}
	}
	return judge(pairs, "%+.3f")
}

// judgeReadingHalting compares dynamic halting with fixed depth by accuracies of reading comprehension.
func judgeReadingHalting(b book) judgement {
	t := paper.Table3()
	halting, _ := t.Row("lambada-adaptive")
	fixed := ownRow(t)
	var pairs []pair
	for _, c := range readers {
		column, _ := t.Column(c.column)
		for _, d := range b.compare(t, halting, fixed, column) {
			d.excepted = excepted(fixed, halting, c.column)
			pairs = append(pairs, pair{setting: c.name, comparison: d.comparison})
		}
	}
	return judge(corrected(pairs), "%+.3f")
}

// judgeOrder compares the order of perplexities by depth: of all last words, and of those in the vocabulary.
func judgeOrder(b book) judgement {
	order := func(metric string) (list []float64, fewest, most int) {
		fewest = math.MaxInt
		for _, family := range []string{"lambada", "lambada-steps9", "lambada-steps8", "lambada-adaptive"} {
			values := sample(b.of(family, "language"), "test", metric)
			if len(values) == 0 {
				return nil, 0, 0
			}
			list, fewest, most = append(list, mean(values)), min(fewest, len(values)), max(most, len(values))
		}
		return list, fewest, most
	}
	falls := func(list []float64) bool {
		return slices.IsSortedFunc(list, func(x, y float64) int { return cmp.Compare(y, x) })
	}
	format := func(list []float64) string {
		var texts []string
		for _, v := range list {
			texts = append(texts, fmt.Sprintf("%.0f", v))
		}
		return strings.Join(texts, ", ")
	}
	all, fewest, most := order("last word perplexity")
	known, _, _ := order("perplexity of covered")
	if all == nil {
		return judgement{verdict: NotRun}
	}
	why := count(fewest, "seed") + " each, no test"
	if most > fewest {
		why = "at least " + why
	}
	switch {
	case falls(all) && falls(known):
		why = "the same order; " + why
	case falls(all):
		why = fmt.Sprintf("the same order, but not for words in the vocabulary: %s; %s", format(known), why)
	}
	return judgement{ours: format(all), verdict: NotComparable, why: why}
}

// judgeDepth says how much the ponder times of the language model vary over positions.
func judgeDepth(b book) judgement {
	runs := b.of("lambada-adaptive", "language")
	if len(runs) == 0 {
		return judgement{verdict: NotRun}
	}
	mean, deviation := chosen(runs).ponder("test")
	return judgement{ours: fmt.Sprintf("%.2f ± %.2f steps", mean, deviation), verdict: NotComparable, why: count(len(runs), "seed")}
}
