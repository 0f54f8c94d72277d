package paper

import (
	"fmt"
	"slices"
	"strings"

	"universal-transformer/task/babi"
)

// babiFigures is the paper's figures of single stories, and the task of each.
func babiFigures() (figures []babi.Printed) {
	figures = append(figures, babi.Printed{Figure: 3, Task: 3})
	return append(figures, babi.Stories...)
}

// drawn lists the experiments whose best seed has left a figure, and the file of each.
func drawn(p *Page, results []Result, f babi.Printed) (experiments, files []string) {
	for _, e := range table1Names() {
		for _, s := range summaries(results, e) {
			if file := s.result.Beside(storyFigure(f.Figure)); s.task == f.Task && p.Has(file) {
				experiments, files = append(experiments, e), append(files, file)
			}
		}
	}
	return experiments, files
}

// writeStories shows the figures of single stories that runs left beside their results.
func writeStories(p *Page, results []Result) {
	p.Printf("### Single stories (figures 3 and 5 to 8)\n\n" +
		"The stories shown in the paper, processed by the best seed of their task. Figure 3 shows the number of steps of each position for the story of\n" +
		"figure 8, because the paper does not print the story of its figure 3. The others show the attention of the question to the facts, with one colour per head.\n\n")
	found := false
	for _, f := range babiFigures() {
		experiments, files := drawn(p, results, f)
		for i, e := range experiments {
			found = true
			if s, uses := standIn(summaries(results, e)); uses && s.task == f.Task {
				e += ", trained on the substitute"
			}
			p.Printf("Figure %d, %s:\n\n![Figure %[1]d](%[3]s)\n\n", f.Figure, e, p.Link(files[i]))
		}
	}
	if !found {
		p.Printf("Missing: there are no runs of tasks 1, 2 or 3.\n")
	}
}

// babiOverview is table 1, the ponder times of section 3.1, and the figures of single stories.
func babiOverview(p *Page, results []Result) (rows []Row) {
	for _, c := range babiColumns {
		r := Row{Part: "table 1", What: fmt.Sprintf("bAbI, %s: average error (failed tasks)", c.title)}
		var paper, ours, missing, files []string
		for _, m := range babiModels {
			name := c.experiment(m)
			said, list := babiPublished[name], summaries(results, name)
			title := strings.Replace(m.title, "Universal Transformer", "UT", 1)
			paper = append(paper, fmt.Sprintf("%s %.2f (%d/20)", title, said.Average, said.Failed))
			if len(list) == 0 {
				missing = append(missing, title)
				continue
			}
			ours = append(ours, title+" "+table1Cell(list))
			if lacks := missingTasks(list); len(lacks) > 0 {
				missing = append(missing, title+": "+numbered(lacks))
			}
			if s, uses := standIn(list); uses {
				files = append(files, fmt.Sprintf("the training file of task %d (a file with %s was used as a substitute)", s.task, count(s.standInQuestions, "question")))
			}
		}
		r.Paper, r.Ours, r.Missing = strings.Join(paper, "; "), strings.Join(ours, "; "), strings.Join(append(missing, slices.Compact(files)...), "; ")
		if len(ours) == 0 {
			r.Ours = "missing"
		}
		rows = append(rows, r)
	}
	return append(append(rows, ponderOverview(results)), storyOverview(p, results)...)
}

// ponderOverview is mean ponder times of tasks with one, two and three supporting facts.
func ponderOverview(results []Result) Row {
	r := Row{Part: "section 3.1", What: "bAbI: mean ponder time of tasks 1, 2 and 3, which need one, two and three supporting facts", Paper: "2.3, 3.1, 3.8"}
	var ours, missing []string
	for _, c := range babiColumns {
		list := summaries(results, c.experiment(babiAdaptiveModel))
		three, _ := bySupports(list)
		var means []string
		for n := 1; n <= 3; n++ {
			text := "missing"
			if positions, mean, _ := three[n].moments(); positions > 0 {
				text = fmt.Sprintf("%.1f", mean)
			}
			means = append(means, text)
		}
		if len(three) == 0 {
			missing = append(missing, c.title)
			continue
		}
		ours = append(ours, c.title+": "+strings.Join(means, ", "))
	}
	if r.Ours, r.Missing = strings.Join(ours, "; "), strings.Join(missing, "; "); len(ours) == 0 {
		r.Ours = "missing"
	}
	return r
}

// storyOverview is where the figures of single stories have been drawn.
func storyOverview(p *Page, results []Result) (rows []Row) {
	for _, f := range babiFigures() {
		r := Row{Part: fmt.Sprintf("figure %d", f.Figure), What: fmt.Sprintf("bAbI: attention to a story of task %d, step by step", f.Task), Paper: "-", Ours: "missing"}
		if f.Figure == 3 {
			r.What = "bAbI: ponder times of a story of task 3"
		}
		if experiments, _ := drawn(p, results, f); len(experiments) > 0 {
			r.Ours = "drawn: " + strings.Join(experiments, ", ")
		}
		rows = append(rows, r)
	}
	return rows
}
