package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"universal-transformer/experiment/recipes"
	"universal-transformer/paper"
	"universal-transformer/paper/measure"
	"universal-transformer/task/babi"
)

// babiDetails writes results/table1.md.
func (p *page) babiDetails(t paper.Table) {
	p.babiCaveats(t)
	p.renamedTraining()
	p.ablation(t)
	p.appendixC(t)
	p.taskThree(t)
	for _, r := range t.Rows {
		if !strings.HasPrefix(r.Family, paper.BabiSimulated) {
			p.babiByTask(t, r)
		}
	}
	p.overfitting()
	p.babiPonder(t)
	p.babiAttention(t)
	p.storyFigures(t)
}

// babiCaveats lists what was known of the test data.
func (p *page) babiCaveats(t paper.Table) {
	p.printf("## Selection\n\nKnown test errors while the configurations were developed:\n\n")
	for _, r := range t.Rows {
		runs := p.book.row(t, r)
		if seen := paper.BabiSeen[r.Family]; seen != "" && len(runs) > 0 {
			p.printf("- %s: %s.\n", r.Family, seen)
		}
	}
	p.printf("\nChoices on validation data that have no [search](#searches) with results are described in docs/log.md:\n\n")
	for _, r := range t.Rows {
		if entry := paper.BabiChosen[r.Family]; entry != "" {
			p.printf("- %s: %s.\n", r.Family, entry)
		}
	}
	p.printf("\nA run's checkpoint is the one with the most right validation answers, and of equals the one with the lowest cross entropy of the smoothed targets of training. Models with few questions overfit: their cross entropy rises while more answers become right. "+
		"In %s, the lowest cross entropy of smoothed targets decides. Cross entropies on this page are without smoothing, and so is that which breaks ties between seeds.%s\n\n", and(chosenByEntropy(t)), p.otherCriteria(t))
}

// otherCriteria names the rows with runs of earlier versions, whose checkpoints were chosen otherwise; "" if there are none.
func (p *page) otherCriteria(t paper.Table) string {
	var texts []string
	for _, r := range t.Rows {
		runs, earlier := p.book.row(t, r), 0
		for _, run := range runs {
			if strings.Contains(run.ChosenBy, "ponder") {
				earlier++
			}
		}
		if earlier > 0 {
			texts = append(texts, fmt.Sprintf("%d of %s of %s", earlier, count(len(runs), "run"), r.Family))
		}
	}
	if len(texts) == 0 {
		return ""
	}
	return " Version 0.1 trained " + and(texts) + ", with the same configurations; of checkpoints with equally many right answers it took the one with the lowest ponder time first, which at fixed depth is equal, and it kept no curves."
}

// chosenByEntropy returns the rows whose checkpoints are chosen by cross entropy.
func chosenByEntropy(t paper.Table) (families []string) {
	for _, c := range t.Columns {
		for _, r := range t.Rows {
			recipe, err := recipes.Named(r.Family + "/" + c.Name) // joint models have one column, the others one for each task
			if err == nil && recipe.Run().Fields()["training.best_by_accuracy"] != true && !slices.Contains(families, r.Family) {
				families = append(families, r.Family)
			}
		}
	}
	return families
}

// renamedTraining lists what else differs in the training of models whose stories have words exchanged, from the recipes.
func (p *page) renamedTraining() {
	p.printf("## Training where words are exchanged\n\nFields in which the recipes differ from those of the same setting without exchanged words, Universal Transformer. The other models of a setting are trained like it, but for the exceptions above.\n\n")
	for _, s := range []struct{ title, plain, exchanged string }{
		{"1k, single", "babi-1k-single/task02", "babi-1k-single-renamed/task02"}, {"1k, joint", "babi-1k-joint/joint", "babi-1k-joint-renamed/joint"},
	} {
		p.printf("%s:\n\n", s.title)
		p.head("field", "without", "words exchanged")
		own, other := recipes.MustRun(s.plain), recipes.MustRun(s.exchanged)
		before, after := own.Identity().Fields(), other.Identity().Fields()
		for _, field := range different(own, other) {
			if field != "name" {
				p.row(field, fieldValue(before[field]), fieldValue(after[field]))
			}
		}
		p.printf("\n")
	}
}

// fieldValue writes the value of a field of a recipe; "-" if the recipe does not have it.
func fieldValue(value any) string {
	if value == nil {
		return "-"
	}
	return fmt.Sprint(value)
}

