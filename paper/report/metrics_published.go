package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"universal-transformer/internal/significance"
	"universal-transformer/paper"
)

// againstPublished says in which sets the mean over seeds of the Universal Transformer of table 7 reaches a published figure, and whether it can be
// told from it. It returns "" for other tables, and without a published figure or a result.
func (p *page) againstPublished(t paper.Table, c paper.Column) string {
	if t.Number != 7 {
		return ""
	}
	var texts []string
	for _, r := range t.Rows {
		if text := p.againstRow(c, ownRow(t), r); text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, " ")
}

// againstRow is againstPublished for the published figures of one row, with p-values corrected for the number of its sets.
func (p *page) againstRow(c paper.Column, own, r paper.Row) string {
	type gap struct {
		of, published float64
		set, test     string // test is "" without one
		p             float64
	}
	var gaps []gap
	var probabilities []float64
	for i, f := range c.Figures {
		list, published := sample(p.book.of(own.Family, c.Name), f.Set, c.Compared), publishedValue(r, c, i)
		if len(list) == 0 || math.IsNaN(published) {
			continue
		}
		g := gap{of: mean(list), published: published, set: f.Title}
		if statistic, probable, ok := oneSample(list, published); ok {
			g.test, g.p = fmt.Sprintf("n = %d, t = %.2f", len(list), statistic), probable
			probabilities = append(probabilities, probable)
		}
		gaps = append(gaps, g)
	}
	corrected := significance.Holm(probabilities)
	var texts []string
	for _, g := range gaps {
		word := "below"
		if g.of >= g.published {
			word = "not below"
		}
		text := fmt.Sprintf("%s the published %.2f of %s (%+.2f", word, g.published, g.set, g.of-g.published)
		if g.test != "" {
			verdict := "distinguishable"
			if corrected[0] >= level {
				verdict = "not distinguishable"
			}
			text += fmt.Sprintf("; %s, %s, %s", g.test, probability(corrected[0]), verdict)
			corrected = corrected[1:]
		}
		texts = append(texts, text+")")
	}
	if len(texts) == 0 {
		return ""
	}
	text := fmt.Sprintf("%s, %s: in the mean over seeds, %s is %s.", c.Title, c.Compared, own.Title, strings.Join(texts, ", "))
	if len(probabilities) > 0 {
		text += fmt.Sprintf(" One-sample t-tests, corrected by Holm's method for %s.", count(len(probabilities), "test"))
	}
	if r.Note != "" {
		text += " " + strings.ToUpper(r.Note[:1]) + r.Note[1:] + "."
	}
	return text
}

// lastCheckpoints says, for table 7, in how many seeds of each model the best checkpoint is the last one: these may become better with more updates. It
// returns "" for other tables.
func (p *page) lastCheckpoints(t paper.Table) string {
	if t.Number != 7 {
		return ""
	}
	var columns []string
	for _, c := range t.Columns {
		var texts []string
		for _, r := range t.Rows {
			runs := p.book.of(r.Family, c.Name)
			last := len(slices.DeleteFunc(slices.Clone(runs), func(r run) bool { return r.BestStep != r.Step }))
			if last > 0 {
				texts = append(texts, fmt.Sprintf("%s %d of %d", r.Title, last, len(runs)))
			}
		}
		if len(texts) > 0 {
			columns = append(columns, c.Title+": "+strings.Join(texts, ", "))
		}
	}
	if len(columns) == 0 {
		return ""
	}
	return " The best checkpoint is the last one, so that more updates may be better, in these seeds of " + strings.Join(columns, "; ") + "."
}
