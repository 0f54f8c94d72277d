package report

import (
	"fmt"
	"slices"
	"strings"

	"universal-transformer/paper"
)

// judgeAgreementModels compares the Universal Transformer with the Transformer in every column of table 2.
func judgeAgreementModels(b book) judgement {
	t := paper.Table2()
	own := ownRow(t)
	var pairs []pair
	for _, d := range b.comparisons(t, own) {
		if d.row.Family == "agreement-transformer" && len(b.of(own.Family, d.column.Name)) > 1 {
			pairs = append(pairs, pair{d.row.Title, d.column.Brief(), d.comparison})
		}
	}
	j := judge(pairs, "%+.3f")
	if len(pairs) > 0 {
		j.why = "balanced accuracy, total; " + j.why
	}
	return j
}

// judgeAgreementHalting compares dynamic halting with fixed depth at the highest number of attractors of every column of table 2, as the paper
// does.
func judgeAgreementHalting(b book) judgement {
	t := paper.Table2()
	halting, _ := t.Row("agreement-adaptive")
	fixed := ownRow(t)
	var pairs []pair
	for _, c := range t.Columns {
		x, y := b.of(halting.Family, c.Name), b.of(fixed.Family, c.Name)
		for _, f := range slices.Backward(c.Figures[:len(c.Figures)-1]) {
			a, d := sample(x, f.Set, f.Metrics[0]), sample(y, f.Set, f.Metrics[0])
			if len(a) > 0 && len(d) > 0 {
				result := welch(a, d)
				result.excepted = excepted(fixed, halting, c.Name)
				pairs = append(pairs, pair{setting: c.Brief() + " (" + f.Title + ")", comparison: result})
				break
			}
		}
	}
	j := judge(corrected(pairs), "%+.3f")
	if len(pairs) > 0 {
		j.why = "at most 6 steps against 4; accuracy at the number of attractors in parentheses; " + j.why
	}
	return j
}

// judgeGrowth counts the columns of table 2 in which the difference between halting and the best other model is positive and rises with the
// number of attractors, and those in which it is smaller at the most attractors than at the fewest.
func judgeGrowth(b book) judgement {
	t := paper.Table2()
	total, smaller := 0, 0
	var shape []string
	for _, c := range t.Columns {
		list := difference(t, c, b.value)
		list = slices.DeleteFunc(list[:len(list)-1], func(v float64) bool { return v != v })
		if len(list) < 2 {
			continue
		}
		total++
		switch {
		case list[0] > 0 && slices.IsSorted(list):
			shape = append(shape, c.Brief()+" "+signed(list))
		case list[len(list)-1] < list[0]:
			smaller++
		}
	}
	if total == 0 {
		return judgement{verdict: NotRun}
	}
	return judgement{ours: strings.Join(shape, "; "), verdict: NotComparable, brief: fmt.Sprintf("rises in %d of %d settings", len(shape), total),
		why: fmt.Sprintf("at most 6 steps against 4; rises in %d of %d settings, smaller at the most attractors than at the fewest in %d", len(shape), total, smaller)}
}

func signed(list []float64) string {
	var texts []string
	for _, v := range list {
		texts = append(texts, fmt.Sprintf("%+.3f", v))
	}
	return strings.Join(texts, " ")
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
				if result, ok := b.against(t, own, name, c.Name); ok {
					pairs = append(pairs, pair{strings.TrimSuffix(other.Title, " with attention"), c.Title, result})
				}
			}
		}
		j := judge(pairs, "%+.3f")
		if cells := len(others) * len(t.Columns); len(pairs) > 0 && len(pairs) < cells {
			j.why = fmt.Sprintf("%d of %d cells run; %s", len(pairs), cells, j.why)
			if j.verdict == Reproduced {
				j.verdict = NotComparable
			}
		}
		return j
	}
}

// judgeAlgorithmicHalting compares dynamic halting with fixed depth in tables 4, in the paper's setting, 5 and 6.
func judgeAlgorithmicHalting(b book) judgement {
	var pairs []pair
	for _, c := range []struct {
		table          paper.Table
		halting, fixed string
	}{{paper.Table4(), "algorithmic-paper-adaptive", "algorithmic-paper"}, {paper.Table5(), "memory-adaptive", "memory"}, {paper.Table6(), "programs-adaptive", "programs"}} {
		halting, _ := c.table.Row(c.halting)
		fixed, _ := c.table.Row(c.fixed)
		for _, column := range c.table.Columns {
			if result, ok := b.compareSequences(halting, fixed, column.Name, c.table.ShownSets("")[0].Name); ok {
				result.excepted = excepted(fixed, halting, column.Name)
				pairs = append(pairs, pair{fmt.Sprintf("table %d", c.table.Number), column.Title, result})
			}
		}
	}
	j := judge(corrected(pairs), "%+.3f")
	if len(pairs) > 0 {
		j.why = "sequence accuracy, halting minus fixed depth; " + j.why
	}
	return j
}

