package paper

import (
	"fmt"
	"path/filepath"
	"strings"
)

// writePonderTimes compares ponder times by the number of supporting facts.
func writePonderTimes(p *Page, results []Result) {
	p.Printf("### Ponder time by supporting facts (section 3.1)\n\n" +
		"Mean ± standard deviation of the number of steps over all positions of the test stories, for the best seed of each task.\n\n")
	p.Head("experiment", "of", "one fact", "two", "three")
	row := []string{"paper", "tasks"}
	for _, moments := range babiPonder {
		row = append(row, fmt.Sprintf("%.1f ± %.1f", moments[0], moments[1]))
	}
	p.Row(row...)
	var equal, figures []string
	for _, c := range babiColumns {
		name := c.experiment(babiAdaptiveModel)
		list := summaries(results, name)
		three, all := bySupports(list)
		p.Row(append([]string{name, "tasks 1, 2, 3"}, ponderCells(three)...)...)
		p.Row(append([]string{"", "questions of all tasks" + onlyTasks(list)}, ponderCells(all)...)...)
		equal = append(equal, equalDepths(list, name)...)
		if drawing := histograms(list); drawing != nil {
			file := filepath.Join(name, histogramFile)
			p.Figures[file] = drawing
			figures = append(figures, fmt.Sprintf("![Ponder times of %s, task by task](%s)\n\n", name, p.Link(file)))
		}
	}
	if p.Printf("\n"); len(equal) > 0 {
		p.Printf("Depth often depends on the task rather than on the position. In the following tasks at least %.0f %% of all positions take the same number of steps: %s.\n\n",
			100*nearlyAll, strings.Join(equal, "; "))
	}
	p.Printf("%s", strings.Join(figures, ""))
}

// babiAdaptiveModel is the one that chooses its depth.
var babiAdaptiveModel = babiModel{suffix: "-adaptive"}

// bySupports adds up histograms by the number of supporting facts: of tasks 1 to 3, which need as many facts as their number says, and of all tasks.
func bySupports(list []babiSummary) (three, all map[int]ponderTimes) {
	three, all = map[int]ponderTimes{}, map[int]ponderTimes{}
	for _, s := range list {
		for facts, times := range s.ponder {
			all[facts] = all[facts].plus(times)
			if s.task <= 3 {
				three[s.task] = three[s.task].plus(times)
			}
		}
	}
	return three, all
}

// onlyTasks says of how many tasks there are results, where that is not all.
func onlyTasks(list []babiSummary) string {
	if n := len(list); n > 0 && n < len(babiNames) {
		return fmt.Sprintf(" (%d of 20)", n)
	}
	return ""
}

// nearlyAll is the share of positions from which on a task is said to have one depth.
const nearlyAll = 0.95

// equalDepths names the tasks of which nearly all positions take the same number of steps.
func equalDepths(list []babiSummary, experiment string) []string {
	byDepth := map[int][]int{}
	deepest := 0
	for _, s := range list {
		if steps, share := s.all().usual(); share >= nearlyAll {
			byDepth[steps] = append(byDepth[steps], s.task)
			deepest = max(deepest, steps)
		}
	}
	var texts []string
	for steps := 1; steps <= deepest; steps++ {
		if tasks := byDepth[steps]; len(tasks) > 0 {
			texts = append(texts, fmt.Sprintf("%s (%s)", numbered(tasks), count(steps, "step")))
		}
	}
	if len(texts) == 0 {
		return nil
	}
	return []string{experiment + ": " + and(texts)}
}

// ponderCells is mean and deviation for one, two and three facts.
func ponderCells(by map[int]ponderTimes) (cells []string) {
	for n := range babiPonder {
		text := "missing"
		if count, mean, deviation := by[n+1].moments(); count > 0 {
			text = fmt.Sprintf("%.1f ± %.1f", mean, deviation)
		}
		cells = append(cells, text)
	}
	return cells
}

// writeAttention shows whether attention gets sharper from step to step, around the supporting facts.
func writeAttention(p *Page, results []Result) {
	p.Printf("### Attention share of the supporting facts, step by step (section 3.1)\n\n" +
		"The percentage of the question's attention that goes to its supporting facts, averaged over heads and test stories, for the best seed. Brackets give the percentage\n" +
		"under uniform attention. The mean of a step covers the stories whose question ran that far. The paper reports that attention starts out very\n" +
		"uniform and becomes sharper around the supporting facts in later steps.\n\n")
	p.Head("experiment", "task", "steps 1, 2, ...")
	found := false
	for _, e := range table1Names() {
		for _, s := range summaries(results, e) {
			if len(s.attention) == 0 || s.task > 3 {
				continue
			}
			var steps []string
			for _, a := range s.attention {
				steps = append(steps, fmt.Sprintf("%.0f [%.0f]", 100*a.Share, 100*a.Uniform))
			}
			found = true
			p.Row(e, fmt.Sprint(s.task), strings.Join(steps, ", "))
		}
	}
	if !found {
		p.Row("missing", "", "")
	}
	p.Printf("\n")
}

// table1Names is the names of all experiments, in order.
func table1Names() (names []string) {
	for _, c := range babiColumns {
		for _, m := range babiModels {
			names = append(names, c.experiment(m))
		}
	}
	return names
}

// histogramFile is the name of an experiment's ponder times, in its folder of results.
const histogramFile = "ponder.svg"

// histograms draws the ponder times of an experiment, task by task; nil if there are none.
func histograms(list []babiSummary) []byte {
	var panels []panel
	for _, s := range list {
		all := s.all()
		if n, mean, deviation := all.moments(); n > 0 {
			panels = append(panels, panel{fmt.Sprintf("task %d: %.1f ± %.1f", s.task, mean, deviation), all, n})
		}
	}
	if len(panels) == 0 {
		return nil
	}
	return drawHistograms(panels)
}

// panel is the histogram of one task.
type panel struct {
	title string
	ponderTimes
	total int
}

// Measures of the drawing, in pixels.
const (
	panelWidth, panelHeight = 170, 110
	panelsARow              = 5
	barsHeight              = 60
)

// drawHistograms draws how large a share of the positions ran for one step, two steps, ...
func drawHistograms(panels []panel) []byte {
	steps := 1
	for _, p := range panels {
		steps = max(steps, len(p.Positions))
	}
	rows := (len(panels) + panelsARow - 1) / panelsARow
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="11">`+"\n",
		panelsARow*panelWidth, rows*panelHeight)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="white"/>`+"\n")
	for i, p := range panels {
		p.draw(&b, i%panelsARow*panelWidth+10, i/panelsARow*panelHeight+15, steps)
	}
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

// draw draws the panel at x and y, with a bar for each of so many steps.
func (p panel) draw(b *strings.Builder, x, y, steps int) {
	bar := (panelWidth - 30) / steps
	fmt.Fprintf(b, `<text x="%d" y="%d">%s</text>`+"\n", x, y, p.title)
	for step := range steps {
		share := 0.0
		if step < len(p.Positions) {
			share = float64(p.Positions[step]) / float64(p.total)
		}
		height := share * barsHeight
		fmt.Fprintf(b, `<rect x="%d" y="%.1f" width="%d" height="%.1f" fill="#3b6ea5"><title>%d steps: %.1f %%</title></rect>`+"\n",
			x+step*bar, float64(y+8+barsHeight)-height, bar-2, height, step+1, 100*share)
		fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="middle" fill="#555">%d</text>`+"\n", x+step*bar+bar/2-1, y+22+barsHeight, step+1)
	}
}
