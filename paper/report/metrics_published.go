package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"universal-transformer/internal/significance"
	"universal-transformer/paper"
)

// againstPublished says in which sets the mean over seeds of the Universal Transformer reaches a published figure of the same data, and whether it
// can be told from it. It returns "" for tables without such figures, and without a result.
func (p *page) againstPublished(t paper.Table, c paper.Column) string {
	if t.Source == "" {
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

// A publishedGap is the difference between the mean of our seeds and a published figure, in one set.
type publishedGap struct {
	set             string
	mean, published float64
	test            string  // "n = 3, t = -0.87"; "" without one
	p               float64 // of the test
}

// text says on which side of the figure the mean is, and whether it can be told from it.
func (g publishedGap) text() string {
	word := "below"
	if g.mean >= g.published {
		word = "not below"
	}
	text := fmt.Sprintf("%s the published %.2f of %s (%+.2f", word, g.published, g.set, g.mean-g.published)
	if g.test == "" {
		return text + ")"
	}
	verdict := "distinguishable"
	if g.p >= level {
		verdict = "not distinguishable"
	}
	return fmt.Sprintf("%s; %s, %s, %s)", text, g.test, probability(g.p), verdict)
}

// againstRow is againstPublished for the published figures of one row, with p-values corrected for the number of its sets.
func (p *page) againstRow(c paper.Column, own, r paper.Row) string {
	gaps, tests := p.publishedGaps(c, own, r)
	if len(gaps) == 0 {
		return ""
	}
	var texts []string
	for _, g := range gaps {
		texts = append(texts, g.text())
	}
	text := fmt.Sprintf("%s, %s: in the mean over seeds, %s is %s.", c.Title, c.Compared, own.Title, strings.Join(texts, ", "))
	if tests > 0 {
		text += fmt.Sprintf(" One-sample t-tests, corrected by Holm's method for %s.", count(tests, "test"))
	}
	if r.Note != "" {
		text += " " + strings.ToUpper(r.Note[:1]) + r.Note[1:] + "."
	}
	return text
}

// publishedGaps returns the gaps in all sets for which a row has a published figure, with corrected p-values, and the number of tests.
func (p *page) publishedGaps(c paper.Column, own, r paper.Row) (gaps []publishedGap, tests int) {
	var tested []int
	var probabilities []float64
	for i, f := range c.Figures {
		list, published := sample(p.book.of(own.Family, c.Name), f.Set, c.Compared), publishedValue(r, c, i)
		if len(list) == 0 || math.IsNaN(published) {
			continue
		}
		g := publishedGap{set: f.Title, mean: mean(list), published: published}
		if statistic, probable, ok := oneSample(list, published); ok {
			g.test = fmt.Sprintf("n = %d, t = %.2f", len(list), statistic)
			tested, probabilities = append(tested, len(gaps)), append(probabilities, probable)
		}
		gaps = append(gaps, g)
	}
	for i, probable := range significance.Holm(probabilities) {
		gaps[tested[i]].p = probable
	}
	return gaps, len(tested)
}

// lastCheckpoints says in how many seeds of each model the best checkpoint is the last one: these may become better with more updates. It returns
// "" if there are none.
func (p *page) lastCheckpoints(t paper.Table) string {
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
