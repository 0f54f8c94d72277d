package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"universal-transformer/paper"
	"universal-transformer/paper/measure"
)

// ponderBySupports compares ponder times by the number of supporting facts.
func (p *page) ponderBySupports(t paper.Table) {
	p.printf("Ponder time by supporting facts (section 3.1): mean ± standard deviation of the number of steps over all positions of the test stories, for the best seed of each task. Tasks with more than 5 %% errors are in brackets.\n\n")
	p.head("model", "questions of", "one fact", "two", "three")
	said := []string{"paper", "tasks 1, 2, 3"}
	for _, moments := range paper.BabiPonder {
		said = append(said, fmt.Sprintf("%.1f ± %.1f", moments[0], moments[1]))
	}
	p.row(said...)
	for _, r := range t.Rows {
		list := p.book.babiTasks(t, r)
		if !r.Adaptive || len(list) == 0 || strings.HasPrefix(r.Family, paper.BabiSimulated) {
			continue
		}
		three, all := bySupports(list)
		cells := ponderCells(three)
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
		p.row(append([]string{r.Family, "tasks 1, 2, 3"}, cells...)...)
		what := "all tasks"
		if len(list) < len(paper.BabiTasks) {
			what = fmt.Sprintf("%d of 20 tasks", len(list))
		}
		p.row(append([]string{"", what}, ponderCells(all)...)...)
	}
	p.printf("\n")
}

// bySupports sums histograms by the number of supporting facts: over tasks 1 to 3, where it equals the task's number, and over all tasks.
func bySupports(list []babiTask) (three, all map[int]measure.PonderTimes) {
	three, all = map[int]measure.PonderTimes{}, map[int]measure.PonderTimes{}
	for _, s := range list {
		for facts, times := range s.ponder {
			all[facts] = all[facts].Plus(times)
			if s.task <= 3 {
				three[s.task] = three[s.task].Plus(times)
			}
		}
	}
	return three, all
}

// ponderCells returns mean and deviation for one, two and three facts.
func ponderCells(by map[int]measure.PonderTimes) (cells []string) {
	for n := range paper.BabiPonder {
		text := "missing"
		if count, mean, deviation := by[n+1].Moments(); count > 0 {
			text = fmt.Sprintf("%.1f ± %.1f", mean, deviation)
		}
		cells = append(cells, text)
	}
	return cells
}

// depths names the tasks in which nearly all positions take the same number of steps.
func depths(list []babiTask) string {
	const nearlyAll = 0.95
	byDepth := map[int][]int{}
	for _, s := range list {
		if steps, share := s.positions().Mode(); share >= nearlyAll {
			byDepth[steps] = append(byDepth[steps], s.task)
		}
	}
	var texts []string
	for _, steps := range slices.Sorted(maps.Keys(byDepth)) {
		texts = append(texts, fmt.Sprintf("%s (%s)", numbered(byDepth[steps]), count(steps, "step")))
	}
	return and(texts)
}
