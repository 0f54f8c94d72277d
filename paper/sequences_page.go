package paper

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// shown is the sets that the table itself has.
func (s *sequences) shown() (names []string) {
	for _, set := range s.sets {
		if set.shown {
			names = append(names, set.name)
		}
	}
	return names
}

// of gives the results of a row on a task, by seed.
func (s *sequences) of(results []Result, r sequenceRow, task string) (list []Result) {
	for _, result := range of(results, s.experiment(r)) {
		if result.Task == task {
			list = append(list, result)
		}
	}
	return list
}

// nats is a cross entropy of validation, "" of results that do not have it.
func nats(v float64) string {
	if v == 0 {
		return ""
	}
	return fmt.Sprintf("%.2g", v)
}

// chosen is the seed with the lowest validation cross entropy, of at least one result.
func chosen(results []Result) Result {
	return slices.MinFunc(results, func(a, b Result) int { return cmp.Compare(a.Validation, b.Validation) })
}

// chosenMeasured is what the chosen seed came to; nothing if there are no results.
func chosenMeasured(results []Result) *sequencesMeasured {
	if len(results) == 0 {
		return &sequencesMeasured{}
	}
	return chosen(results).Measured.(*sequencesMeasured)
}

// best is the accuracies of the chosen seed in a set, "" if it was not measured.
func best(results []Result, set string) string {
	m := chosenMeasured(results).set(set)
	if m == nil {
		return ""
	}
	return accuracies(m.Decoded)
}

// spreads is the sequence accuracies of all seeds: each, the median, and mean ± deviation; "" for fewer than two.
func spreads(results []Result, set string) string {
	var values []float64
	var texts []string
	for _, r := range results {
		if m := r.Measured.(*sequencesMeasured).set(set); m != nil {
			values = append(values, m.Decoded.Sequences.Value())
			texts = append(texts, fmt.Sprintf("seed %d %s", r.Seed, decimals(m.Decoded.Sequences)))
		}
	}
	if len(values) < 2 {
		return ""
	}
	slices.Sort(values)
	median := (values[(len(values)-1)/2] + values[len(values)/2]) / 2
	mean, deviation := moments(values)
	return fmt.Sprintf("%s; median %.3f, mean %.3f ± %.3f", strings.Join(texts, ", "), median, mean, deviation)
}

// overview is one row of RESULTS.md for the table.
func (s *sequences) overview(_ *Page, results []Result) []Row {
	set := s.shown()[0]
	row := Row{Part: "table " + s.table[len("table"):], What: s.title + ", " + set}
	var paper, ours, missing []string
	for _, r := range s.rows {
		if r.paper != nil {
			paper = append(paper, r.title+" "+strings.Join(r.paper, ", "))
		}
		var cells, without []string
		for _, c := range s.columns {
			if !r.has(c.task) {
				continue
			}
			cell := best(s.of(results, r, c.task), set)
			if cell == "" {
				cell = "missing"
				without = append(without, c.task)
			}
			if r.only != nil {
				cell = c.task + " " + cell
			}
			cells = append(cells, cell)
		}
		switch {
		case len(without) == len(cells):
			missing = append(missing, r.title)
			continue
		case len(without) > 0:
			missing = append(missing, r.title+": "+and(without))
		}
		ours = append(ours, r.title+" "+strings.Join(cells, ", "))
	}
	row.Paper, row.Ours, row.Missing = strings.Join(paper, "; "), strings.Join(ours, "; "), strings.Join(missing, "; ")
	if len(ours) == 0 {
		row.Ours, row.Missing = "not measured yet", "everything"
	}
	return []Row{row}
}

// write is the section of the table.
func (s *sequences) write(p *Page, results []Result) {
	p.Printf("%s\n\n", s.preface)
	s.writeTable(p, results)
	s.writeRules(p, results)
	s.writeComparison(p, results)
	s.writeFigures(p, results)
	s.writeKinds(p, results)
	s.writeSets(p, results)
	s.writeRuns(p, results)
}

// writeTable is the table: a row of the paper's figures and rows of ours, one a set that is shown.
func (s *sequences) writeTable(p *Page, results []Result) {
	head := []string{"model", ""}
	for _, c := range s.columns {
		head = append(head, c.task)
	}
	p.Head(head...)
	for _, r := range s.rows {
		title := r.title
		if r.paper != nil {
			p.Row(append([]string{title, "paper"}, r.paper...)...)
			title = ""
		}
		for _, set := range s.shown() {
			cells, any := []string{title, set}, false
			for _, c := range s.columns {
				cell := best(s.of(results, r, c.task), set)
				any = any || cell != ""
				if cell == "" && r.has(c.task) {
					cell = "missing"
				}
				cells = append(cells, cell)
			}
			if any || r.paper != nil && set == s.shown()[0] {
				p.Row(cells...)
				title = ""
			}
		}
	}
	p.Printf("\n")
}

