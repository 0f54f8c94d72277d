package report

import (
	"cmp"
	"fmt"
	"strings"

	"universal-transformer/paper"
)

// judgeBabi compares average errors of the Universal Transformer in a setting.
func (b book) judgeBabi(setting string) judgement {
	list := b.babiRow("babi-" + setting)
	a := averageBabi(list)
	if a.tasks == 0 {
		return judgement{verdict: NotRun, why: standInErrors(list)}
	}
	seeds := babiSeeds(ownFiles(list))
	halting, transformer := averageBabi(b.babiRow("babi-"+setting+"-adaptive")), averageBabi(b.babiRow("babi-"+setting+"-transformer"))
	var j judgement
	j.ours, j.brief = babiFigures(a, halting, transformer, seeds != "1 seed")
	why := []string{seeds}
	missing := standInErrors(list)
	if lacks := babiLacks(list); missing == "" && len(lacks) > 0 {
		missing = numbered(lacks) + " not run"
	}
	if missing != "" {
		why = append(why, missing)
	}
	if text := failingSeeds(ownFiles(list)); text != "" {
		why = append(why, text)
	}
	if halting.tasks > 0 && halting.tasks < enoughTasks {
		why = append(why, "halting has too few tasks to be judged")
	}
	change := paper.BabiChanges[setting]
	if change[1] != "" {
		why = append(why, change[1])
	}
	switch {
	case !a.reaches(paper.PublishedBabi("babi-"+setting)) || halting.tasks >= enoughTasks && !halting.reaches(paper.PublishedBabi("babi-"+setting+"-adaptive")):
		j.verdict = NotReproduced
		if len(a.failed) > 0 {
			why = append(why, numbered(a.failed)+fails(len(a.failed)))
			j.reason = count(len(a.failed), "task") + fails(len(a.failed))
		}
		if len(halting.failed) > 0 && halting.tasks >= enoughTasks {
			why = append(why, "with halting "+numbered(halting.failed)+fails(len(halting.failed)))
			j.reason = cmp.Or(j.reason, "with halting "+count(len(halting.failed), "task")+fails(len(halting.failed)))
		}
	case a.tasks < len(paper.BabiTasks):
		j.verdict, j.reason = NotComparable, missing
	case change[0] != "":
		j.verdict, j.reason = Changed, change[0]
	default:
		j.verdict = Reproduced
	}
	j.why = strings.Join(why, "; ")
	return j
}

// babiFigures returns the average errors of the Universal Transformer, of that with halting and of the Transformer, and the first two in brief.
func babiFigures(a, halting, transformer babiAverage, severalSeeds bool) (ours, brief string) {
	ours = halvesUp("%.2f", a.best)
	if severalSeeds {
		ours += halvesUp(" (mean over seeds %.2f)", a.overSeeds)
	}
	if a.tasks < len(paper.BabiTasks) {
		ours += " over " + count(a.tasks, "task")
	}
	brief = ours
	if halting.tasks >= enoughTasks {
		brief += halvesUp(", halting %.2f", halting.best)
	}
	for _, other := range []struct {
		name string
		babiAverage
	}{{"halting", halting}, {"Transformer", transformer}} {
		if other.tasks > 0 {
			ours += halvesUp(", "+other.name+" %.2f", other.best)
			if other.tasks != a.tasks {
				ours += fmt.Sprintf(" over %d", other.tasks)
			}
		}
	}
	return ours, brief
}

// fails returns " fails" for one task, " fail" for several.
func fails(tasks int) string {
	if tasks == 1 {
		return " fails"
	}
	return " fail"
}

// failingSeeds names the tasks that the best seed solves and other seeds do not: "task 16 fails in 2 of 3 seeds".
func failingSeeds(list []babiTask) string {
	var texts []string
	for _, s := range list {
		failing := 0
		for _, percent := range s.seeds {
			if percent > paper.BabiFails {
				failing++
			}
		}
		if s.best <= paper.BabiFails && failing > 0 {
			texts = append(texts, fmt.Sprintf("task %d fails in %d of %d seeds", s.task, failing, len(s.seeds)))
		}
	}
	return and(texts)
}
