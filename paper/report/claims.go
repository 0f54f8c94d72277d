package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"universal-transformer/paper"
	"universal-transformer/paper/measure"
)

// claims lists the paper's statements, with its figures.
func claims() []claim {
	return []claim{
		{"Section 3.1", "bAbI: UT better than the Transformer", "0.23 against 15.2 % errors", judgeBabiModels("", "-transformer")},
		{"Section 3.1", "bAbI: halting better than fixed depth", "0.21 against 0.23 % errors", judgeBabiModels("-adaptive", "")},
		{"Section 3.1", "bAbI: the Transformer always overfits", "in words", judgeOverfitting},
		{"Section 3.1", "bAbI: ponder time grows with the supporting facts", "2.3, 3.1, 3.8 steps for 1, 2, 3 facts", judgePonder},
		{"Section 3.1", "bAbI: ponder times are more uniform with fewer facts", "± 0.8, 1.1, 2.2 for 1, 2, 3 facts", judgeUniformity},
		{"Section 3.1", "bAbI: with three facts, many positions halt at step 1 or 2", "in words", judgeEarlyHalting},
		{"Section 3.1", "bAbI: attention sharpens from step to step, fixed depth", "in words", judgeSharpening(false)},
		{"Section 3.1", "bAbI: attention sharpens from step to step, dynamic halting", "in words", judgeSharpening(true)},
		{"Section 3.2", "agreement: UT better than Transformer and LSTM", "0.992 against 0.962 and 0.991", judgeAgreementModels},
		{"Section 3.2", "agreement: halting better than fixed depth", "0.907 against 0.892 at 5 attractors", judgeAgreementHalting},
		{"Section 3.2", "agreement: the gain of halting grows with attractors", "0 at 0 to +0.027 at 5 attractors", judgeGrowth},
		{"Section 3.3", "LAMBADA: UT better than Transformer and LSTM, language model", "perplexity 319 against 7321 and 5174", judgePerplexities},
		{"Section 3.3", "LAMBADA: UT better than Transformer and LSTM, reading", "0.52 against 0.40 and 0.20", judgeReading},
		{"Section 3.3", "LAMBADA: perplexity falls from 6 to 9 to 8 steps to halting", "319, 239, 202, 142", judgeOrder},
		{"Section 3.3", "LAMBADA: positions differ in depth", "8.2 ± 2.1 steps", judgeDepth},
		{"Section 3.4", "length 400: UT better than Transformer and LSTM, all three tasks", "0.35, 0.46, 0.02 against at most 0.09, 0.11, 0.0",
			judgeAlgorithmic("algorithmic-paper", "algorithmic-transformer", "algorithmic-lstm")},
		{"Section 3.4", "the same, models trained alike with our positions", "-",
			judgeAlgorithmic("algorithmic", "algorithmic-alike-transformer", "algorithmic-alike-transformer-narrow", "algorithmic-alike-one-step", "algorithmic-alike-lstm")},
		{"Section 3.4", "the same, baselines with more updates for equal time", "-",
			judgeAlgorithmic("algorithmic", "algorithmic-alike-transformer-narrow-longer", "algorithmic-alike-one-step-longer", "algorithmic-alike-lstm-longer")},
		{"Section 3.4", "the Neural GPU is perfect at length 400", "1.0, 1.0, 1.0", judgeNeuralGPU},
		{"Section 3.5", "learning to execute: UT better than Transformer and LSTM, equal updates", "six of six, or equal", judgeExecute("-transformer", "-lstm")},
		{"Section 3.5", "the same, baselines with more updates", "-", judgeExecute("-transformer-longer", "-lstm-longer")},
		{"Section 3.6", "translation: UT better than the Transformer", "28.9 against 28.0 BLEU", judgeTranslation},
		{"Section 3.6", "translation: halting hurts", "in words", judgeTranslationHalting},
		{"Section 2", "a UT of fixed depth is a Transformer whose layers share their weights", "in words",
			shown("the same states and logits within 1e-12 as three layers in plain loops, with one set of weights for all, or as the Transformer with a set for each: universal/tied_test.go, universal/untied_test.go")},
		{"Section 4", "a UT can compute what a Neural GPU computes", "in words", shown("the same states and logits within 1e-12 with the same weights, at every length from 1 to 12: baseline/neuralgpu/reduction_test.go")},
		{"Section 4", "the UT is computationally universal", "in words",
			shown("with weights set by hand, a convolution, no use of attention and as many steps as source tokens it is any Turing machine with one tape, the source padded with blanks: random machines, palindromes, parity of up to 512 bits: universal/universality_test.go, universal/turing_test.go; of fixed depth, models with hard attention do not compute parity at all lengths (Hahn, TACL 2020), but two layers with soft attention do (Chiang and Cholak, ACL 2022)")},
	}
}