// writeRules says what the positions of each model tell it.
func (s *sequences) writeRules(p *Page, results []Result) {
	for _, r := range s.rows {
		if r.told != "" && len(of(results, s.experiment(r))) > 0 {
			p.Printf("- %s: %s.\n", r.title, r.told)
		}
	}
	p.Printf("\n")
}

// writeFigures links a figure of accuracy by length for each task.
func (s *sequences) writeFigures(p *Page, results []Result) {
	if s.axis == "" {
		return
	}
	for _, c := range s.columns {
		var lines []chartLine
		for _, r := range s.rows {
			for _, result := range s.of(results, r, c.task) {
				line := chartLine{name: fmt.Sprintf("%s, seed %d", r.title, result.Seed)}
				for _, set := range s.sets {
					if m := result.Measured.(*sequencesMeasured).set(set.name); m != nil && set.length > 0 {
						line.points = append(line.points, [2]float64{float64(set.length), m.Decoded.Sequences.Value()})
					}
				}
				slices.SortFunc(line.points, func(a, b [2]float64) int { return cmp.Compare(a[0], b[0]) })
				lines = append(lines, line)
			}
		}
		if len(lines) > 0 {
			file := filepath.Join(s.prefix + "-" + c.task + "-length.svg")
			p.Figures[file] = chart{title: c.task + ": sequence accuracy by length", axis: s.axis, shaded: float64(s.trained), lines: lines}.draw()
			p.Printf("![%s: accuracy by length](%s)\n\n", c.task, p.Link(file))
		}
	}
}

// writeSets lists all that was measured.
func (s *sequences) writeSets(p *Page, results []Result) {
	p.Printf("### All measurements\n\nToken accuracy (sequence accuracy) with greedy decoding and, after a slash, with teacher forcing where it was measured. " +
		"First error: the mean position of the first wrong token in wrong answers, relative to the target length. Not ended: answers cut off at the length limit.\n\n")
	p.Head("task", "experiment", "seed", "examples", "", "accuracy", "first error", "not ended", "ponder time")
	for _, c := range s.columns {
		for _, r := range s.rows {
			for _, result := range s.of(results, r, c.task) {
				for _, set := range result.Measured.(*sequencesMeasured).Sets {
					p.Row(c.task, s.experiment(r), fmt.Sprint(result.Seed), thousands(set.Examples), set.Name, set.accuracy(), set.firstWrong(), fmt.Sprint(set.Cut), set.ponder())
				}
			}
		}
	}
	p.Printf("\n")
}

func (s measuredSet) accuracy() string {
	if s.Forced == nil {
		return accuracies(s.Decoded)
	}
	return accuracies(s.Decoded) + " / " + accuracies(*s.Forced)
}

func (s measuredSet) firstWrong() string {
	if s.Decoded.Sequences.Correct == s.Examples {
		return ""
	}
	return fmt.Sprintf("%.2f", s.FirstWrong)
}

func (s measuredSet) ponder() string {
	if s.Encoder == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f, %.1f", s.Encoder, s.Decoder)
}

// writeRuns says how everything was trained, and what the seeds came to.
func (s *sequences) writeRuns(p *Page, results []Result) {
	p.Printf("### Training\n\n")
	p.Head("experiment", "task", "seed", "model", "parameters", "updates", "validation, nats per token", "minutes", "threads", "version")
	for _, r := range s.rows {
		for _, c := range s.columns {
			for _, result := range s.of(results, r, c.task) {
				p.Row(s.experiment(r), c.task, fmt.Sprint(result.Seed), result.Model, thousands(result.Parameters), thousands(int(result.Step)), nats(result.Validation),
					fmt.Sprintf("%.0f", result.Seconds/60), fmt.Sprint(result.Threads), result.Version)
			}
		}
	}
	p.Printf("\nCommand: `ut experiment run %s`, or the name of a single experiment.\n", s.table)
	for _, set := range s.shown() {
		for _, r := range s.rows {
			for _, c := range s.columns {
				if text := spreads(s.of(results, r, c.task), set); text != "" {
					p.Printf("\nSequence accuracy of %s, %s, %s: %s.\n", s.experiment(r), c.task, set, text)
				}
			}
		}
	}
}