// appendixC writes the results of dynamic halting task by task: the best seed, and mean and deviation over seeds.
func (p *page) appendixC(t paper.Table) {
	p.printf("## UT with dynamic halting by task (appendix C)\n\nError of the best seed; mean ± deviation over seeds (the paper has 10).\n\n")
	head, rule := []string{"task", ""}, map[string][]babiTask{}
	for _, s := range paper.BabiSettings {
		head = append(head, s.Title+": paper", "ours")
		row, _ := t.Row("babi-" + s.Name + "-adaptive")
		rule[row.Family] = p.book.babiTasks(t, row)
	}
	p.head(head...)
	for n, name := range paper.BabiTasks {
		cells := []string{fmt.Sprint(n + 1), name}
		for _, s := range paper.BabiSettings {
			family := "babi-" + s.Name + "-adaptive"
			said := paper.PublishedBabi(family)
			cells = append(cells, fmt.Sprintf("%.1f; %.1f ± %.1f", said.Best[n], said.Seeds[n][0], said.Seeds[n][1]), babiCell(rule[family], n+1))
		}
		p.row(cells...)
	}
	p.printf("\n")
}

// taskThree compares the files that task 3 was learned from.
func (p *page) taskThree(t paper.Table) {
	p.printf("## Task 3 by its training questions\n\nError of the best seed by validation; mean ± deviation over seeds. All are tested on the same 1,000 published questions. " +
		"The paper has 10,000 questions for training, of which 1,925 are here. Joint models are trained on all tasks, the others on this one. Simulated stories follow rules that were read off the published ones, those of the test among them.\n\n")
	settings := []struct{ family, title string }{
		{"babi-1k-single", "1,000"}, {"babi-1k-single-renamed", "1,000, words exchanged"}, {"babi-10k-single", "1,925"}, {paper.BabiSimulated, "10,000 simulated"}, {paper.BabiSimulated + "-renamed", "10,000 simulated, words exchanged"},
		{"babi-1k-joint", "1,000, joint"}, {"babi-1k-joint-renamed", "1,000, joint, words exchanged"}, {"babi-10k-joint", "1,925, joint"},
	}
	head := []string{"model"}
	for _, s := range settings {
		head = append(head, s.title)
	}
	p.head(head...)
	for _, m := range paper.BabiModels {
		cells := []string{m.Title}
		for _, s := range settings {
			row, _ := t.Row(s.family + m.Suffix)
			cell, _, _ := strings.Cut(babiCell(p.book.babiTasks(t, row), 3), ", from ") // the head has the number of questions
			cells = append(cells, cell)
		}
		p.row(cells...)
	}
	p.printf("\n")
}

// babiCell returns our best seed, and mean and deviation over seeds with their number.
func babiCell(list []babiTask, task int) string {
	at := slices.IndexFunc(list, func(s babiTask) bool { return s.task == task })
	if at < 0 {
		return "missing"
	}
	s := list[at]
	text := fmt.Sprintf("%.1f; n = 1", s.best)
	if len(s.seeds) > 1 {
		text = fmt.Sprintf("%.1f; %s, n = %d", s.best, spread("%.1f", s.seeds), len(s.seeds))
	}
	if s.standIn != "" {
		text += ", " + s.standInSize()
	}
	return text
}

// babiByTask lists the errors of a row task by task.
func (p *page) babiByTask(t paper.Table, r paper.Row) {
	list := p.book.babiTasks(t, r)
	if len(list) == 0 {
		return
	}
	p.printf("## %s: %s, %s\n\n", r.Family, r.Title, r.Block)
	head := []string{"task", "", "best seed", "mean ± deviation", "seeds"}
	said := paper.PublishedBabi(r.Family)
	if said.Best != nil {
		head = append(head, "paper: best", "paper: mean ± deviation")
	}
	p.head(head...)
	for n, name := range paper.BabiTasks {
		cells := []string{fmt.Sprint(n + 1), name, "missing", "missing", "0"}
		if at := slices.IndexFunc(list, func(s babiTask) bool { return s.task == n+1 }); at >= 0 {
			s := list[at]
			cells = []string{fmt.Sprint(n + 1), name, fmt.Sprintf("%.1f", s.best), spread("%.1f", s.seeds), fmt.Sprint(len(s.seeds))}
			if s.best > paper.BabiFails {
				cells[2] += ", failed"
			}
			if s.standIn != "" {
				cells[1] += ", " + s.standInSize()
			}
		}
		if said.Best != nil {
			cells = append(cells, fmt.Sprintf("%.1f", said.Best[n]), fmt.Sprintf("%.1f ± %.1f", said.Seeds[n][0], said.Seeds[n][1]))
		}
		p.row(cells...)
	}
	a := averageBabi(list)
	p.printf("\nAverage over %d of 20 tasks: %s by the best seeds, %s over all seeds; %d failed. ", a.tasks, halvesUp("%.2f", a.best), halvesUp("%.2f", a.overSeeds), len(a.failed))
	if said.Best != nil && a.tasks < len(paper.BabiTasks) {
		same := 0.0
		for _, s := range list {
			if s.standIn == "" {
				same += said.Best[s.task-1] / float64(a.tasks)
			}
		}
		p.printf("The paper over the same tasks: %s. ", halvesUp("%.2f", same))
	}
	p.printf("The paper over all 20: %.2f, %d failed.\n\n", said.Average, said.Failed)
}

