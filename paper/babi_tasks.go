package paper

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// writeBabiExperiment writes the section of one experiment: how its models were trained, and their errors task by task.
func writeBabiExperiment(p *Page, c babiColumn, experiment string, results []Result) {
	list := summaries(results, experiment)
	if len(list) == 0 {
		return
	}
	own := of(results, experiment)
	p.Printf("### %s\n\n%s %s a model.", experiment, trainedHow(own), parameters(own))
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
			row[1] += ", trained on the stand-in"
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
