package report

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"universal-transformer/internal/plot"
	"universal-transformer/paper"
	"universal-transformer/paper/measure"
)

// ponderBySupports compares ponder times by the number of supporting facts, and draws them.
func (p *page) ponderBySupports(t paper.Table) {
	p.printf("Ponder time by supporting facts (section 3.1): mean ± standard deviation of the number of steps over all positions of the test stories, all seeds together; in parentheses the mean of each seed. " +
		"A task is in brackets if its best seed has more than 5 %% errors; the solved tasks are the others, without those that were trained on part of their questions. The last column counts the seeds whose means rise with the number of facts, over tasks without brackets. Of models of task 3 from simulated stories, those that solve it follow.\n\n")
	p.head("model with dynamic halting", "questions of", "one fact", "two", "three", "rises in")
	said := []string{"paper", "tasks 1, 2, 3"}
	for _, moments := range paper.BabiPonder {
		said = append(said, fmt.Sprintf("%.1f ± %.1f", moments[0], moments[1]))
	}
	p.row(append(said, "")...)
	for _, r := range t.Rows {
		list := p.book.babiTasks(t, r)
		simulated := strings.HasPrefix(r.Family, paper.BabiSimulated)
		switch {
		case !r.Adaptive || len(list) == 0:
		case !simulated:
			p.ponderRows(settingTitle(r), list)
		case list[0].best <= paper.BabiFails:
			p.row(settingTitle(r), "task 3", "", "", ponderCells(list)[2], "")
		}
	}
	p.printf("\n")
}

// ponderRows writes the two rows of a model: of tasks 1 to 3, and of all tasks that it solves.
func (p *page) ponderRows(title string, list []babiTask) {
	cells := ponderCells(firstThree(list))
	for _, s := range list {
		if s.task <= len(cells) && s.best > paper.BabiFails {
			cells[s.task-1] = "[" + cells[s.task-1] + "]"
		}
	}
	for i := range cells {
		if !slices.ContainsFunc(list, func(s babiTask) bool { return s.task == i+1 }) {
			cells[i] = "not run"
		}
	}
	own := solved(list)
	rising := ""
	if three := firstThree(own); len(three) > 1 {
		rising = risingSeeds(three, stepsMean)
	}
	p.row(append(append([]string{title, "tasks 1, 2, 3"}, cells...), rising)...)
	if len(own) > 0 {
		p.row(append(append([]string{"", count(len(own), "solved task")}, ponderCells(own)...), risingSeeds(own, stepsMean))...)
	}
}

// firstThree returns tasks 1 to 3, whose number is that of their supporting facts.
func firstThree(list []babiTask) []babiTask {
	return slices.DeleteFunc(slices.Clone(list), func(s babiTask) bool { return s.task > 3 })
}

// solved returns the tasks that were trained on their own file and whose best seed does not fail.
func solved(list []babiTask) []babiTask {
	return slices.DeleteFunc(ownFiles(list), func(s babiTask) bool { return s.best > paper.BabiFails })
}

// bySupports sums ponder times over tasks, by the number of supporting facts. Those of a task are given by times.
func bySupports(list []babiTask, times func(babiTask) map[int]measure.PonderTimes) map[int]measure.PonderTimes {
	sum := map[int]measure.PonderTimes{}
	for _, s := range list {
		for facts, of := range times(s) {
			sum[facts] = sum[facts].Plus(of)
		}
	}
	return sum
}

// ponderSeeds returns the seeds that all tasks have, in order.
func ponderSeeds(list []babiTask) (seeds []uint64) {
	tasks := map[uint64]int{}
	for _, s := range list {
		for _, p := range s.ponders {
			tasks[p.seed]++
		}
	}
	for seed, n := range tasks {
		if n == len(list) {
			seeds = append(seeds, seed)
		}
	}
	slices.Sort(seeds)
	return seeds
}

// ofSeed returns a function for bySupports that gives the ponder times of a seed.
func ofSeed(seed uint64) func(babiTask) map[int]measure.PonderTimes {
	return func(s babiTask) map[int]measure.PonderTimes {
		at := slices.IndexFunc(s.ponders, func(p babiPonder) bool { return p.seed == seed })
		return s.ponders[at].by
	}
}

