package report

import (
	"fmt"
	"slices"
	"strings"

	"universal-transformer/paper"
	"universal-transformer/paper/measure"
)

// enoughTasks is the number of bAbI tasks from which on averages and differences are judged: all, of which one training file may be missing.
const enoughTasks = 19

// judgeBabiModels compares the models of two rows, task by task, in every setting of table 1 in which both have two seeds of enough tasks: accuracies
// in percent, means over seeds.
func judgeBabiModels(model, other string) func(book) judgement {
	return func(b book) judgement {
		pairs, single, fewer := b.babiPairs(model, other)
		switch {
		case len(pairs) > 0:
		case len(single) > 0:
			return judgement{verdict: NotComparable, why: "1 seed in " + and(single)}
		case fewer:
			return judgement{verdict: NotComparable, why: fmt.Sprintf("fewer than %d common tasks", enoughTasks)}
		default:
			return judge(nil, "%+.2f")
		}
		pairs = corrected(pairs)
		var values []string
		for _, c := range pairs {
			value := noTest
			if c.tested() {
				value = strings.TrimPrefix(strings.TrimPrefix(probability(c.p), "p "), "= ")
			}
			values = append(values, value)
		}
		j := judge(pairs, "%+.2f")
		why := []string{"percentage points of accuracy, means over seeds", j.why, "corrected p in this order " + and(values)}
		if model == "-adaptive" {
			why = append(why, paper.BabiDepths)
		}
		if len(single) > 0 {
			why = append(why, "not counted, because a model has 1 seed: "+and(single))
		}
		j.why = strings.Join(append(why, fmt.Sprintf("settings with at least %d common tasks; the test says nothing about other seeds", enoughTasks)), "; ")
		return j
	}
}

