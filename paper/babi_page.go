package paper

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

const babiPreamble = `Test error in percent; a task with an error above %d %% has failed. A tenth of the training stories is used for validation, which
selects the checkpoint of each run and the best seed; the test set is evaluated once per run, afterwards. The paper takes the best of 10 seeds,
and its authors' code trains models of width 128 for 100,000 updates; our training is described with each experiment. The paper calls its ± a
variance; ours is the standard deviation over seeds.

Before comparing:

`

// writeBabi writes the section of table 1.
func writeBabi(p *Page, results []Result) {
	p.Printf(babiPreamble, babiFails)
	for _, caveat := range babiCaveats(results) {
		p.Printf("- %s\n", caveat)
	}
	p.Printf("\n")
	writeTable1(p, results)
	for _, c := range babiColumns {
		for _, m := range babiModels {
			writeBabiExperiment(p, c, c.experiment(m), results)
		}
	}
	writePonderTimes(p, results)
	writeAttention(p, results)
	writeStories(p, results)
}

// babiCaveats is what a reader has to know before comparing our figures with the paper's.
func babiCaveats(results []Result) (list []string) {
	list = append(standInTexts(results), "In the published files, some test questions also occur, word for word and with all their facts, in the 10k training file: "+
		"741 of 1,000 for task 4, 203 for task 20, 152 for task 17, and at most 25 for any other task.")
	var seen []string
	for _, name := range table1Names() {
		if len(of(results, name)) > 0 && babiSeen[name] != "" {
			seen = append(seen, fmt.Sprintf("%s (%s)", name, babiSeen[name]))
		}
	}
	if len(seen) > 0 {
		list = append(list, "Checkpoints and seeds were selected on validation data, but the configurations were developed with some test errors known: "+
			"other configurations had been evaluated on the same test sets. Known test errors: "+strings.Join(seen, "; ")+". LOG.md has the details.")
	}
	return append(list, tiesText(results)...)
}

// standInTexts names files that tasks were trained on in place of their own.
func standInTexts(results []Result) (texts []string) {
	byFile, files := map[string][]string{}, []string{}
	for _, name := range table1Names() {
		for _, s := range summaries(results, name) {
			if s.standIn == "" {
				continue
			}
			file := fmt.Sprintf("Task %d: the training file was missing from our copy of the data, and another file, %s with %s, was used as a substitute",
				s.task, s.standIn, count(s.standInQuestions, "question"))
			if byFile[file] == nil {
				files = append(files, file)
			}
			byFile[file] = append(byFile[file], name)
		}
	}
	for _, file := range files {
		texts = append(texts, fmt.Sprintf("%s, in %s. Errors, ponder times and figures for that task, and averages that include it, "+
			"are not comparable with the paper's.", file, and(byFile[file])))
	}
	return texts
}

// babiSeen is which test errors were known before the configuration of an experiment was settled.
var babiSeen = map[string]string{
	"babi-10k-single":          "19 tasks without weight decay, 3.06 on average; task 2 with other batches and positions; task 17 with other convolutions",
	"babi-10k-joint":           "without weight decay, 3.6 on average",
	"babi-10k-single-adaptive": "tasks 1, 2, 7 and 8 without weight decay, reading the answer from the question position: 0.0, 2.6, 1.4 and 0.3",
	"babi-10k-joint-adaptive":  "without weight decay, reading the answer from the question position: 7.2 on average",
	"babi-1k-single":           "task 5 with weight decay, later dropped: 3.8",
	"babi-1k-single-adaptive":  "tasks 1 and 3, reading the answer from the question position: 0.0 and 76.1",
	"babi-1k-joint":            "with weight decay, later dropped: 12.9 on average, although its validation error is lower, 11.6 instead of 13.2",
}

// tiesText says which published ponder times were chosen for being low.
func tiesText(results []Result) []string {
	var names []string
	for _, c := range babiColumns {
		name := c.experiment(babiAdaptiveModel)
		if slices.ContainsFunc(of(results, name), func(r Result) bool { return r.ChosenBy == byPonder }) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("Ponder times are biased downward in %s: among checkpoints with the same validation accuracy, the one with the lowest ponder time was selected. "+
		"Since version 0.2, the one with the lowest cross entropy is selected.", and(names))}
}

// writeTable1 writes table 1, the paper's figures above ours.
func writeTable1(p *Page, results []Result) {
	p.Printf("### Average error (failed tasks)\n\nThe paper's averages are over all 20 tasks. Ours are over the tasks with a result; " +
		"where some are missing, the cell states how many there are.\n\n")
	head := []string{"model", ""}
	for _, c := range babiColumns {
		head = append(head, c.title)
	}
	p.Head(head...)
	for _, m := range babiModels {
		paper, ours := []string{m.title, "paper"}, []string{"", "ours"}
		for _, c := range babiColumns {
			said := babiPublished[c.experiment(m)]
			paper = append(paper, fmt.Sprintf("%.2f (%d/20)", said.Average, said.Failed))
			list := summaries(results, c.experiment(m))
			cell := table1Cell(list)
			if s, uses := standIn(list); uses {
				cell += fmt.Sprintf(", with a substitute for task %d", s.task)
			}
			ours = append(ours, cell)
		}
		p.Row(paper...)
		p.Row(ours...)
	}
	p.Printf("\n")
}

// table1Cell is ours in table 1.
func table1Cell(list []babiSummary) string {
	if len(list) == 0 {
		return "missing"
	}
	average, failed := overall(list)
	if len(list) < len(babiNames) {
		return fmt.Sprintf("%.2f over %d of 20 tasks (%d/%[2]d)", average, len(list), failed)
	}
	return fmt.Sprintf("%.2f (%d/20)", average, failed)
}