// shown is the judge of a claim about what a model can compute, which tests show rather than results.
func shown(how string) func(book) judgement {
	return func(book) judgement { return judgement{ours: "shown by a test", verdict: Reproduced, why: how} }
}

// judgeBabiModels compares the models of two rows, task by task, in every setting of table 1 in which both have results: accuracies in percent, means
// over seeds.
func judgeBabiModels(model, other string) func(book) judgement {
	return func(b book) judgement {
		var pairs []pair
		for _, s := range paper.BabiSettings {
			list, others := commonTasks(b.babiRow("babi-"+s.Name+model), b.babiRow("babi-"+s.Name+other))
			if len(list) < 2 {
				continue
			}
			var x, y []float64
			for i := range list {
				x, y = append(x, 100-mean(list[i].seeds)), append(y, 100-mean(others[i].seeds))
			}
			t := paper.Table1()
			row, _ := t.Row("babi-" + s.Name + model)
			reference, _ := t.Row("babi-" + s.Name + other)
			result := paired(x, y)
			result.excepted = excepted(reference, row, row.Columns[0]) || excepted(row, reference, row.Columns[0])
			pairs = append(pairs, pair{setting: plain(s.Title), comparison: result})
		}
		j := judge(corrected(pairs), "%+.2f")
		if len(pairs) > 0 {
			j.why = "percentage points of accuracy, means over seeds; " + j.why
		}
		return j
	}
}

// commonTasks returns the tasks of two rows that both have, trained on their own files.
func commonTasks(list, others []babiTask) (x, y []babiTask) {
	for _, s := range ownFiles(list) {
		if at := slices.IndexFunc(others, func(o babiTask) bool { return o.task == s.task && o.standIn == "" }); at >= 0 {
			x, y = append(x, s), append(y, others[at])
		}
	}
	return x, y
}

// babiRow returns the tasks of a row of table 1 that have results.
func (b book) babiRow(family string) []babiTask {
	t := paper.Table1()
	r, _ := t.Row(family)
	return b.babiTasks(t, r)
}

// judgePonder compares the order of mean ponder times for one, two and three supporting facts.
func judgePonder(b book) judgement {
	return b.judgeByFacts("%.1f", func(p measure.PonderTimes) (count int, value float64) {
		count, value, _ = p.Moments()
		return count, value
	})
}

// judgeUniformity does the same with the standard deviations of ponder times.
func judgeUniformity(b book) judgement {
	return b.judgeByFacts("± %.2f", func(p measure.PonderTimes) (count int, value float64) {
		count, _, value = p.Moments()
		return count, value
	})
}

// judgeByFacts compares the order of a moment of ponder times for one, two and three supporting facts, tasks 1 to 3, in models that solve the task
// and were trained on its own file. The moment returns 0 positions if there are none.
func (b book) judgeByFacts(format string, moment func(measure.PonderTimes) (count int, value float64)) judgement {
	t := paper.Table1()
	var ours, why []string
	complete, all := false, true
	for _, r := range t.Rows {
		list := slices.DeleteFunc(ownFiles(b.babiTasks(t, r)), func(s babiTask) bool { return s.best > paper.BabiFails })
		three, ofAll := bySupports(list)
		if !r.Adaptive || len(three) < 2 {
			continue
		}
		var texts []string
		known := 0
		for n := 1; n <= 3; n++ {
			if count, value := moment(three[n]); count > 0 {
				texts, known = append(texts, fmt.Sprintf(format, value)), known+1
			} else {
				texts = append(texts, "unsolved")
			}
		}
		name := settingTitle(r.Family)
		ours = append(ours, name+" "+strings.Join(texts, ", "))
		complete, all = complete || known == 3, all && rises(three, moment)
		if !rises(three, moment) {
			why = append(why, name+" does not rise")
		}
		if !rises(ofAll, moment) {
			why = append(why, "does not rise over the questions of all tasks, "+name)
		}
	}
	j := judgement{strings.Join(ours, "; "), NotReproduced, strings.Join(append([]string{"tasks 1, 2, 3, own training file, at most 5 % errors"}, why...), "; ")}
	switch {
	case len(ours) == 0:
		return judgement{verdict: NotRun}
	case !all:
		j.verdict = Contradicted
	case complete:
		j.verdict = Reproduced
	default:
		j.why = "no model with halting solves task 3; " + j.why
	}
	return j
}

