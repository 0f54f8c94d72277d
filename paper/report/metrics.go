package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"universal-transformer/internal/score"
	"universal-transformer/paper"
	"universal-transformer/paper/measure"
)

// metric returns a metric of a set of a run; ok is false if it was not measured.
func (r run) metric(set, name string) (m score.Metric, ok bool) {
	switch measured := r.measured.(type) {
	case *measure.Metrics:
		return measured.Metric(set, name)
	case *measure.Translation:
		if s := measured.Set(set); s != nil && name == "BLEU" {
			return score.Figure(name, s.BLEU), true
		}
	}
	return m, false
}

// sample returns the values of a metric over seeds.
func sample(runs []run, set, name string) []float64 {
	return values(runs, func(r run) (float64, bool) { m, ok := r.metric(set, name); return m.Value, ok })
}

// metrics writes a table whose cells are metrics of test sets: that of the paper, or that of the details. Columns with the same figures share
// one table. remark follows the times of updates.
func (p *page) metrics(t paper.Table, detail bool, remark string) {
	groups := p.alike(t, detail)
	for i, group := range groups {
		for _, c := range group {
			p.printf("- **%s**: %s\n", c.Title, c.Note)
		}
		head := []string{"", "model", ""}
		for _, f := range group[0].Figures {
			head = append(head, f.Title)
		}
		for _, f := range group[0].ComparedFigures() {
			head = append(head, "best seed by validation, "+f.Title)
		}
		p.printf("\n")
		p.head(head...)
		for _, c := range group {
			p.metricRows(t, c)
		}
		p.printf("\n")
		for _, c := range group {
			for _, f := range c.ComparedFigures() {
				p.metricComparisons(t, c, f)
			}
			for _, line := range []string{p.againstPublished(t, c), p.bootstrap(c), p.belowPlural(t, c)} {
				if line != "" {
					p.printf("- %s\n", line)
				}
			}
		}
		if i == len(groups)-1 {
			var notes []string
			if text := p.updateTimes(t, ownRow(t)); text != "" && !detail {
				notes = append(notes, text+"."+remark)
			}
			if text := families(p.book.comparisons(t, ownRow(t))); text != "" {
				notes = append(notes, fmt.Sprintf("p-values of this table are corrected by Holm's method for its %s, those of its page of measurements included.", text))
			}
			if len(notes) > 0 {
				p.printf("- %s\n", strings.Join(notes, " "))
			}
		}
		p.printf("\n")
	}
}

// belowPlural names the rows of a column of table 2 with seeds that have fewer answers right than "plural" for all verbs; "" if there are none.
func (p *page) belowPlural(t paper.Table, c paper.Column) string {
	at := slices.IndexFunc(c.Baselines, func(b paper.Baseline) bool { return b.Title == paper.AlwaysPlural })
	if at < 0 {
		return ""
	}
	total := c.Figures[len(c.Figures)-1]
	var texts []string
	constant := math.NaN()
	for _, r := range t.Rows {
		runs := p.book.of(r.Family, c.Name)
		below := 0
		for _, run := range runs {
			own, ok := run.metric(total.Set, total.Metrics[0])
			baseline, given := run.metric(total.Set, c.Baselines[at].Name(total))
			if ok && given && own.Value < baseline.Value {
				below, constant = below+1, baseline.Value
			}
		}
		if below > 0 {
			texts = append(texts, fmt.Sprintf("%s in %d of %s", r.Title, below, count(len(runs), "seed")))
		}
	}
	if len(texts) == 0 {
		return ""
	}
	return fmt.Sprintf("%s, %s: fewer right than with the answer plural for all verbs, %.3f: %s.", c.Title, total.Title, constant, and(texts))
}

// meanSteps returns ", mean 5.83 steps", the mean over seeds of a model with dynamic halting in a set, or "" for other models and measurements.
func meanSteps(runs []run, set string) string {
	list := values(runs, func(r run) (float64, bool) {
		m, ok := r.measured.(*measure.Metrics)
		if !ok {
			return 0, false
		}
		at := slices.IndexFunc(m.Sets, func(s measure.MetricSet) bool { return s.Name == set })
		if at < 0 {
			return 0, false
		}
		return m.Sets[at].Encoder + m.Sets[at].Decoder, true
	})
	if len(list) == 0 || mean(list) == 0 {
		return ""
	}
	return fmt.Sprintf(", mean %.2f steps", mean(list))
}

// alike groups the columns, or those of the details, that have results or published figures by the titles of their figures.
func (p *page) alike(t paper.Table, detail bool) (groups [][]paper.Column) {
	for _, c := range t.Columns {
		if c.Detail != detail || !slices.ContainsFunc(t.Rows, func(r paper.Row) bool {
			return r.Has(c.Name) && (len(p.book.of(r.Family, c.Name)) > 0 || r.Published[c.Name] != nil)
		}) {
			continue
		}
		at := slices.IndexFunc(groups, func(g []paper.Column) bool {
			return slices.EqualFunc(g[0].Figures, c.Figures, func(x, y paper.Figure) bool { return x.Title == y.Title })
		})
		if at < 0 {
			groups = append(groups, []paper.Column{c})
			continue
		}
		groups[at] = append(groups[at], c)
	}
	return groups
}

