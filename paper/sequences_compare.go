package paper

import (
	"fmt"
	"slices"
	"strings"
)

// writeComparison sets the table's own model beside every other: the difference of sequence accuracies in the first set, and the minutes
// that both have trained. Below, it names the models that the own one is not above.
func (s *sequences) writeComparison(p *Page, results []Result) {
	own, set := s.rows[slices.IndexFunc(s.rows, func(r sequenceRow) bool { return r.name == "" })], s.shown()[0]
	head, notAbove := []string{"minus"}, make([][]string, len(s.columns))
	for _, c := range s.columns {
		head = append(head, c.task)
	}
	var table [][]string
	for _, r := range s.rows {
		cells, any := []string{r.title}, false
		for i, c := range s.columns {
			cell := compareSeeds(s.of(results, own, c.task), s.of(results, r, c.task), set)
			cells, any = append(cells, cell.text), any || cell.text != ""
			if cell.text != "" && !cell.above && r.name != "" {
				notAbove[i] = append(notAbove[i], r.title)
			}
		}
		if any && r.name != "" {
			table = append(table, cells)
		}
	}
	if len(table) == 0 {
		return
	}
	p.Printf("### Comparison with the other models\n\nSequence accuracy (%[2]s) of %[1]s minus that of each other model, for the same seeds as above. Parentheses give the training minutes of both, possibly on different machines (LOG.md). "+
		"A tilde marks differences where the two 95 %% confidence intervals overlap.\n\n", own.title, set)
	p.Head(head...)
	for _, cells := range table {
		p.Row(cells...)
	}
	p.Printf("\n")
	for i, titles := range notAbove {
		if len(titles) > 0 {
			p.Printf("- %s: not better than %s.\n", s.columns[i].task, and(titles))
		}
	}
	p.Printf("\n")
}

// comparison is a cell of writeComparison; no text where one of the two has no result.
type comparison struct {
	text  string
	above bool // by more than the intervals
}

// compareSeeds compares what the chosen seeds of two models come to in a set.
func compareSeeds(own, other []Result, set string) comparison {
	a, b := chosenMeasured(own).set(set), chosenMeasured(other).set(set)
	if a == nil || b == nil {
		return comparison{}
	}
	x, y := a.Decoded.Sequences, b.Decoded.Sequences
	lowX, highX := x.Interval95()
	lowY, highY := y.Interval95()
	difference := fmt.Sprintf("%+.3f", x.Value()-y.Value())
	if lowX <= highY && lowY <= highX {
		difference = "~" + strings.ReplaceAll(difference, "-0.000", "+0.000")
	}
	return comparison{
		text:  fmt.Sprintf("%s (%.0f, %.0f)", difference, chosen(own).Seconds/60, chosen(other).Seconds/60),
		above: lowX > highY,
	}
}
