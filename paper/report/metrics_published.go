package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"universal-transformer/paper"
)

// againstPublished says whether the mean over seeds of the Universal Transformer of table 7 reaches a published figure, and whether it can
// be told from it. It returns "" for other tables, and without the figure or a result.
func (p *page) againstPublished(t paper.Table, c paper.Column) string {
	own := ownRow(t)
	if t.Number != 7 {
		return ""
	}
	var texts []string
	for _, f := range c.ComparedFigures() {
		i := slices.IndexFunc(c.Figures, func(x paper.Figure) bool { return x.Title == f.Title })
		list := sample(p.book.of(own.Family, c.Name), f.Set, c.Compared)
		for _, r := range t.Rows {
			published := publishedValue(r, c, i)
			if len(list) == 0 || math.IsNaN(published) {
				continue
			}
			reaches := "does not reach"
			if mean(list) >= published {
				reaches = "reaches"
			}
			text := fmt.Sprintf("%s, %s, %s: %s %s the published %.2f in the mean", c.Title, f.Title, c.Compared, own.Title, reaches, published)
			if statistic, probable, ok := oneSample(list, published); ok {
				word := "distinguishable"
				if probable >= level {
					word = "not distinguishable"
				}
				text += fmt.Sprintf("; %s from it (%+.2f; one-sample t-test, n = %d, t = %.2f, %s, not corrected)", word, mean(list)-published, len(list), statistic, probability(probable))
			}
			if r.Note != "" {
				text += ". " + strings.ToUpper(r.Note[:1]) + r.Note[1:]
			}
			texts = append(texts, text+".")
		}
	}
	return strings.Join(texts, " ")
}