// metricRows writes the figures of a column: the paper's above ours, and the difference of halting to the best other model.
func (p *page) metricRows(t paper.Table, c paper.Column) {
	setting, best := c.Title, c.ComparedFigures()
	add := func(cells ...string) {
		p.row(append([]string{setting}, cells...)...)
		setting = ""
	}
	blank := make([]string, len(best)) // the cells of the best seed
	var missing []string
	for _, r := range t.Rows {
		if !r.Has(c.Name) {
			continue
		}
		title, runs := r.Title, p.book.of(r.Family, c.Name)
		if published := r.Published[c.Name]; published != nil {
			add(slices.Concat([]string{title, source(t)}, published, blank)...)
			title = ""
		}
		if len(runs) == 0 {
			missing = append(missing, r.Title)
			continue
		}
		cells := []string{title, "ours, " + count(len(runs), "seed") + meanSteps(runs, best[0].Set)}
		for _, f := range c.Figures {
			cells = append(cells, cmp.Or(figureCell(f, runs), "missing"))
		}
		for _, f := range best {
			cells = append(cells, figureCell(f, []run{chosen(runs)}))
		}
		add(cells...)
	}
	for _, e := range c.Earlier {
		add(slices.Concat([]string{e.Title, source(t)}, e.Figures, blank)...)
	}
	for _, row := range differenceRows(t, c, p.book) {
		add(append(row, blank...)...)
	}
	if len(missing) > 0 {
		add(append([]string{and(missing), "ours", "not run"}, make([]string, len(c.Figures)+len(best)-1)...)...)
	}
}

// source returns the source of published figures.
func source(t paper.Table) string { return cmp.Or(t.Source, "paper") }

// baselineRows writes the rows without a model.
func (p *page) baselineRows(t paper.Table, c paper.Column) (rows [][]string) {
	for _, b := range c.Baselines {
		cells := []string{b.Title, ""}
		for _, f := range c.Figures {
			cells = append(cells, p.baseline(t, c, b, f))
		}
		if slices.ContainsFunc(cells[2:], func(cell string) bool { return cell != "" }) {
			rows = append(rows, cells)
		}
	}
	return rows
}

// figureCell formats a figure over seeds, "0.912 ± 0.004 (0.890)": mean and deviation of the first metric, and means of the others. It
// returns "" if nothing was measured.
func figureCell(f paper.Figure, runs []run) string {
	var texts []string
	for i, name := range f.Metrics {
		list := sample(runs, f.Set, name)
		if len(list) == 0 {
			continue
		}
		digits := format(name, list)
		if i == 0 {
			texts = append(texts, spread(digits, list))
		} else {
			texts = append(texts, fmt.Sprintf(digits, mean(list)))
		}
	}
	if len(texts) < 2 {
		return strings.Join(texts, "")
	}
	return fmt.Sprintf("%s (%s)", texts[0], strings.Join(texts[1:], ", "))
}

// format returns the format of a metric; perplexities and BLEU have other digits than shares.
func format(name string, list []float64) string {
	switch {
	case name == "BLEU":
		return "%.2f"
	case !strings.Contains(name, "perplexity"):
		return "%.3f"
	case mean(list) < 1000:
		return "%.1f"
	}
	return "%.0f"
}

// baseline returns a figure that is computed from the data, from any run.
func (p *page) baseline(t paper.Table, c paper.Column, b paper.Baseline, f paper.Figure) string {
	f.Metrics = []string{b.Name(f)}
	for _, r := range t.Rows {
		if runs := p.book.of(r.Family, c.Name); len(runs) > 0 {
			if cell := figureCell(f, runs[:1]); cell != "" {
				return cell
			}
		}
	}
	return ""
}

func lowerIsBetter(metric string) bool { return strings.Contains(metric, "perplexity") }

// value returns the mean over seeds of a row's figure, or NaN.
func (b book) value(r paper.Row, c paper.Column, i int) float64 {
	list := sample(b.of(r.Family, c.Name), c.Figures[i].Set, c.Figures[i].Metrics[0])
	if len(list) == 0 {
		return math.NaN()
	}
	return mean(list)
}

// publishedValue returns the first number of the paper's figure, or NaN.
func publishedValue(r paper.Row, c paper.Column, i int) float64 {
	published := r.Published[c.Name]
	if i >= len(published) {
		return math.NaN()
	}
	text, _, _ := strings.Cut(published[i], " ")
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

// ownRow returns the Universal Transformer of a table of metrics, which has one block.
func ownRow(t paper.Table) paper.Row {
	return t.Rows[slices.IndexFunc(t.Rows, func(r paper.Row) bool { return r.Own })]
}
