package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"universal-transformer/paper"
)

// differenceRows writes the differences between dynamic halting and the best other model, in the paper and in our results.
func differenceRows(t paper.Table, c paper.Column, b book) (rows [][]string) {
	for _, row := range []struct {
		source string
		list   []float64
	}{{source(t) + ", these rows", difference(t, c, publishedValue)}, {"ours", difference(t, c, b.value)}} {
		if !slices.ContainsFunc(row.list, func(v float64) bool { return !math.IsNaN(v) }) || row.source != "ours" && c.Earlier != nil { // which has the paper's
			continue
		}
		title := "halting minus the best other"
		if lowerIsBetter(c.Figures[0].Metrics[0]) {
			title += " (lower is better)"
		}
		cells := []string{title, row.source}
		for i, v := range row.list {
			cell := ""
			if !math.IsNaN(v) {
				cell = fmt.Sprintf(strings.Replace(format(c.Figures[i].Metrics[0], []float64{v}), "%", "%+", 1), v)
			}
			cells = append(cells, cell)
		}
		rows = append(rows, cells)
	}
	return rows
}

// difference returns, for each figure of a column, the value of dynamic halting minus that of the best other model, or NaN if one is missing.
// The best perplexity is the lowest.
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
