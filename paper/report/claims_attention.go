package report

import (
	"fmt"
	"slices"
	"strings"

	"universal-transformer/paper"
	"universal-transformer/paper/measure"
)

// judgeSharpening checks in how many models and tasks of one to three facts attention sharpens, where the model solves the task.
func judgeSharpening(adaptive bool) func(book) judgement {
	return func(b book) judgement {
		t := paper.Table1()
		total, sharp, every, example := 0, 0, 0, ""
		for _, r := range t.Rows {
			if r.Adaptive != adaptive || strings.HasSuffix(r.Family, "-transformer") {
				continue
			}
			for _, s := range ownFiles(b.babiTasks(t, r)) {
				if s.task > 3 || s.best > paper.BabiFails || len(s.attention) < 2 {
					continue
				}
				total++
				ratios := relative(s.attention)
				if sharpens(ratios) {
					sharp++
					if increases(ratios) {
						every++
					}
				} else if example == "" {
					example = fmt.Sprintf("; not in %s, task %d: %s", settingTitle(r), s.task, listed(ratios))
				}
			}
		}
		j := judgement{ours: fmt.Sprintf("in %d of %d models and tasks, at every step in %d%s", sharp, total, every, example), verdict: NotReproduced,
			brief: fmt.Sprintf("in %d of %d models and tasks", sharp, total),
			why:   "attention to the supporting facts, relative to uniform, in the last step at least .9 of the highest and above the first; tasks 1 to 3 where solved"}
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

// increases reports whether every value is above the one before.
func increases(values []float64) bool {
	for i := range len(values) - 1 {
		if values[i+1] <= values[i] {
			return false
		}
	}
	return true
}

// listed returns "1.2, 2.3".
func listed(values []float64) string {
	var list []string
	for _, v := range values {
		list = append(list, fmt.Sprintf("%.1f", v))
	}
	return strings.Join(list, ", ")
}
