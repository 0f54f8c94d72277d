package report

import (
	"math"

	"universal-transformer/internal/significance"
	"universal-transformer/paper"
)

// A tested difference is that between the Universal Transformer of a block and another row, in a column.
type tested struct {
	row    paper.Row
	column paper.Column
	comparison
}

// tests compares the Universal Transformer of a block of a table with the other rows of the block, in every column in which both have results.
// The p-values are corrected by Holm's method for the number of these comparisons.
func (b book) tests(t paper.Table, own paper.Row) (list []tested) {
	for _, c := range t.Columns {
		for _, r := range t.Rows {
			if r.Family == own.Family || r.Block != own.Block || !own.Has(c.Name) || !r.Has(c.Name) {
				continue
			}
			if result, ok := b.compare(t, own, r, c); ok {
				list = append(list, tested{r, c, result})
			}
		}
	}
	correct(list, func(d *tested) *comparison { return &d.comparison })
	return list
}

// against returns the corrected comparison of the Universal Transformer of a block with another row, in a column. ok is false if one of them
// has no result.
func (b book) against(t paper.Table, own paper.Row, other, column string) (c comparison, ok bool) {
	for _, d := range b.tests(t, own) {
		if d.row.Family == other && d.column.Name == column {
			return d.comparison, true
		}
	}
	return c, false
}

// compare compares two rows in a column: decoded sequences in the first shown set, or the metric of the column. ok is false if one of them
// has no result.
func (b book) compare(t paper.Table, model, other paper.Row, c paper.Column) (result comparison, ok bool) {
	if sets := t.ShownSets(); len(sets) > 0 {
		return b.compareSequences(model, other, c.Name, sets[0].Name)
	}
	return b.compareMetrics(model, other, c)
}

// compareSequences compares the sequence accuracies of two rows: over seeds if one has several that differ, otherwise between the selected seeds
// over their test examples.
func (b book) compareSequences(model, other paper.Row, column, set string) (c comparison, ok bool) {
	x, y := b.of(model.Family, column), b.of(other.Family, column)
	if c = seedTest(sequenceAccuracies(x, set), sequenceAccuracies(y, set)); !math.IsNaN(c.p) {
		return c, true
	}
	s, u := chosenSet(x, set), chosenSet(y, set)
	if s == nil || u == nil {
		return c, false
	}
	return proportions(s.Decoded.Sequences, u.Decoded.Sequences), true
}

// compareMetrics compares two rows by the metric of a column: over seeds if one has several, otherwise, if it is a share, over the test
// examples.
func (b book) compareMetrics(model, other paper.Row, c paper.Column) (result comparison, ok bool) {
	x, y := b.of(model.Family, c.Name), b.of(other.Family, c.Name)
	set := compared(c).Set
	a, d := sample(x, set, c.Compared), sample(y, set, c.Compared)
	if len(a) == 0 || len(d) == 0 {
		return result, false
	}
	if len(a) == 1 && len(d) == 1 {
		m, _ := x[0].metric(set, c.Compared)
		n, _ := y[0].metric(set, c.Compared)
		if m.Accuracy.Total > 0 && n.Accuracy.Total > 0 {
			return proportions(m.Accuracy, n.Accuracy), true
		}
	}
	return seedTest(a, d), true
}

// correct corrects the p-values of comparisons by Holm's method for their number.
func correct[T any](list []T, of func(*T) *comparison) {
	p := make([]float64, len(list))
	for i := range list {
		p[i] = of(&list[i]).p
	}
	for i, v := range significance.Holm(p) {
		of(&list[i]).p = v
	}
}