// writeBabiExperiment writes the section of one experiment: how its models were trained, and their errors task by task.
func writeBabiExperiment(p *Page, c babiColumn, experiment string, results []Result) {
	list := summaries(results, experiment)
	if len(list) == 0 {
		return
	}
	own := of(results, experiment)
	p.Printf("### %s\n\n%s %s per model.", experiment, trainedHow(own), parameters(own))
	if c.joint {
		s := list[0]
		p.Printf(" One model for all tasks, %s: %.1f minutes, %.0f questions/s.", count(len(own), "seed"), s.seconds/60, s.examples)
	}
	p.Printf("\n\n")
	said := babiPublished[experiment]
	head := []string{"task", ""}
	if said.Best != nil {
		head = append(head, "best, paper", "best, ours", "mean ± deviation, paper", "ours")
	} else {
		head = append(head, "best, ours", "mean ± deviation, ours")
	}
	if !c.joint {
		head = append(head, "seeds", "minutes", "questions/s")
	}
	p.Head(head...)
	for n := range babiNames {
		p.Row(babiRow(c, said, list, n+1)...)
	}
	writeBabiAverage(p, said, list)
}

// babiRow is a task in the table of an experiment.
func babiRow(c babiColumn, said babiPaper, list []babiSummary, task int) []string {
	row := []string{fmt.Sprint(task), babiNames[task-1]}
	best, mean, cost := "missing", "missing", []string{"0", "", ""}
	if at := slices.IndexFunc(list, func(s babiSummary) bool { return s.task == task }); at >= 0 {
		s := list[at]
		best, mean = fmt.Sprintf("%.1f", s.best), spread(s.seeds)
		cost = []string{fmt.Sprint(len(s.seeds)), fmt.Sprintf("%.1f", s.seconds/60), fmt.Sprintf("%.0f", s.examples)}
		if s.best > babiFails {
			best += " failed"
		}
		if s.standIn != "" {
			row[1] += ", trained on the substitute"
		}
	}
	if said.Best != nil {
		row = append(row, fmt.Sprintf("%.1f", said.Best[task-1]), best, fmt.Sprintf("%.1f ± %.1f", said.Seeds[task-1][0], said.Seeds[task-1][1]), mean)
	} else {
		row = append(row, best, mean)
	}
	if c.joint {
		return row
	}
	return append(row, cost...)
}

// writeBabiAverage compares averages, over the same tasks where the paper prints them.
func writeBabiAverage(p *Page, said babiPaper, list []babiSummary) {
	average, failed := overall(list)
	if len(list) == len(babiNames) {
		p.Printf("\nAverage %.2f, %d failed; the paper: %.2f, %d failed.\n\n", average, failed, said.Average, said.Failed)
		return
	}
	p.Printf("\nAverage %.2f over %d of 20 tasks, %d failed", average, len(list), failed)
	if same, ok := said.onSameTasks(list); ok {
		p.Printf("; the paper: %.2f over the same tasks", same)
	}
	p.Printf("; the paper over all 20: %.2f, %d failed.\n\n", said.Average, said.Failed)
}

// trainedHow says how models were trained, as the files say it, and of which tasks where not all are the same.
func trainedHow(results []Result) string {
	var texts []string
	for _, model := range distinct(results, Result.how) {
		text := model.what
		if len(model.results) < len(results) {
			text = model.tasks() + ": " + text
		}
		versions := distinct(model.results, func(r Result) string { return "version " + r.Version })
		for _, v := range versions {
			text += ", " + v.what
			if len(versions) > 1 {
				text += " (" + v.tasks() + ")"
			}
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "; ") + "."
}

// group is results of which the same can be said.
type group struct {
	what    string
	results []Result
}

// distinct groups results by what is said of them, in order.
func distinct(results []Result, say func(Result) string) (groups []group) {
	for _, r := range results {
		what := say(r)
		at := slices.IndexFunc(groups, func(g group) bool { return g.what == what })
		if at < 0 {
			at = len(groups)
			groups = append(groups, group{what: what})
		}
		groups[at].results = append(groups[at].results, r)
	}
	return groups
}

// tasks names the tasks of a group.
func (g group) tasks() string {
	var tasks []int
	for _, r := range g.results {
		for _, t := range r.Measured.(*babiMeasured).Tests {
			tasks = append(tasks, t.Task)
		}
	}
	slices.Sort(tasks)
	return numbered(slices.Compact(tasks))
}

// how is the model and its training. Configurations of all versions have what is read of them here.
func (r Result) how() string {
	var c struct {
		Training struct {
			Steps       int64   `json:"steps"`
			WeightDecay float64 `json:"weight_decay"`
		} `json:"training"`
	}
	text := r.Model
	if json.Unmarshal(r.Config, &c) == nil && c.Training.Steps > 0 {
		text += fmt.Sprintf(", at most %s", count(int(c.Training.Steps), "update"))
	}
	if decay := c.Training.WeightDecay; decay > 0 {
		text += fmt.Sprintf(", weight decay %v", decay)
	}
	return fmt.Sprintf("%s, %s", text, count(r.Threads, "thread"))
}

// parameters is how many a group of models has.
func parameters(results []Result) string {
	least, most := results[0].Parameters, results[0].Parameters
	for _, r := range results {
		least, most = min(least, r.Parameters), max(most, r.Parameters)
	}
	if least == most {
		return count(most, "parameter")
	}
	return fmt.Sprintf("%s to %s", thousands(least), count(most, "parameter"))
}
