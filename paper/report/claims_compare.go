package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"universal-transformer/paper"
)

// agreementAgainst compares two rows of table 2 in every column.
func agreementAgainst(model, other string) func(book) judgement {
	return func(b book) judgement {
		t := paper.Table2()
		x, _ := t.Row(model)
		y, _ := t.Row(other)
		var pairs []pair
		for _, c := range t.Columns {
			if result := b.compare(x, y, c); result.test != "not run" && len(b.of(x.Family, c.Name)) > 1 {
				pairs = append(pairs, pair{setting: c.Name, comparison: result, excepted: excepted(x, y, c.Name)})
			}
		}
		j := judge(pairs, "%+.3f")
		if len(pairs) > 0 {
			j.why = "balanced accuracy; " + j.why
		}
		return j
	}
}

// judgeGrowth counts the columns of table 2 in which the difference between halting and the best other model is positive and rises with the
// number of attractors.
func judgeGrowth(b book) judgement {
	t := paper.Table2()
	total := 0
	var shape []string
	for _, c := range t.Columns {
		list := difference(t, c, b.value)
		list = slices.DeleteFunc(list[:len(list)-1], func(v float64) bool { return v != v })
		if len(list) < 2 {
			continue
		}
		total++
		if list[0] > 0 && slices.IsSorted(list) {
			shape = append(shape, c.Name+" "+signed(list))
		}
	}
	j := judgement{strings.Join(shape, "; "), NotReproduced, fmt.Sprintf("rises in %d of %d settings; data not the paper's", len(shape), total)}
	switch {
	case total == 0:
		return judgement{verdict: NotRun}
	case len(shape) == total:
		j.verdict = Reproduced
	}
	return j
}

func signed(list []float64) string {
	var texts []string
	for _, v := range list {
		texts = append(texts, fmt.Sprintf("%+.3f", v))
	}
	return strings.Join(texts, " ")
}

// The columns of table 3 that claims compare, with short names.
var (
	languageModels = []named{{"language", "six novels"}, {"novels-words", "words of many novels"}, {"novels", "subwords of many novels"}}
	readers        = []named{{"reading", "six novels"}, {"annotated", "six novels and development passages"}, {"novels-reading", "many novels"}, {"novels-pretrained", "many novels after a language model"}}
)

// named is a column with a short name.
type named struct{ column, name string }

