package paper

import (
	"fmt"
	"math"
	"strings"

	"universal-transformer/internal/score"
)

// of gives the results of a row on a task, by seed.
func (t *metricTable) of(results []Result, r metricRow, task string) (list []Result) {
	for _, result := range of(results, t.experiment(r)) {
		if result.Task == task {
			list = append(list, result)
		}
	}
	return list
}

// cell is a figure of some seeds: "0.912 ± 0.004 (0.890)", mean and deviation of the first metric and means of the others; "" if
// nothing was measured.
func (f figure) cell(results []Result) string {
	var texts []string
	measured := false
	for i, name := range f.metrics {
		var values []float64
		var last score.Metric
		for _, r := range results {
			if m, ok := r.Measured.(*metricsMeasured).metric(f.set, name); ok && !math.IsNaN(m.Value) {
				values, last = append(values, m.Value), m
			}
		}
		if len(values) == 0 {
			texts = append(texts, "-")
			continue
		}
		measured = true
		mean, deviation := moments(values)
		text := figures(mean, last.Accuracy.Total > 0 || last.Value <= 1)
		if i == 0 && !math.IsNaN(deviation) {
			text += " ± " + figures(deviation, last.Accuracy.Total > 0 || last.Value <= 1)
		}
		texts = append(texts, text)
	}
	switch {
	case !measured:
		return ""
	case len(texts) == 1:
		return texts[0]
	}
	return fmt.Sprintf("%s (%s)", texts[0], strings.Join(texts[1:], ", "))
}

// figures is a share with three decimals, and another number with four digits.
func figures(value float64, share bool) string {
	if share {
		return fmt.Sprintf("%.3f", value)
	}
	if value >= 1000 {
		return fmt.Sprintf("%.0f", value)
	}
	return fmt.Sprintf("%.4g", value)
}

// rows is how many examples a figure is of: those of a share, or of its set.
func (f figure) rows(results []Result) string {
	for _, r := range results {
		measured := r.Measured.(*metricsMeasured)
		m, ok := measured.metric(f.set, f.metrics[0])
		if ok && m.Accuracy.Total > 0 {
			return thousands(m.Accuracy.Total)
		}
		for _, s := range measured.Sets {
			if ok && s.Name == f.set {
				return thousands(s.Examples)
			}
		}
	}
	return ""
}

// overview is one row of RESULTS.md a task.
func (t *metricTable) overview(_ *Page, results []Result) (rows []Row) {
	for _, c := range t.columns {
		row := Row{Part: "table " + t.table[len("table"):], What: t.name + ". " + c.title + ": " + c.last().title}
		var paper, ours, missing []string
		for _, r := range t.rowsOf(c.task) {
			if published := r.paper[c.task]; published != nil {
				paper = append(paper, r.title+" "+published[len(published)-1])
			}
			if cell := c.last().cell(t.of(results, r, c.task)); cell != "" {
				ours = append(ours, r.title+" "+cell)
			} else {
				missing = append(missing, r.title)
			}
		}
		row.Paper, row.Ours, row.Missing = strings.Join(paper, "; "), strings.Join(ours, "; "), strings.Join(missing, ", ")
		if row.Paper == "" {
			row.Paper = "-"
		}
		if len(ours) == 0 {
			row.Ours, row.Missing = "not measured yet", "everything"
		}
		rows = append(rows, row)
	}
	return rows
}

// last is the figure that the overview has.
func (c metricColumn) last() figure { return c.figures[len(c.figures)-1] }

// write is the section of the table: a table of figures for every task that has results.
func (t *metricTable) write(p *Page, results []Result) {
	p.Printf("%s\n\n", t.preface)
	for _, c := range t.columns {
		var own []Result
		for _, r := range t.rowsOf(c.task) {
			own = append(own, t.of(results, r, c.task)...)
		}
		if len(own) > 0 {
			t.writeColumn(p, c, own)
		}
	}
	t.writeRuns(p, results)
}

// writeColumn is the figures of a task: the paper's, ours, and what needs no model.
func (t *metricTable) writeColumn(p *Page, c metricColumn, results []Result) {
	p.Printf("### %s\n\n%s\n\n", c.title, c.note)
	head, examples := []string{"model", ""}, []string{"examples", ""}
	for _, f := range c.figures {
		head, examples = append(head, f.title), append(examples, f.rows(results))
	}
	p.Head(head...)
	p.Row(examples...)
	for _, r := range t.rowsOf(c.task) {
		title := r.title
		if published := r.paper[c.task]; published != nil {
			p.Row(append([]string{title, "paper"}, published...)...)
			title = ""
		}
		own := t.of(results, r, c.task)
		cells := []string{title, count(len(own), "seed")}
		for _, f := range c.figures {
			cells = append(cells, orMissing(f.cell(own)))
		}
		p.Row(cells...)
	}
	for _, b := range c.baselines {
		cells := []string{b.title, "no model"}
		for _, f := range c.figures {
			f.metrics = []string{b.metric(f)}
			cells = append(cells, f.cell(results[:1]))
		}
		p.Row(cells...)
	}
	p.Printf("\n")
	t.compare(p, c, results)
	for _, s := range results[0].Measured.(*metricsMeasured).Sets {
		for _, note := range s.Notes {
			p.Printf("- %s: %s.\n", s.Name, note)
		}
	}
	p.Printf("\n")
	t.writePonder(p, c, results)
}

