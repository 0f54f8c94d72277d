package report

import (
	"math"
	"strings"

	"universal-transformer/internal/significance"
	"universal-transformer/paper"
)

// A compared difference is that between the Universal Transformer of a block and another row, in a column, and for columns of metrics in a figure.
type compared struct {
	row    paper.Row
	column paper.Column
	figure paper.Figure
	comparison
}

// comparisons compares the Universal Transformer of a block of a table with the other rows of the block, in every column in which both have
// results. The p-values are corrected by Holm's method for the number of tests.
func (b book) comparisons(t paper.Table, own paper.Row) (list []compared) {
	for _, c := range t.Columns {
		for _, r := range t.Rows {
			if r.Family == own.Family || r.Block != own.Block || !own.Has(c.Name) || !r.Has(c.Name) {
				continue
			}
			for _, d := range b.compare(t, own, r, c) {
				d.excepted = excepted(own, r, c.Name)
				list = append(list, d)
			}
		}
	}
	correct(list, func(d *compared) *comparison { return &d.comparison })
	return list
}

// against returns the corrected comparison of the Universal Transformer of a block with another row, in a column with one compared figure. ok is
// false if one of them has no result.
func (b book) against(t paper.Table, own paper.Row, other, column string) (c comparison, ok bool) {
	for _, d := range b.comparisons(t, own) {
		if d.row.Family == other && d.column.Name == column {
			return d.comparison, true
		}
	}
	return c, false
}

// compare compares two rows in a column: decoded sequences in the first shown set, or the metric of the column in the sets of its compared
// figures. It returns nil if one of them has no result.
func (b book) compare(t paper.Table, own, other paper.Row, c paper.Column) (list []compared) {
	if sets := t.ShownSets(own.Block); len(sets) > 0 {
		if result, ok := b.compareSequences(own, other, c.Name, sets[0].Name); ok {
			return []compared{{row: other, column: c, comparison: result}}
		}
		return nil
	}
	for _, f := range c.ComparedFigures() {
		if result, ok := compareMetrics(b.of(own.Family, c.Name), b.of(other.Family, c.Name), f.Set, c.Compared); ok {
			list = append(list, compared{other, c, f, result})
		}
	}
	return list
}

// compareSequences compares the sequence accuracies of two rows: over seeds, or between one run each over their test examples. ok is false if one
// of them has no result.
func (b book) compareSequences(own, other paper.Row, column, set string) (c comparison, ok bool) {
	x, y := b.of(own.Family, column), b.of(other.Family, column)
	a, d := sequenceAccuracies(x, set), sequenceAccuracies(y, set)
	switch {
	case len(a) == 0 || len(d) == 0:
		return c, false
	case len(a) == 1 && len(d) == 1:
		return proportions(chosenSet(x, set).Decoded.Sequences, chosenSet(y, set).Decoded.Sequences), true
	}
	return welch(a, d), true
}

// compareMetrics compares the runs of two rows by a metric of a set: over seeds, or between one run each over the test examples if it is a
// share of them. Of perplexities, it compares the natural logarithms with the opposite sign. ok is false if one of them has no result.
func compareMetrics(x, y []run, set, metric string) (c comparison, ok bool) {
	a, d := sample(x, set, metric), sample(y, set, metric)
	if len(a) == 0 || len(d) == 0 {
		return c, false
	}
	if len(a) == 1 && len(d) == 1 {
		m, _ := x[0].metric(set, metric)
		n, _ := y[0].metric(set, metric)
		if m.Accuracy.Total > 0 && n.Accuracy.Total > 0 {
			return proportions(m.Accuracy, n.Accuracy), true
		}
	}
	if lowerIsBetter(metric) {
		for _, list := range [][]float64{a, d} {
			for i, v := range list {
				list[i] = -math.Log(v)
			}
		}
	}
	return welch(a, d), true
}

// correct corrects the p-values of comparisons by Holm's method for the number of tests over seeds, and apart from these for that of tests over the
// examples of one run each. Comparisons without a test have no p-value and count in neither.
func correct[T any](list []T, of func(*T) *comparison) {
	for _, examples := range []bool{false, true} {
		var family []*comparison
		var p []float64
		for i := range list {
			if c := of(&list[i]); c.examples == examples {
				family, p = append(family, c), append(p, c.p)
			}
		}
		for i, v := range significance.Holm(p) {
			family[i].p = v
		}
	}
}

// families returns the sizes of the families of tests that are corrected together: "12 tests over seeds and apart from these for 3 exact tests". It
// returns "" without tests.
func families(list []compared) string {
	seeds, examples := 0, 0
	for _, d := range list {
		switch {
		case d.tested():
			seeds++
		case d.examples:
			examples++
		}
	}
	var texts []string
	if seeds > 0 {
		texts = append(texts, count(seeds, "test")+" over seeds")
	}
	if examples > 0 {
		texts = append(texts, count(examples, "exact test"))
	}
	return strings.Join(texts, " and apart from these for ")
}

// metricComparisons writes one line that says whether the Universal Transformer is distinguishable from the other models, in a figure.
func (p *page) metricComparisons(t paper.Table, c paper.Column, f paper.Figure) {
	own := ownRow(t)
	var g grouped
	for _, d := range p.book.comparisons(t, own) {
		if d.column.Name == c.Name && d.figure.Title == f.Title {
			g.add(d.comparison, d.row.Title, signedFormat(c.Compared))
		}
	}
	if text := g.String(); text != "" {
		p.printf("- %s, %s, %s: %s %s.\n", c.Title, f.Title, measureOf(c), own.Title, text)
	}
}

// measureOf returns the name of the measure by which models are compared in a column.
func measureOf(c paper.Column) string {
	if lowerIsBetter(c.Compared) {
		return c.Compared + " (minus its logarithm, so that higher is better)"
	}
	return c.Compared
}

// signedFormat returns the format of a difference of a metric; that of perplexities is one of logarithms.
func signedFormat(metric string) string {
	if metric == "BLEU" {
		return "%+.2f"
	}
	return "%+.3f"
}