// babiPonder draws ponder times task by task.
func (p *page) babiPonder(t paper.Table) {
	p.printf("## Ponder times by supporting facts\n\nAll seeds together: of tasks 1 to 3, and of all solved tasks, which have at most 5 %% errors and were trained on their own files.\n\n")
	for _, r := range t.Rows {
		if drawing := factHistograms(p.book.babiTasks(t, r)); drawing != nil {
			p.draw(r.Family+"/ponder-facts.svg", fmt.Sprintf("Ponder times of %s by the number of supporting facts", r.Family), drawing)
		}
	}
	p.printf("## Ponder times by task\n\nAll seeds together.\n\n")
	for _, r := range t.Rows {
		list := p.book.babiTasks(t, r)
		if text := depths(list); r.Adaptive && text != "" {
			p.printf("%s: at least 95 %% of all positions take the same number of steps in %s.\n\n", r.Family, text)
		}
		if drawing := histograms(list); drawing != nil {
			p.draw(r.Family+"/ponder.svg", fmt.Sprintf("Ponder times of %s, task by task", r.Family), drawing)
		}
	}
}

// babiAttention shows whether attention gets sharper from step to step, around the supporting facts.
func (p *page) babiAttention(t paper.Table) {
	p.printf("## Attention share of the supporting facts, step by step (section 3.1)\n\n" +
		"The percentage of the question's attention that goes to its supporting facts, averaged over heads and test stories, for the best seed. Brackets give the percentage " +
		"under uniform attention. The mean of a step covers the stories whose question ran that far. The paper reports that attention starts out very " +
		"uniform and becomes sharper around the supporting facts in later steps.\n\n")
	p.head("recipes", "task", "steps 1, 2, ...")
	for _, r := range t.Rows {
		for _, s := range p.book.babiTasks(t, r) {
			if len(s.attention) > 0 && s.task <= 3 {
				p.row(r.Family, fmt.Sprint(s.task), shares(s.attention))
			}
		}
	}
	p.printf("\n")
}

func shares(attention []measure.AttentionShare) string {
	var steps []string
	for _, a := range attention {
		steps = append(steps, fmt.Sprintf("%.0f [%.0f]", 100*a.Share, 100*a.Uniform))
	}
	return strings.Join(steps, ", ")
}

// storyFigures links the figures of single stories next to the results, those of models that solve the task first.
func (p *page) storyFigures(t paper.Table) {
	p.printf("## Single stories (figures 3 and 5 to 8)\n\n" +
		"The stories shown in the paper, processed by the best seed of their task; models that solve the task come first, and titles have the test error of the task. " +
		"Figure 3 shows the number of steps of each position for the story of figure 8, because the paper does not print the story of its figure 3. " +
		"The others show the attention of the question to the facts, with one colour per head.\n\n")
	var lost []string
	for _, f := range append([]babi.Printed{{Figure: 3, Task: 3}}, babi.Stories...) {
		var found []babiTask
		for _, r := range t.Rows {
			for _, s := range p.book.babiTasks(t, r) {
				switch {
				case s.task != f.Task:
				case p.has(s.header.Beside(measure.StoryFigure(f.Figure))):
					found = append(found, s)
				case r.Adaptive || f.Figure != 3:
					lost = append(lost, fmt.Sprintf("figure %d, %s", f.Figure, r.Family))
				}
			}
		}
		slices.SortStableFunc(found, func(a, b babiTask) int { return cmp.Compare(a.best, b.best) })
		for _, s := range found {
			title := fmt.Sprintf("Figure %d, %s, error %.1f %%", f.Figure, s.header.Family(), s.best)
			if s.standIn != "" {
				title += ", task 3 " + s.standInSize()
			}
			p.printf("%s:\n\n", title)
			p.link(s.header.Beside(measure.StoryFigure(f.Figure)), title)
		}
	}
	if len(lost) > 0 {
		p.printf("Of the best seeds of these, no figure was kept: %s.\n\n", strings.Join(lost, "; "))
	}
}
