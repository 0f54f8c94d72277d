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
	languageModels = []named{{"language", "six novels"}, {"novels-words", "words of many novels"}, {"novels", "subwords of many novels with a cache"}}
	readers        = []named{{"reading", "six novels"}, {"annotated", "six novels and development passages"}, {"novels-reading", "many novels"}, {"novels-pretrained", "many novels after a language model"}}
)

// named is a column with a short name.
type named struct{ column, name string }

// lambadaBaselines are the rows of table 3 that claims compare with the Universal Transformer.
var lambadaBaselines = []string{"lambada-transformer", "lambada-lstm"}

// judgePerplexities compares the logarithms of the baselines' perplexities of last words with those of the Universal Transformer, so that
// higher is better for it.
func judgePerplexities(b book) judgement {
	t := paper.Table3()
	own := ownRow(t)
	logarithms := func(family, column string) []float64 {
		c, _ := t.Column(column)
		list := sample(b.of(family, column), compared(c).Set, "last word perplexity")
		for i, v := range list {
			list[i] = -math.Log(v)
		}
		return list
	}
	var pairs []pair
	for _, family := range lambadaBaselines {
		other, _ := t.Row(family)
		for _, c := range languageModels {
			if x, y := logarithms(own.Family, c.column), logarithms(family, c.column); len(x) > 0 && len(y) > 0 {
				pairs = append(pairs, pair{other.Title, c.name, seedTest(x, y), excepted(own, other, c.column)})
			}
		}
	}
	j := judge(corrected(pairs), "%+.2f")
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
				pairs = append(pairs, pair{other.Title, c.name, result, excepted(own, other, c.column)})
			}
		}
	}
	return judge(pairs, "%+.3f")
}

// judgeOrder compares the order of perplexities by depth: of all last words, and of those in the vocabulary.
func judgeOrder(b book) judgement {
	order := func(metric string) (list []float64, seeds int) {
		for _, family := range []string{"lambada", "lambada-steps9", "lambada-steps8", "lambada-adaptive"} {
			values := sample(b.of(family, "language"), "test", metric)
			if len(values) == 0 {
				return nil, 0
			}
			list, seeds = append(list, mean(values)), max(seeds, len(values))
		}
		return list, seeds
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
	all, seeds := order("last word perplexity")
	known, _ := order("perplexity of covered")
	if all == nil {
		return judgement{verdict: NotRun}
	}
	j := judgement{format(all), NotReproduced, fmt.Sprintf("%s each, no test", count(seeds, "seed"))}
	switch {
	case falls(all) && falls(known):
		j.verdict = Reproduced
	case falls(all):
		j.why = fmt.Sprintf("the same order, but not for words in the vocabulary: %s; %s", format(known), j.why)
	}
	return j
}

// judgeDepth checks whether the ponder times of the language model vary over positions by at least half of the paper's deviation.
func judgeDepth(b book) judgement {
	const papers = 2.1
	runs := b.of("lambada-adaptive", "language")
	if len(runs) == 0 {
		return judgement{verdict: NotRun}
	}
	mean, deviation := chosen(runs).ponder("test")
	j := judgement{fmt.Sprintf("%.2f ± %.2f steps", mean, deviation), Reproduced, ""}
	if deviation < papers/2 {
		j.verdict, j.why = NotReproduced, "all positions take nearly the same number of steps"
	}
	return j
}