// babiPairs compares two rows in every setting of table 1. It returns the titles of settings in which a model has one seed, too, and whether a setting
// has too few common tasks.
func (b book) babiPairs(model, other string) (pairs []pair, single []string, fewer bool) {
	t := paper.Table1()
	for _, s := range paper.BabiSettings {
		list, others := commonTasks(b.babiRow("babi-"+s.Name+model), b.babiRow("babi-"+s.Name+other))
		if len(list) < enoughTasks {
			fewer = fewer || len(list) > 0
			continue
		}
		if min(fewestSeeds(list), fewestSeeds(others)) < 2 {
			single = append(single, plain(s.Title))
			continue
		}
		var x, y []float64
		for i := range list {
			x, y = append(x, 100-mean(list[i].seeds)), append(y, 100-mean(others[i].seeds))
		}
		row, _ := t.Row("babi-" + s.Name + model)
		reference, _ := t.Row("babi-" + s.Name + other)
		result := paired(x, y, "tasks")
		result.excepted = excepted(reference, row, row.Columns[0]) || excepted(row, reference, row.Columns[0])
		pairs = append(pairs, pair{setting: plain(s.Title), comparison: result})
	}
	return pairs, single, fewer
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

// fewestSeeds returns the number of seeds of the task with the fewest.
func fewestSeeds(list []babiTask) int {
	few := len(list[0].seeds)
	for _, s := range list {
		few = min(few, len(s.seeds))
	}
	return few
}

// babiRow returns the tasks of a row of table 1 that have results.
func (b book) babiRow(family string) []babiTask {
	t := paper.Table1()
	r, _ := t.Row(family)
	return b.babiTasks(t, r)
}

// judgePonder compares the order of mean ponder times for one, two and three supporting facts.
func judgePonder(b book) judgement { return b.judgeByFacts("%.1f", stepsMean) }

// judgeUniformity does the same with the standard deviations of ponder times.
func judgeUniformity(b book) judgement { return b.judgeByFacts("± %.2f", stepsDeviation) }

// judgeByFacts compares the order of a moment of ponder times, over all seeds, for one, two and three supporting facts, tasks 1 to 3, in models that
// solve the task and were trained on its own file. The claim is contradicted if the moment does not rise in most models.
func (b book) judgeByFacts(format string, m moment) judgement {
	t := paper.Table1()
	var ours, why []string
	brief, complete, rising := "", false, 0
	for _, r := range t.Rows {
		list := b.babiTasks(t, r)
		own := firstThree(solved(list))
		if !r.Adaptive || len(own) < 2 {
			continue
		}
		by := bySupports(own, babiTask.allSeeds)
		texts, facts, known := momentByFacts(format, m, by, list)
		name := settingTitle(r)
		ours = append(ours, fmt.Sprintf("%s %s (rises in %s)", name, strings.Join(texts, ", "), risingSeeds(own, m)))
		if brief == "" {
			brief = fmt.Sprintf("%s: %s steps for %s facts", name, and(known), and(facts))
		}
		complete = complete || len(known) == 3
		if m.rises(by) {
			rising++
		} else {
			why = append(why, name+" does not rise")
		}
		if !m.rises(bySupports(solved(list), babiTask.allSeeds)) {
			why = append(why, "does not rise over the questions of all solved tasks, "+name)
		}
	}
	if len(ours) == 0 {
		return judgement{verdict: NotRun}
	}
	j := judgement{ours: strings.Join(ours, "; "), brief: brief, verdict: NotReproduced}
	j.why = strings.Join(append([]string{"all seeds together; tasks 1, 2, 3, own training file, at most 5 % errors"}, why...), "; ")
	switch {
	case 2*rising < len(ours):
		j.verdict = Contradicted
	case rising < len(ours):
	case complete:
		j.verdict = Reproduced
	default:
		j.verdict, j.reason = NotComparable, "no model with halting solves all three"
		j.why = j.reason + "; " + j.why
		if other, row := b.bestAdaptive(3, true); row.Family != "" && other.best <= paper.BabiFails {
			_, value := m(allFacts(other.ponder))
			j.why += fmt.Sprintf("; three facts, from other stories: "+format+", %s, not judged", value, settingTitle(row))
		}
	}
	return j
}

// momentByFacts returns a moment for one, two and three supporting facts, or why a number of facts has none; and the numbers of facts that have one,
// with their moments.
func momentByFacts(format string, m moment, by map[int]measure.PonderTimes, list []babiTask) (texts, facts, known []string) {
	for n := 1; n <= 3; n++ {
		positions, value := m(by[n])
		if positions == 0 {
			texts = append(texts, "- ("+withoutMoment(list, n)+")")
			continue
		}
		text := fmt.Sprintf(format, value)
		texts, facts, known = append(texts, text), append(facts, fmt.Sprint(n)), append(known, text)
	}
	return texts, facts, known
}

// withoutMoment says why a task of a row has no ponder times to compare: "unsolved", "from 1,925 questions", "not run".
func withoutMoment(list []babiTask, task int) string {
	at := slices.IndexFunc(list, func(s babiTask) bool { return s.task == task })
	switch {
	case at < 0:
		return "not run"
	case list[at].standIn != "":
		return list[at].standInSize()
	case list[at].best > paper.BabiFails:
		return "unsolved"
	}
	return "missing"
}

// settingTitle returns the title of a row's setting, without commas.
func settingTitle(r paper.Row) string { return plain(r.Block) }

// plain returns the title of a setting without commas: "10k single".
func plain(title string) string { return strings.ReplaceAll(title, ",", "") }

// judgeEarlyHalting looks at task 3 of the model with dynamic halting that has the fewest validation errors, all seeds. Models that were trained on a
// stand-in are not judged; the share of the best one is printed if it solves the task and no other model does.
func judgeEarlyHalting(b book) judgement {
	const task, many = 3, 0.1
	best, row := b.bestAdaptive(task, false)
	if row.Family == "" {
		return judgement{verdict: NotRun}
	}
	var shares, errors []string // the best seed's first
	early, of := 0, 0
	for _, s := range b.seedsOf(paper.Table1(), row, task, best.header.Seed) {
		share := earlyShare(s.ponder)
		shares, errors = append(shares, fmt.Sprintf("%.1f %%", 100*share)), append(errors, fmt.Sprintf("%.1f %%", s.best))
		if of++; share >= many {
			early++
		}
	}
	j := judgement{ours: fmt.Sprintf("%s (positions of the best seed that halt at step 1, 2, ...: %s)", and(shares), stepsOf(best)), brief: and(shares), verdict: NotReproduced}
	j.why = fmt.Sprintf("%s, the model with halting that is best on task 3 by validation, %s, best first, test errors %s; many: a tenth", settingTitle(row), count(of, "seed"), and(errors))
	switch {
	case best.best > paper.BabiFails:
		j.verdict, j.reason = NotComparable, "no model with halting solves task 3"
		if other, its := b.bestAdaptive(task, true); its.Family != "" && other.best <= paper.BabiFails {
			j.reason += " from its own file"
			j.ours += fmt.Sprintf("; from other stories %.1f %% (%s)", 100*earlyShare(other.ponder), stepsOf(other))
			j.why += fmt.Sprintf("; other stories: %s, test error %.1f %%, %s", settingTitle(its), other.best, count(len(other.seeds), "seed"))
		}
		j.why = j.reason + "; " + j.why
	case early == of:
		j.verdict = Reproduced
	case 2*early < of:
		j.verdict = Contradicted
	}
	return j
}

// stepsOf lists the numbers of positions that halt at step 1, 2 and so on.
func stepsOf(s babiTask) string {
	var steps []string
	for _, n := range allFacts(s.ponder).Positions {
		steps = append(steps, thousands(n))
	}
	return strings.Join(steps, " / ")
}

// bestAdaptive returns the result with dynamic halting that has the lowest validation error in a task, and its row: of models that were trained on
// the task's own file, or of those on a stand-in. Joint models are left out, because they have no validation error of one task.
func (b book) bestAdaptive(task int, standIn bool) (best babiTask, row paper.Row) {
	t := paper.Table1()
	for _, r := range t.Rows {
		for _, s := range b.babiTasks(t, r) {
			if !r.Adaptive || slices.Contains(r.Columns, "joint") || s.task != task || len(s.ponder) == 0 || (s.standIn != "") != standIn {
				continue
			}
			if row.Family == "" || s.lowest < best.lowest {
				best, row = s, r
			}
		}
	}
	return best, row
}

// seedsOf returns the result of every seed of a row on a task that has ponder times, that of one seed first.
func (b book) seedsOf(t paper.Table, r paper.Row, task int, first uint64) (list []babiTask) {
	for _, run := range b.row(t, r) {
		for _, test := range run.measured.(*measure.Babi).Tests {
			if test.Task != task || len(test.PonderTimes) == 0 {
				continue
			}
			s := babiTask{task: task}
			s.choose(run.Header, test)
			if run.Seed == first {
				list = slices.Insert(list, 0, s)
			} else {
				list = append(list, s)
			}
		}
	}
	return list
}

// earlyShare returns the share of positions that halt at step 1 or 2.
func earlyShare(by map[int]measure.PonderTimes) float64 {
	sum := allFacts(by)
	early := 0
	for _, n := range sum.Positions[:min(2, len(sum.Positions))] {
		early += n
	}
	total, _, _ := sum.Moments()
	return float64(early) / float64(total)
}
