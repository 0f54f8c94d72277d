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
		{"Section 3.1", "bAbI: UT better than the Transformer", "0.23 against 15.2 % errors", judgeBabiTransformer},
		{"Section 3.1", "bAbI: the Transformer always overfits", "in words", judgeOverfitting},
		{"Section 3.1", "bAbI: ponder time grows with the supporting facts", "2.3, 3.1, 3.8 steps for 1, 2, 3 facts", judgePonder},
		{"Section 3.1", "bAbI: with three facts, many positions halt at step 1 or 2", "in words", judgeEarlyHalting},
		{"Section 3.1", "bAbI: attention sharpens from step to step, fixed depth", "in words", judgeSharpening(false)},
		{"Section 3.1", "bAbI: attention sharpens from step to step, dynamic halting", "in words", judgeSharpening(true)},
		{"Section 3.2", "agreement: UT better than the Transformer", "0.992 against 0.962", agreementAgainst("agreement", "agreement-transformer")},
		{"Section 3.2", "agreement: halting better than fixed depth", "0.907 against 0.892 at 5 attractors", agreementAgainst("agreement-adaptive", "agreement")},
		{"Section 3.2", "agreement: the gain of halting grows with attractors", "+0.001 at 0 to +0.015 at 5", judgeGrowth},
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
		{"Section 4", "a UT can compute what a Neural GPU computes", "in words", shown("equal to 1e-12 with the same weights, lengths 1 to 8: baseline/neuralgpu/reduction_test.go")},
		{"Section 4", "the UT is computationally universal", "in words",
			shown("parity of 1 to 512 bits with weights set by hand and as many steps as bits, which no fixed depth computes (Hahn, 2020): universal/universality_test.go")},
	}
}

// shown is the judge of a claim about what a model can compute, which tests show rather than results.
func shown(how string) func(book) judgement {
	return func(book) judgement { return judgement{ours: "shown by a test", verdict: Reproduced, why: how} }
}

func judgeBabiTransformer(b book) judgement {
	t := paper.Table1()
	other, _ := t.Row("babi-10k-single-transformer")
	own, _ := t.Row("babi-10k-single")
	list, ours := b.babiTasks(t, other), b.babiTasks(t, own)
	if len(list) == 0 || len(ours) == 0 {
		return judgement{verdict: NotRun, why: "no result of a Transformer"}
	}
	var x, y []float64 // by task, for the tasks of both
	for _, s := range ours {
		if at := slices.IndexFunc(list, func(o babiTask) bool { return o.task == s.task }); at >= 0 {
			x, y = append(x, -s.best), append(y, -list[at].best)
		}
	}
	j := judge([]pair{{"accuracy over tasks", "", welch(x, y)}}, "%+.2f")
	j.why += fmt.Sprintf("; the best of up to %d and %d seeds", maxSeeds(ours), maxSeeds(list))
	return j
}

func maxSeeds(list []babiTask) (n int) {
	for _, s := range list {
		n = max(n, len(s.seeds))
	}
	return n
}

// babiRow returns the tasks of a row of table 1 that have results.
func (b book) babiRow(family string) []babiTask {
	t := paper.Table1()
	r, _ := t.Row(family)
	return b.babiTasks(t, r)
}

// judgePonder compares the order of ponder times for one, two and three supporting facts.
func judgePonder(b book) judgement {
	t := paper.Table1()
	j := judgement{verdict: NotRun}
	var ours, why []string
	for _, r := range t.Rows {
		list := b.babiTasks(t, r)
		if !r.Adaptive || len(list) == 0 || !strings.HasPrefix(r.Family, "babi-10k") || strings.HasPrefix(r.Family, paper.BabiSimulated) {
			continue
		}
		three, all := bySupports(list)
		var steps []string
		for n := 1; n <= 3; n++ {
			if count, mean, _ := three[n].Moments(); count > 0 {
				steps = append(steps, fmt.Sprintf("%.1f", mean))
			} else {
				steps = append(steps, "?")
			}
		}
		name := strings.Replace(strings.TrimSuffix(strings.TrimPrefix(r.Family, "babi-"), "-adaptive"), "-", " ", 1)
		ours = append(ours, name+" "+strings.Join(steps, ", "))
		switch {
		case !rises(three):
			j.verdict = Contradicted
			why = append(why, name+" does not rise")
		case j.verdict == NotRun:
			j.verdict = Reproduced
		}
		if !rises(all) {
			why = append(why, "does not rise over the questions of all tasks, "+name)
		}
		if slices.ContainsFunc(list, func(s babiTask) bool { return s.task == 3 && s.standIn != "" }) {
			why = append(why, "task 3 on a stand-in, "+name)
		}
	}
	j.ours, j.why = strings.Join(ours, "; "), strings.Join(append([]string{"tasks 1, 2, 3"}, why...), "; ")
	return j
}

// rises reports whether mean ponder times rise with the number of facts, among those that are known.
func rises(by map[int]measure.PonderTimes) bool {
	last := 0.0
	for n := 1; n <= 3; n++ {
		if count, mean, _ := by[n].Moments(); count > 0 {
			if mean <= last {
				return false
			}
			last = mean
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
	j := judgement{fmt.Sprintf("%.0f %% (positions by step: %s)", 100*float64(early)/float64(total), strings.Join(steps, " / ")), Reproduced, ""}
	if float64(early) < many*float64(total) {
		j.verdict = Contradicted
	}
	j.why = fmt.Sprintf("%s, best on task 3 with %.0f %% errors", family, best.best)
	return j
}

// judgeSharpening checks whether the supporting facts get more attention in the last step than in earlier ones, on tasks 1 to 3 with 10,000
// questions. Less than nine tenths of the highest share counts as a fall.
func judgeSharpening(adaptive bool) func(book) judgement {
	const fall = 0.9
	return func(b book) judgement {
		t := paper.Table1()
		total, sharpens := 0, 0
		example := ""
		for _, r := range t.Rows {
			for _, s := range b.babiTasks(t, r) {
				if r.Adaptive != adaptive || strings.HasSuffix(r.Family, "-transformer") || s.task > 3 || len(s.attention) < 2 || !strings.HasPrefix(r.Family, "babi-10k") {
					continue
				}
				highest, last := 0.0, s.attention[len(s.attention)-1].Share
				for _, a := range s.attention {
					highest = max(highest, a.Share)
				}
				total++
				if last >= fall*highest && last > s.attention[0].Share {
					sharpens++
				} else if example == "" || s.task == 2 {
					example = fmt.Sprintf("; %s, task %d: %s %%", r.Family, s.task, percents(s.attention))
				}
			}
		}
		j := judgement{ours: fmt.Sprintf("in %d of %d models and tasks%s", sharpens, total, example), why: "share of the supporting facts, last step against the highest"}
		switch {
		case total == 0:
			return judgement{verdict: NotRun}
		case sharpens == total:
			j.verdict = Reproduced
		default:
			j.verdict = Contradicted
		}
		return j
	}
}

func percents(attention []measure.AttentionShare) string {
	var list []string
	for _, a := range attention {
		list = append(list, fmt.Sprintf("%.0f", 100*a.Share))
	}
	return strings.Join(list, ", ")
}