// settingTitle returns the title of the setting of table 1 that a family belongs to.
func settingTitle(family string) string {
	for _, s := range paper.BabiSettings {
		for _, m := range paper.BabiModels {
			if family == "babi-"+s.Name+m.Suffix {
				return plain(s.Title)
			}
		}
	}
	return family
}

// plain returns the title of a setting without commas: "10k single".
func plain(title string) string { return strings.ReplaceAll(title, ",", "") }

// rises reports whether a moment of ponder times rises with the number of facts, among those that are known.
func rises(by map[int]measure.PonderTimes, moment func(measure.PonderTimes) (count int, value float64)) bool {
	last := math.Inf(-1)
	for n := 1; n <= 3; n++ {
		if count, value := moment(by[n]); count > 0 {
			if value <= last {
				return false
			}
			last = value
		}
	}
	return true
}

// judgeEarlyHalting looks at task 3 of the model with dynamic halting that has the fewest errors in it.
func judgeEarlyHalting(b book) judgement {
	const many = 0.1
	t := paper.Table1()
	best, family := babiTask{best: math.Inf(1)}, ""
	for _, r := range t.Rows {
		for _, s := range b.babiTasks(t, r) {
			if r.Adaptive && s.task == 3 && s.best < best.best && len(s.ponder) > 0 {
				best, family = s, r.Family
			}
		}
	}
	if family == "" {
		return judgement{verdict: NotRun}
	}
	p := best.positions()
	early := 0
	var steps []string
	for i, n := range p.Positions {
		if i < 2 {
			early += n
		}
		steps = append(steps, thousands(n))
	}
	total, _, _ := p.Moments()
	j := judgement{fmt.Sprintf("%.0f %% (positions that halt at step 1, 2, ...: %s)", 100*float64(early)/float64(total), strings.Join(steps, " / ")), Reproduced, ""}
	switch {
	case best.best > paper.BabiFails:
		j.verdict = NotComparable
	case float64(early) < many*float64(total):
		j.verdict = Contradicted
	}
	j.why = fmt.Sprintf("%s, the best model with halting on task 3, %.0f %% errors; many: a tenth", settingTitle(family), best.best)
	return j
}

// judgeSharpening checks in how many models and tasks of one to three facts attention sharpens, where the model solves the task.
func judgeSharpening(adaptive bool) func(book) judgement {
	return func(b book) judgement {
		t := paper.Table1()
		total, sharp, example := 0, 0, ""
		for _, r := range t.Rows {
			if r.Adaptive != adaptive || strings.HasSuffix(r.Family, "-transformer") {
				continue
			}
			for _, s := range ownFiles(b.babiTasks(t, r)) {
				if s.task > 3 || s.best > paper.BabiFails || len(s.attention) < 2 {
					continue
				}
				total++
				if ratios := relative(s.attention); sharpens(ratios) {
					sharp++
				} else if example == "" {
					example = fmt.Sprintf("; not in %s, task %d: %s", settingTitle(r.Family), s.task, listed(ratios))
				}
			}
		}
		j := judgement{fmt.Sprintf("in %d of %d models and tasks%s", sharp, total, example), NotReproduced,
			"attention to the supporting facts, relative to uniform, in the last step at least .9 of the highest and above the first; tasks 1 to 3 where solved"}
		switch {
		case total == 0:
			return judgement{verdict: NotRun}
		case sharp == total:
			j.verdict = Reproduced
		case 2*sharp < total:
			j.verdict = Contradicted
		}
		return j
	}
}

// relative returns the attention to the supporting facts, step by step, divided by that of uniform attention, since later steps may average
// other stories. Steps that less than a tenth of the questions run are left out.
func relative(attention []measure.AttentionShare) (ratios []float64) {
	const few = 0.1
	for _, a := range attention {
		if float64(a.Stories) >= few*float64(attention[0].Stories) {
			ratios = append(ratios, a.Share/a.Uniform)
		}
	}
	return ratios
}

// sharpens reports whether the last value is above the first and at least nine tenths of the highest.
func sharpens(ratios []float64) bool {
	const fall = 0.9
	last := ratios[len(ratios)-1]
	return last >= fall*slices.Max(ratios) && last > ratios[0]
}

// listed returns "1.2, 2.3".
func listed(values []float64) string {
	var list []string
	for _, v := range values {
		list = append(list, fmt.Sprintf("%.1f", v))
	}
	return strings.Join(list, ", ")
}
