package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"universal-transformer/internal/plot"
	"universal-transformer/internal/quantity"
	"universal-transformer/paper"
	"universal-transformer/paper/measure"
)

// metricsDetails writes results/table2.md and results/table3.md.
func (p *page) metricsDetails(t paper.Table) {
	for _, c := range t.Columns {
		examples := p.examples(t, c)
		if examples == nil {
			continue
		}
		p.printf("## %s%s\n\n%s\n\nExamples: %s.\n\n", strings.ToUpper(c.Title[:1]), c.Title[1:], c.Note, and(examples))
		head := []string{"recipe", "seed"}
		for _, f := range c.Figures {
			head = append(head, f.Title)
		}
		p.head(head...)
		for _, r := range t.Rows {
			for _, result := range p.book.of(r.Family, c.Name) {
				cells := []string{result.Recipe, fmt.Sprint(result.Seed)}
				for _, f := range c.Figures {
					cells = append(cells, cmp.Or(figureCell(f, []run{result}), "missing"))
				}
				p.row(cells...)
			}
		}
		for _, cells := range p.baselineRows(t, c) {
			p.row(cells...)
		}
		p.printf("\n")
		p.notes(t, c)
		for _, r := range t.Rows {
			p.ponderByKind(c, r)
			p.ponderByPosition(c, r)
		}
	}
}

// examples returns the number of examples of each figure of a column, or nil without results.
func (p *page) examples(t paper.Table, c paper.Column) (list []string) {
	for _, r := range t.Rows {
		runs := p.book.of(r.Family, c.Name)
		if len(runs) == 0 {
			continue
		}
		for _, f := range c.Figures {
			m, ok := runs[0].metric(f.Set, f.Metrics[0])
			n := m.Accuracy.Total
			for _, s := range runs[0].measured.(*measure.Metrics).Sets {
				if n == 0 && s.Name == f.Set {
					n = s.Examples
				}
			}
			if ok {
				list = append(list, fmt.Sprintf("%s %s", f.Title, thousands(n)))
			}
		}
		return list
	}
	return nil
}

// ponderByKind writes the ponder times by kinds of examples, as means over the seeds.
func (p *page) ponderByKind(c paper.Column, r paper.Row) {
	runs := p.book.of(r.Family, c.Name)
	var names []string
	sizes, means, deviations := map[string]int{}, map[string][]float64{}, map[string][]float64{}
	for _, result := range runs {
		for _, k := range result.measured.(*measure.Metrics).Kinds {
			if sizes[k.Name] == 0 {
				names = append(names, k.Name)
			}
			sizes[k.Name] = k.Examples
			means[k.Name], deviations[k.Name] = append(means[k.Name], k.Encoder+k.Decoder), append(deviations[k.Name], k.Deviation)
		}
	}
	if len(names) == 0 {
		return
	}
	b := plot.Bars{Title: fmt.Sprintf("%s: mean steps per position, %s", c.Title, r.Title), Names: []string{"steps"}}
	p.head(r.Title, "examples", "steps per position, "+count(len(runs), "seed"))
	for _, name := range names {
		b.Groups = append(b.Groups, plot.Group{Name: name, Values: []float64{mean(means[name])}})
		p.row(name, thousands(sizes[name]), steps(mean(means[name]), mean(deviations[name])))
	}
	p.printf("\n")
	p.draw(r.Family+"-"+c.Name+"-ponder.svg", fmt.Sprintf("%s: ponder times of %s", c.Title, r.Family), b.SVG())
}

// ponderByPosition draws the ponder times of the last set by tenths of the positions of a sequence, as means over the seeds.
func (p *page) ponderByPosition(c paper.Column, r paper.Row) {
	var tenths [10][]float64
	set := ""
	for _, result := range p.book.of(r.Family, c.Name) {
		sets := result.measured.(*measure.Metrics).Sets
		last := sets[len(sets)-1]
		for i, steps := range last.Tenths {
			tenths[i], set = append(tenths[i], steps), last.Name
		}
	}
	if set == "" {
		return
	}
	b := plot.Bars{Title: fmt.Sprintf("%s: mean steps by position, %s, %s", c.Title, r.Title, set), Names: []string{"steps"}}
	for i, means := range tenths {
		b.Groups = append(b.Groups, plot.Group{Name: fmt.Sprintf("%d to %d %% of the sequence", 10*i, 10*i+10), Values: []float64{mean(means)}})
	}
	p.draw(r.Family+"-"+c.Name+"-ponder-positions.svg", fmt.Sprintf("%s: ponder times of %s by position", c.Title, r.Family), b.SVG())
}

// steps formats a ponder time and, unless it is 0, its standard deviation over positions.
func steps(mean, deviation float64) string {
	if deviation == 0 {
		return fmt.Sprintf("%.2f", mean)
	}
	return fmt.Sprintf("%.2f ± %.2f", mean, deviation)
}

// translationDetails writes results/table7.md.
func (p *page) translationDetails(t paper.Table) {
	p.printf("## All measurements\n\n%s", p.largestPenalty(t))
	p.head("recipe", "seed", "set", "sentences", "length penalty", "BLEU and its signature", "chrF", "sentences/s")
	for _, r := range p.book.table(t) {
		for _, s := range r.measured.(*measure.Translation).Sets {
			line := fmt.Sprintf("%.2f", s.BLEU)
			if len(s.Notes) > 0 {
				line = strings.ReplaceAll(s.Notes[0], "|", " ")
			}
			p.row(r.Recipe, fmt.Sprint(r.Seed), s.Name, thousands(s.Sentences), fmt.Sprint(s.Alpha), line, fmt.Sprintf("%.1f", s.ChrF),
				fmt.Sprintf("%.1f", float64(s.Sentences)/max(s.Seconds, 1e-9)))
		}
	}
	p.printf("\n")
	p.bootstrapDetails(t)
}

// largestPenalty says how many runs have the largest length penalty of those tried, beyond which a larger one may be better. It returns ""
// if none has.
func (p *page) largestPenalty(t paper.Table) string {
	runs, largest := p.book.table(t), slices.Max(measure.LengthPenalties)
	n := 0
	for _, r := range runs {
		if sets := r.measured.(*measure.Translation).Sets; len(sets) > 0 && sets[0].Alpha == largest {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %s have the largest length penalty of those tried, %v: a larger one may give higher scores.\n\n", n, quantity.Regular(len(runs), "runs"), largest)
}

// wmt14 writes the paper's own setting of table 7.
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

// ponder returns the mean number of steps per position in a set, and its deviation over positions.
func (r run) ponder(set string) (mean, deviation float64) {
	for _, s := range r.measured.(*measure.Metrics).Sets {
		if s.Name == set {
			return s.Encoder + s.Decoder, s.Deviation
		}
	}
	return 0, 0
}
