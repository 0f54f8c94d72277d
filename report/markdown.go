package report

import (
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const preamble = `# Results

Written by ` + "`ut report`" + ` from the files in %s; every number of ours is one of theirs, and every one that is missing says so.

## bAbI (section 3.1, table 1, appendix C)

Trained on nine tenths of the training stories; the last tenth chose the checkpoint of a run, and the best of the seeds; the test was
measured once a run, afterwards. Error in percent of the test questions; a task with more than %d %% has failed. The paper picks from 10
seeds; its authors' code has width 128 and 100,000 updates. What ours had stands in the files. The paper's ± is called a
variance there; ours is the deviation over seeds. As the files were published, of 1,000 test
questions with their facts 741 of task 4 stand word for word in the 10k training file, 203 of task 20, 152 of task 17, and 25 at most of the others.

`

// Write writes the page of all results. root is the folder they were read from; figures that lie there are shown, as seen from the
// folder of the page.
func Write(w io.Writer, results []Result, root, page string) error {
	seen, err := filepath.Rel(page, root)
	if err != nil {
		seen = root
	}
	p := &printer{w: w, results: results, root: root, seen: filepath.ToSlash(seen)}
	p.printf(preamble, "`"+p.seen+"`", fails)
	p.table1()
	for _, experiment := range experiments() {
		p.experiment(experiment)
	}
	p.ponder()
	p.looks()
	p.stories()
	return p.err
}

// printer writes until the first error.
type printer struct {
	w       io.Writer
	results []Result
	root    string // where files are
	seen    string // the same, as the page links to it
	err     error
}

func (p *printer) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

// experiments is all of table 1, in its order.
func experiments() (names []string) {
	for _, column := range columns {
		for _, m := range models {
			names = append(names, "babi-"+column+m.suffix)
		}
	}
	return names
}

func (p *printer) table1() {
	p.printf("### Table 1: average error (failed tasks)\n\n| model | | 10k, single | 10k, joint | 1k, single | 1k, joint |\n|---|---|---|---|---|---|\n")
	for _, m := range models {
		paper, ours := []string{m.name, "paper"}, []string{"", "ours"}
		for _, column := range columns {
			name := "babi-" + column + m.suffix
			said := published[name]
			paper = append(paper, fmt.Sprintf("%.2f (%d/20)", said.Average, said.Failed))
			ours = append(ours, cell(summaries(p.results, name)))
		}
		p.row(paper)
		p.row(ours)
	}
	p.printf("\n")
}

func (p *printer) row(cells []string) { p.printf("| %s |\n", strings.Join(cells, " | ")) }

// cell is ours in table 1: over fewer tasks than 20 it says over how many.
func cell(list []summary) string {
	if len(list) == 0 {
		return "missing"
	}
	average, failed := overall(list)
	text := fmt.Sprintf("%.2f (%d/%d)", average, failed, len(list))
	if len(list) < len(tasks) {
		text += ", " + count(len(tasks)-len(list), "task") + " missing"
	}
	if slices.ContainsFunc(list, func(s summary) bool { return s.standIn != "" }) {
		text += ", with a stand-in"
	}
	return text
}

func (p *printer) experiment(name string) {
	list := summaries(p.results, name)
	if len(list) == 0 {
		return
	}
	said := published[name]
	p.printf("### %s\n\n%s\n\n", name, p.model(name))
	p.printf("| task | | best, paper | best, ours | mean ± deviation, paper | ours | seeds | minutes | questions/s |\n|---|---|---|---|---|---|---|---|---|\n")
	for n := range tasks {
		at := slices.IndexFunc(list, func(s summary) bool { return s.task == n+1 })
		row := []string{fmt.Sprint(n + 1), tasks[n], "-", "missing", "-", "missing", "0", "", ""}
		if said.Best != nil {
			row[2], row[4] = fmt.Sprintf("%.1f", said.Best[n]), fmt.Sprintf("%.1f ± %.1f", said.Seeds[n][0], said.Seeds[n][1])
		}
		if at >= 0 {
			s := list[at]
			row[3], row[5] = fmt.Sprintf("%.1f", s.best), spread(s.seeds)
			row[6], row[7], row[8] = fmt.Sprint(len(s.seeds)), fmt.Sprintf("%.1f", s.seconds/60), fmt.Sprintf("%.0f", s.perSecond)
			if s.best > fails {
				row[3] += " failed"
			}
			if s.standIn != "" {
				row[1] += ", trained on the stand-in " + s.standIn
			}
		}
		p.row(row)
	}
	average, failed := overall(list)
	p.printf("\nAverage %.2f over %d tasks, %d failed; the paper: %.2f, %d failed.\n\n", average, len(list), failed, said.Average, said.Failed)
}

// spread is mean ± deviation.
func spread(values []float64) string {
	mean, deviation := moments(values)
	if math.IsNaN(deviation) {
		return fmt.Sprintf("%.1f", mean)
	}
	return fmt.Sprintf("%.1f ± %.1f", mean, deviation)
}

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// model says what was trained and how, as the files say it; of what, if not all of an experiment is the same.
func (p *printer) model(experiment string) string {
	tasks := map[string][]string{}
	for _, r := range p.results {
		if r.Experiment != experiment {
			continue
		}
		said, task := r.how(), fmt.Sprint(r.Task)
		if !slices.Contains(tasks[said], task) {
			tasks[said] = append(tasks[said], task)
		}
	}
	var list []string
	for _, said := range slices.Sorted(maps.Keys(tasks)) {
		text := said
		if len(tasks) > 1 {
			text = fmt.Sprintf("%s (task %s)", said, strings.Join(tasks[said], ", "))
		}
		list = append(list, text)
	}
	return strings.Join(list, "; ") + "."
}

// ponder compares ponder times by the number of supporting facts.
func (p *printer) ponder() {
	p.printf("### Ponder time by supporting facts (section 3.1)\n\nMean ± deviation of the steps over all positions of the test stories, of the best seed of each task.\n\n")
	p.printf("| experiment | of | one | two | three |\n|---|---|---|---|---|\n")
	row := []string{"paper", "tasks"}
	for n := 1; n <= 3; n++ {
		row = append(row, fmt.Sprintf("%.1f ± %.1f", pondered[n][0], pondered[n][1]))
	}
	p.row(row)
	shown := ""
	for _, column := range columns {
		name := "babi-" + column + "-adaptive"
		list := summaries(p.results, name)
		all, three := map[int]Ponder{}, map[int]Ponder{}
		for _, s := range list {
			for supports, h := range s.ponder {
				all[supports] = all[supports].Plus(h)
				if s.task <= 3 {
					three[s.task] = three[s.task].Plus(h)
				}
			}
		}
		p.row(append([]string{name, "tasks 1, 2, 3"}, pondering(three)...))
		p.row(append([]string{"", "questions of all tasks"}, pondering(all)...))
		if figure := filepath.Join(name, HistogramFile); len(list) > 0 && p.has(figure) {
			shown += fmt.Sprintf("![Ponder times of %s, task by task](%s)\n\n", name, p.link(figure))
		}
	}
	p.printf("\n%s", shown)
}

// looks shows whether attention gets sharper from step to step, around the facts that answer.
func (p *printer) looks() {
	p.printf("### Attention of the question on its supporting facts, step by step (section 3.1)\n\n")
	p.printf("In percent, the mean over heads and test stories, of the best seed. The paper: starts out very uniform, and gets sharper in later\n")
	p.printf("steps around the supporting facts. In brackets the share of an attention that is the same everywhere. A step's stories are those whose\nquestion ran so far.\n\n")
	p.printf("| experiment | task | by step |\n|---|---|---|\n")
	any := false
	for _, name := range experiments() {
		for _, s := range summaries(p.results, name) {
			if len(s.looks) == 0 || s.task > 3 {
				continue
			}
			var steps []string
			for _, l := range s.looks {
				steps = append(steps, fmt.Sprintf("%.0f [%.0f]", 100*l.Share, 100*l.Uniform))
			}
			any = true
			p.row([]string{name, fmt.Sprint(s.task), strings.Join(steps, ", ")})
		}
	}
	if !any {
		p.row([]string{"missing", "", ""})
	}
	p.printf("\n")
}

func pondering(by map[int]Ponder) (cells []string) {
	for n := 1; n <= 3; n++ {
		text := "missing"
		if count, mean, deviation := by[n].Moments(); count > 0 {
			text = fmt.Sprintf("%.1f ± %.1f", mean, deviation)
		}
		cells = append(cells, text)
	}
	return cells
}

// stories shows the figures of single stories that the runs left beside their results.
func (p *printer) stories() {
	p.printf("### Single stories (figures 3 and 5 to 8)\n\nThe stories that the paper prints, read by the best seed of their task. Attention is that of the question over the facts, a colour a head.\n\n")
	found := false
	for _, name := range experiments() {
		for _, s := range summaries(p.results, name) {
			for _, figure := range drawn[s.task] {
				file := StoryFile(s.file, figure)
				if !p.has(file) {
					continue
				}
				found = true
				note := ""
				if s.standIn != "" {
					note = ", trained on the stand-in " + s.standIn
				}
				p.printf("Figure %d, %s%s:\n\n![Figure %[1]d](%[4]s)\n\n", figure, name, note, p.link(file))
			}
		}
	}
	if !found {
		p.printf("Missing: no run of tasks 1, 2 or 3 is done.\n")
	}
}

// drawn is the paper's figures of stories of a task.
var drawn = map[int][]int{1: {5}, 2: {6, 7}, 3: {8, 3}}

// StoryFile is where the figure of one of the paper's stories stands, beside the result in file.
func StoryFile(file string, figure int) string {
	return fmt.Sprintf("%s-figure%d.svg", strings.TrimSuffix(file, ".json"), figure)
}

func (p *printer) has(file string) bool {
	_, err := os.Stat(filepath.Join(p.root, file))
	return err == nil
}

func (p *printer) link(file string) string { return p.seen + "/" + filepath.ToSlash(file) }