// judgeNeuralGPU compares the Neural GPU's sequence accuracies with the paper's 1.0.
func judgeNeuralGPU(b book) judgement {
	t := paper.Table4()
	var ours, below []string
	for _, c := range t.Columns {
		a, ok := b.sequenceValue("algorithmic-neural-gpu", c.Name, t.ShownSets("")[0].Name)
		if !ok {
			return judgement{verdict: NotRun}
		}
		ours = append(ours, fmt.Sprintf("%.3f", a.Value()))
		if !reachesRounded(a.Value(), "1.0") {
			below = append(below, c.Title)
		}
	}
	j := judgement{ours: strings.Join(ours, ", "), verdict: Reproduced, why: "rounded to two decimals"}
	if len(below) > 0 {
		j.verdict, j.reason = NotComparable, "below in "+and(below)+", without the curriculum of its authors"
		j.why = j.reason + "; one run each"
	}
	return j
}

// judgeExecute compares the Universal Transformers of tables 5 and 6 with baselines, given by the suffixes of their families' names.
func judgeExecute(baselines ...string) func(book) judgement {
	return func(b book) judgement {
		var pairs []pair
		perfect := 0
		for _, t := range []paper.Table{paper.Table5(), paper.Table6()} {
			prefix := strings.TrimSuffix(t.Rows[0].Family, "-lstm")
			own, _ := t.Row(prefix)
			for _, c := range t.Columns {
				for _, suffix := range baselines {
					other, _ := t.Row(prefix + suffix)
					if b.perfect(own.Family, c.Name) && b.perfect(other.Family, c.Name) {
						perfect++
						continue
					}
					if result, ok := b.against(t, own, other.Family, c.Name); ok {
						pairs = append(pairs, pair{short(other.Title), c.Title, result})
					}
				}
			}
		}
		j := judge(pairs, "%+.3f")
		if perfect > 0 {
			j.why = fmt.Sprintf("without %s where both models have 1.000; %s", count(perfect, "comparison"), j.why)
		}
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

// judgeTranslation returns the judge of BLEU against another row in every column of table 7, at equal updates or, against a row of equal time, with
// the updates that its title says.
func judgeTranslation(family string) func(book) judgement {
	return func(b book) judgement {
		t := paper.Table7()
		own := ownRow(t)
		var pairs []pair
		other, _ := t.Row(family)
		var times []float64 // of an update of the Universal Transformer, relative to the other model's
		for _, c := range t.Columns {
			result, ok := b.against(t, own, family, c.Name)
			if !ok {
				continue
			}
			pairs = append(pairs, pair{setting: strings.ReplaceAll(c.Title, ",", ""), comparison: result})
			times = append(times, updateRatios(b.of(own.Family, c.Name), b.of(family, c.Name))...)
		}
		j := judge(pairs, "%+.2f")
		switch {
		case other.EqualTime && len(pairs) > 0:
			j.why += "; against " + other.Title
		case len(times) > 0:
			j.why += fmt.Sprintf("; equal updates, in %.1f times the processor time", mean(times))
		}
		return j
	}
}

// judgeTranslationHalting compares dynamic halting with fixed depth on Multi30k; in the paper it is worse.
func judgeTranslationHalting(b book) judgement {
	t := paper.Table7()
	fixed := ownRow(t)
	halting, _ := t.Row("translation-adaptive")
	c, _ := t.Column("multi30k")
	result, ok := b.against(t, fixed, halting.Family, c.Name)
	if !ok {
		return judgement{verdict: NotRun}
	}
	j := judge([]pair{{other: "fixed depth over halting", comparison: result}}, "%+.2f")
	bleu := func(r paper.Row) string {
		return spread("%.2f", sample(b.of(r.Family, c.Name), c.ComparedFigures()[0].Set, c.Compared))
	}
	j.ours = fmt.Sprintf("%s against %s at fixed depth", bleu(halting), bleu(fixed))
	if result.excepted {
		j.ours = fmt.Sprintf("%s%s against %s at fixed depth", bleu(halting), exception, bleu(fixed))
	}
	return j
}