// judgeLambada compares accuracies of last words with those of the baselines.
func judgeLambada(columns []named) func(book) judgement {
	return func(b book) judgement {
		t := paper.Table3()
		own, _ := t.Row("lambada")
		var pairs []pair
		for _, family := range []string{"lambada-transformer", "lambada-lstm"} {
			other, _ := t.Row(family)
			for _, column := range columns {
				c, _ := t.Column(column.column)
				if result := b.compare(own, other, c); result.test != "not run" {
					pairs = append(pairs, pair{other.Title, column.name, result, excepted(own, other, column.column)})
				}
			}
		}
		return judge(pairs, "%+.3f")
	}
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

// judgeAlgorithmic returns the judge of a Universal Transformer of table 4 against other models, by sequence accuracies at length 400. Nothing is
// reproduced before all cells are run.
func judgeAlgorithmic(family string, others ...string) func(book) judgement {
	return func(b book) judgement {
		t := paper.Table4()
		own, _ := t.Row(family)
		var pairs []pair
		for _, name := range others {
			other, _ := t.Row(name)
			for _, c := range t.Columns {
				if result, kind := b.compareSequences(own, other, c.Name, t.ShownSets()[0].Name); kind != "" {
					pairs = append(pairs, pair{strings.TrimSuffix(other.Title, " with attention"), c.Title, result, excepted(own, other, c.Name)})
				}
			}
		}
		j := judge(pairs, "%+.3f")
		if j.verdict == Reproduced && len(pairs) < len(others)*len(t.Columns) {
			j.verdict, j.why = NotComparable, fmt.Sprintf("%d of %d cells are run; %s", len(pairs), len(others)*len(t.Columns), j.why)
		}
		return j
	}
}

// judgeNeuralGPU compares the Neural GPU's sequence accuracies with the paper's 1.0.
func judgeNeuralGPU(b book) judgement {
	t := paper.Table4()
	var ours, below []string
	for _, c := range t.Columns {
		a, ok := b.sequenceValue("algorithmic-neural-gpu", c.Name, t.ShownSets()[0].Name)
		if !ok {
			return judgement{verdict: NotRun}
		}
		ours = append(ours, fmt.Sprintf("%.3f", a.Value()))
		if rounded(a.Value(), "%.1f") < 1 {
			below = append(below, c.Title)
		}
	}
	j := judgement{strings.Join(ours, ", "), Reproduced, "rounded as the paper prints it"}
	if len(below) > 0 {
		j.verdict, j.why = NotReproduced, "below in "+and(below)+"; trained without the curriculum of its authors"
	}
	return j
}

// judgeExecute compares the Universal Transformers of tables 5 and 6 with baselines, given by the suffixes of their families' names.
func judgeExecute(baselines ...string) func(book) judgement {
	return func(b book) judgement {
		var pairs []pair
		for _, t := range []paper.Table{paper.Table5(), paper.Table6()} {
			prefix := strings.TrimSuffix(t.Rows[0].Family, "-lstm")
			own, _ := t.Row(prefix)
			for _, c := range t.Columns {
				for _, suffix := range baselines {
					other, _ := t.Row(prefix + suffix)
					if b.perfect(own.Family, c.Name) && b.perfect(other.Family, c.Name) {
						continue
					}
					if result, kind := b.compareSequences(own, other, c.Name, t.ShownSets()[0].Name); kind != "" {
						pairs = append(pairs, pair{short(other.Title), c.Title, result, excepted(own, other, c.Name)})
					}
				}
			}
		}
		pairs = corrected(pairs)
		better, worse := 0, []string(nil)
		for _, c := range pairs {
			if c.above() {
				better++
			} else if c.below() {
				worse = append(worse, fmt.Sprintf("%s (%s)", c.other, c.setting))
			}
		}
		why := []string{"pairs of tasks and baselines, without those where both are perfect"}
		if len(worse) > 0 {
			why = []string{"worse: " + and(worse)}
		}
		j := judgement{fmt.Sprintf("better in %d of %d pairs, worse in %d", better, len(pairs), len(worse)), verdictOf(pairs), strings.Join(append(why, testsOf(pairs)...), "; ")}
		return j
	}
}

// perfect reports whether the sequence accuracy of a cell's selected seed rounds to 1 in three decimals.
func (b book) perfect(family, column string) bool {
	a, ok := b.sequenceValue(family, column, "maximum")
	return ok && rounded(a.Value(), "%.3f") == 1
}

// short returns the kind of a model: "LSTM" for "LSTM with attention, five times the updates".
func short(title string) string {
	title, _, _ = strings.Cut(title, ",")
	return strings.TrimSuffix(title, " with attention")
}

// judgeTranslation compares BLEU with the Transformer in every column of table 7.
func judgeTranslation(b book) judgement {
	t := paper.Table7()
	own, _ := t.Row("translation")
	other, _ := t.Row("translation-transformer")
	var pairs []pair
	for _, c := range t.Columns {
		if result := b.compare(own, other, c); result.test != "not run" {
			pairs = append(pairs, pair{setting: strings.ReplaceAll(c.Title, ",", ""), comparison: result, excepted: excepted(own, other, c.Name)})
		}
	}
	return judge(pairs, "%+.2f")
}

// judgeTranslationHalting compares dynamic halting with fixed depth on Multi30k; in the paper it is worse.
func judgeTranslationHalting(b book) judgement {
	t := paper.Table7()
	fixed, _ := t.Row("translation")
	halting, _ := t.Row("translation-adaptive")
	c, _ := t.Column("multi30k")
	result := b.compare(fixed, halting, c)
	if result.test == "not run" {
		return judgement{verdict: NotRun}
	}
	j := judge([]pair{{other: "fixed depth over halting", comparison: result, excepted: excepted(fixed, halting, c.Name)}}, "%+.2f")
	j.ours = fmt.Sprintf("%s against %s at fixed depth", spread("%.2f", sample(b.of(halting.Family, c.Name), compared(c).Set, "BLEU")), spread("%.2f", sample(b.of(fixed.Family, c.Name), compared(c).Set, "BLEU")))
	return j
}