// writePonder is the ponder times of the models of adaptive depth: a table and bars by kinds of examples, bars by position.
func (t *metricTable) writePonder(p *Page, c metricColumn, results []Result) {
	for _, r := range t.rows {
		own := t.of(results, r, c.task)
		t.writePonderOfKinds(p, c, r, own)
		t.writePonderOfPositions(p, c, r, own)
	}
}

// writePonderOfKinds is means of the seeds: mean and, where it was measured, standard deviation over positions.
func (t *metricTable) writePonderOfKinds(p *Page, c metricColumn, r metricRow, own []Result) {
	kinds := kindsOf(own)
	if len(kinds) == 0 {
		return
	}
	b := bars{title: fmt.Sprintf("%s: mean steps per position, %s", c.title, r.title), names: []string{"steps"}}
	p.Head(r.title, "examples", "steps per position, "+count(len(own), "seed"))
	for _, first := range kinds {
		var means, deviations []float64
		for _, result := range own {
			for _, k := range result.Measured.(*metricsMeasured).Kinds {
				if k.Name == first.Name {
					means, deviations = append(means, k.Encoder+k.Decoder), append(deviations, k.Deviation)
				}
			}
		}
		b.groups = append(b.groups, barGroup{first.Name, []float64{mean(means)}})
		p.Row(first.Name, thousands(first.Examples), steps(mean(means), mean(deviations)))
	}
	t.figure(p, b, r, c, "-ponder.svg", fmt.Sprintf("%s: ponder times of %s", c.title, t.experiment(r)))
}

// writePonderOfPositions is means of the seeds by tenths of the positions of a sequence, of the last set.
func (t *metricTable) writePonderOfPositions(p *Page, c metricColumn, r metricRow, own []Result) {
	var tenths [10][]float64
	set := ""
	for _, result := range own {
		sets := result.Measured.(*metricsMeasured).Sets
		last := sets[len(sets)-1]
		for i, steps := range last.Tenths {
			tenths[i], set = append(tenths[i], steps), last.Name
		}
	}
	if set == "" {
		return
	}
	b := bars{title: fmt.Sprintf("%s: mean steps by position, %s, %s", c.title, r.title, set), names: []string{"steps"}}
	for i, means := range tenths {
		b.groups = append(b.groups, barGroup{fmt.Sprintf("%d to %d %% of the sequence", 10*i, 10*i+10), []float64{mean(means)}})
	}
	t.figure(p, b, r, c, "-ponder-positions.svg", fmt.Sprintf("%s: ponder times of %s by position", c.title, t.experiment(r)))
}

// figure adds a drawing to the page.
func (t *metricTable) figure(p *Page, b bars, r metricRow, c metricColumn, suffix, title string) {
	file := t.experiment(r) + "-" + c.task + suffix
	p.Figures[file] = b.draw()
	p.Printf("\n![%s](%s)\n\n", title, p.Link(file))
}

func mean(values []float64) float64 {
	m, _ := moments(values)
	return m
}

// steps is a ponder time and, unless it is 0, its standard deviation over positions.
func steps(mean, deviation float64) string {
	if deviation == 0 {
		return fmt.Sprintf("%.2f", mean)
	}
	return fmt.Sprintf("%.2f ± %.2f", mean, deviation)
}

// kindsOf is the kinds that the first result with any has.
func kindsOf(results []Result) []ponderTime {
	for _, r := range results {
		if kinds := r.Measured.(*metricsMeasured).Kinds; len(kinds) > 0 {
			return kinds
		}
	}
	return nil
}

func orMissing(cell string) string {
	if cell == "" {
		return "missing"
	}
	return cell
}

// writeRuns says how everything was trained.
func (t *metricTable) writeRuns(p *Page, results []Result) {
	p.Printf("### Training\n\n")
	p.Head("experiment", "task", "seed", "model", "parameters", "updates", "minutes", "ponder time", "version")
	for _, r := range t.rows {
		for _, c := range t.columns {
			for _, result := range t.of(results, r, c.task) {
				sets, ponder := result.Measured.(*metricsMeasured).Sets, ""
				if s := sets[len(sets)-1]; s.Encoder+s.Decoder > 0 {
					ponder = steps(s.Encoder+s.Decoder, s.Deviation)
				}
				p.Row(t.experiment(r), c.task, fmt.Sprint(result.Seed), result.Model, thousands(result.Parameters), thousands(int(result.Step)),
					fmt.Sprintf("%.0f", result.Seconds/60), ponder, result.Version)
			}
		}
	}
	p.Printf("\nPonder time: mean number of steps per position on the last set, in the encoder or decoder, ± standard deviation over positions.\n\nCommand: `ut experiment run %s`, or the name of a single experiment.\n", t.table)
}