// ponderCells returns mean and deviation over all seeds for one, two and three facts, and the means of the seeds if there are several.
func ponderCells(list []babiTask) (cells []string) {
	all, seeds := bySupports(list, babiTask.allSeeds), ponderSeeds(list)
	for n := range paper.BabiPonder {
		number, mean, deviation := all[n+1].Moments()
		if number == 0 {
			cells = append(cells, "missing")
			continue
		}
		text := fmt.Sprintf("%.2f ± %.1f", mean, deviation)
		if len(seeds) > 1 {
			var means []string
			for _, seed := range seeds {
				_, mean, _ := bySupports(list, ofSeed(seed))[n+1].Moments()
				means = append(means, fmt.Sprintf("%.2f", mean))
			}
			text += " (" + strings.Join(means, ", ") + ")"
		}
		cells = append(cells, text)
	}
	return cells
}

// A moment is the mean or the deviation of ponder times, of so many positions; 0 positions if there are none.
type moment func(measure.PonderTimes) (positions int, value float64)

func stepsMean(p measure.PonderTimes) (positions int, value float64) {
	positions, value, _ = p.Moments()
	return positions, value
}

func stepsDeviation(p measure.PonderTimes) (positions int, value float64) {
	positions, _, value = p.Moments()
	return positions, value
}

// rises reports whether a moment rises with the number of facts, among those that are known.
func (m moment) rises(by map[int]measure.PonderTimes) bool {
	last := math.Inf(-1)
	for n := 1; n <= 3; n++ {
		if positions, value := m(by[n]); positions > 0 {
			if value <= last {
				return false
			}
			last = value
		}
	}
	return true
}

// risingSeeds says in how many seeds a moment rises with the number of facts: "2 of 3 seeds".
func risingSeeds(list []babiTask, m moment) string {
	rising, seeds := 0, ponderSeeds(list)
	for _, seed := range seeds {
		if m.rises(bySupports(list, ofSeed(seed))) {
			rising++
		}
	}
	return fmt.Sprintf("%d of %s", rising, count(len(seeds), "seed"))
}

// depths names the tasks in which nearly all positions, over all seeds, take the same number of steps.
func depths(list []babiTask) string {
	const nearlyAll = 0.95
	byDepth := map[int][]int{}
	for _, s := range list {
		if steps, share := allFacts(s.allSeeds()).Mode(); share >= nearlyAll {
			byDepth[steps] = append(byDepth[steps], s.task)
		}
	}
	var texts []string
	for _, steps := range slices.Sorted(maps.Keys(byDepth)) {
		texts = append(texts, fmt.Sprintf("%s (%s)", numbered(byDepth[steps]), count(steps, "step")))
	}
	return and(texts)
}

// factHistograms draws the ponder times of a row by the number of supporting facts, of tasks 1 to 3 and of all solved tasks; nil if there are none.
func factHistograms(list []babiTask) []byte {
	var panels []plot.Panel
	add := func(title string, times measure.PonderTimes) {
		if positions, mean, deviation := times.Moments(); positions > 0 {
			panels = append(panels, plot.Panel{Title: fmt.Sprintf("%s: %.1f ± %.1f", title, mean, deviation), Counts: times.Positions})
		}
	}
	for _, s := range firstThree(list) {
		add(taskTitle(s), s.allSeeds()[s.task])
	}
	by := bySupports(solved(list), babiTask.allSeeds)
	for n := 1; n <= 3; n++ {
		add("solved, "+count(n, "fact"), by[n])
	}
	if len(panels) == 0 {
		return nil
	}
	return plot.Histograms{Title: "ponder times by the number of supporting facts", Unit: "steps", Panels: panels}.SVG()
}

// taskTitle is the title of a task in a figure, which says if the task fails: "task 3 (fails)".
func taskTitle(s babiTask) string {
	if s.best > paper.BabiFails {
		return fmt.Sprintf("task %d (fails)", s.task)
	}
	return fmt.Sprintf("task %d", s.task)
}

// histograms draws the ponder times of a row, task by task; nil if there are none.
func histograms(list []babiTask) []byte {
	var panels []plot.Panel
	for _, s := range list {
		sum := allFacts(s.allSeeds())
		if n, mean, deviation := sum.Moments(); n > 0 {
			panels = append(panels, plot.Panel{Title: fmt.Sprintf("%s: %.1f ± %.1f", taskTitle(s), mean, deviation), Counts: sum.Positions})
		}
	}
	if len(panels) == 0 {
		return nil
	}
	return plot.Histograms{Title: "ponder times by task", Unit: "steps", Panels: panels}.SVG()
}
