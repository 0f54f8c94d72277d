package report

import (
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

// sample is the values of a metric over seeds.
func sample(runs []run, set, name string) []float64 {
	return values(runs, func(r run) (float64, bool) { m, ok := r.metric(set, name); return m.Value, ok })
}

// metrics writes a table whose cells are metrics of test sets, a part for every column with results or published figures.
func (p *page) metrics(t paper.Table) {
	for _, c := range t.Columns {
		any := false
		for _, r := range t.Rows {
			any = any || r.Has(c.Name) && (len(p.book.of(r.Family, c.Name)) > 0 || r.Published[c.Name] != nil)
		}
		if !any {
			continue
		}
		p.printf("### %s%s\n\n%s\n\n", strings.ToUpper(c.Title[:1]), c.Title[1:], c.Note)
		p.metricRows(t, c)
		for _, line := range p.comparisons(t, c) {
			p.printf("- %s\n", line)
		}
		p.printf("\n")
	}
}

// metricRows writes the figures of a column: the paper's above ours, the difference of halting to the best other model, and what needs no model.
func (p *page) metricRows(t paper.Table, c paper.Column) {
	head := []string{"model", ""}
	for _, f := range c.Figures {
		head = append(head, f.Title)
	}
	p.head(append(head, "best seed by validation, "+last(c).Title)...)
	for _, r := range t.Rows {
		if !r.Has(c.Name) {
			continue
		}
		title, runs := r.Title, p.book.of(r.Family, c.Name)
		if published := r.Published[c.Name]; published != nil {
			source := "paper"
			if t.Number == 7 {
				source = "published"
			}
			p.row(append(append([]string{title, source}, published...), "")...)
			title = ""
		}
		if len(runs) == 0 {
			p.row(append([]string{title, "ours"}, slices.Repeat([]string{"missing"}, len(c.Figures)+1)...)...)
			continue
		}
		cells := []string{title, "ours, " + count(len(runs), "seed")}
		for _, f := range c.Figures {
			cells = append(cells, orMissing(figureCell(f, runs)))
		}
		p.row(append(cells, figureCell(last(c), []run{chosen(runs)}))...)
	}
	p.differenceRows(t, c)
	for _, b := range c.Baselines {
		cells := []string{b.Title, "no model"}
		for _, f := range c.Figures {
			cells = append(cells, p.baseline(t, c, b, f))
		}
		if slices.ContainsFunc(cells[2:], func(cell string) bool { return cell != "" }) {
			p.row(append(cells, "")...)
		}
	}
	p.printf("\n")
}

// last is the figure by which models are compared.
func last(c paper.Column) paper.Figure { return c.Figures[len(c.Figures)-1] }

// figureCell is a figure of some seeds: "0.912 ± 0.004 (0.890)", mean and deviation of the first metric and means of the others; "" if
// nothing was measured.
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

// format is that of a metric: perplexities and BLEU have other digits than shares.
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

// baseline is a figure that comes with the data, of any run.
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

// differenceRows are the model with dynamic halting minus the best of the other models, in the paper and ours.
func (p *page) differenceRows(t paper.Table, c paper.Column) {
	published, ours := difference(t, c, publishedValue), difference(t, c, p.book.value)
	for _, row := range []struct {
		source string
		list   []float64
	}{{"paper", published}, {"ours", ours}} {
		if !slices.ContainsFunc(row.list, func(v float64) bool { return !math.IsNaN(v) }) {
			continue
		}
		cells := []string{"halting minus the best other", row.source}
		for i, v := range row.list {
			digits := strings.Replace(format(c.Figures[i].Metrics[0], []float64{v}), "%", "%+", 1)
			if math.IsNaN(v) {
				cells = append(cells, "")
			} else {
				cells = append(cells, fmt.Sprintf(digits, v))
			}
		}
		p.row(append(cells, "")...)
	}
}

// difference is, for each figure of a column, the model with dynamic halting minus the best of the other models; NaN where one of them is
// missing. Of perplexities the lowest is the best.
func difference(t paper.Table, c paper.Column, value func(paper.Row, paper.Column, int) float64) (list []float64) {
	for i, f := range c.Figures {
		halting, best := math.NaN(), math.NaN()
		for _, r := range t.Rows {
			v := value(r, c, i)
			switch {
			case !r.Has(c.Name) || math.IsNaN(v):
			case r.Adaptive:
				halting = v
			case math.IsNaN(best), lowerIsBetter(f.Metrics[0]) == (v < best):
				best = v
			}
		}
		list = append(list, halting-best)
	}
	return list
}

func lowerIsBetter(metric string) bool { return strings.Contains(metric, "perplexity") }

// value is the mean over seeds of a row's figure, NaN if there is none.
func (b book) value(r paper.Row, c paper.Column, i int) float64 {
	list := sample(b.of(r.Family, c.Name), c.Figures[i].Set, c.Figures[i].Metrics[0])
	if len(list) == 0 {
		return math.NaN()
	}
	return mean(list)
}

// publishedValue is the first number of a figure that the paper prints, NaN if it prints none.
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

// compare sets two rows side by side in a column.
func (b book) compare(model, other paper.Row, c paper.Column) comparison {
	x, y := b.of(model.Family, c.Name), b.of(other.Family, c.Name)
	set := last(c).Set
	a, d := sample(x, set, c.Compared), sample(y, set, c.Compared)
	if len(a) == 0 || len(d) == 0 {
		return comparison{p: math.NaN(), difference: math.NaN(), test: "not run"}
	}
	if len(a) == 1 && len(d) == 1 {
		m, _ := x[0].metric(set, c.Compared)
		n, _ := y[0].metric(set, c.Compared)
		if m.Accuracy.Total > 0 && n.Accuracy.Total > 0 {
			return proportions(m.Accuracy, n.Accuracy)
		}
	}
	return welch(a, d)
}

// comparisons say of every other model whether the table's own is distinguishable from it.
func (p *page) comparisons(t paper.Table, c paper.Column) (lines []string) {
	at := slices.IndexFunc(t.Rows, func(r paper.Row) bool { return r.Own })
	own := t.Rows[at]
	if c.Compared == "" || len(p.book.of(own.Family, c.Name)) == 0 {
		return nil
	}
	for _, r := range t.Rows {
		if r.Own || !r.Has(c.Name) || len(p.book.of(r.Family, c.Name)) == 0 {
			continue
		}
		lines = append(lines, sentence(last(c).Title+", "+c.Compared, own.Title, r.Title, p.book.compare(own, r, c), digitsOf(c.Compared)))
	}
	return lines
}

func digitsOf(metric string) string {
	return strings.Replace(format(metric, []float64{0}), "%", "%+", 1)
}

// sentence is a comparison in words.
func sentence(what, model, other string, c comparison, digits string) string {
	link := map[string]string{"better": "better than", "worse": "worse than", "not distinguishable": "not distinguishable from"}[c.word()]
	return fmt.Sprintf("%s: %s %s %s (%s).", what, model, link, other, c.evidence(digits))
}

// wmt14 is the paper's own setting of table 7.
func (p *page) wmt14() {
	p.printf("### WMT 2014, the paper's setting\n\n")
	head, row := []string{""}, []string{"paper"}
	ours := []string{"ours"}
	for _, m := range paper.WMT14 {
		head, row, ours = append(head, m.Model), append(row, m.BLEU), append(ours, "not run")
	}
	p.head(head...)
	p.row(row...)
	p.row(ours...)
	p.printf("\n%s.\n\n", paper.WMT14Cost)
}

// ponder is the mean number of steps per position in a set, and its deviation over positions.
func (r run) ponder(set string) (mean, deviation float64) {
	for _, s := range r.measured.(*measure.Metrics).Sets {
		if s.Name == set {
			return s.Encoder + s.Decoder, s.Deviation
		}
	}
	return 0, 0
}
