package report

import (
	"cmp"
	"fmt"
	"slices"

	"universal-transformer/internal/plot"
	"universal-transformer/paper"
	"universal-transformer/paper/measure"
)

// notesOfRows says what the rows of each block are.
func (p *page) notesOfRows(t paper.Table) {
	if slices.ContainsFunc(t.Rows, func(r paper.Row) bool { return r.Note != "" }) {
		p.printf("## The rows\n\n")
	}
	for _, block := range blocks(t) {
		p.rowNotes(t, block)
	}
}

// lengths draws accuracy by length, a chart for each column.
func (p *page) lengths(t paper.Table) {
	p.printf("## Accuracy by length\n\n")
	for _, c := range t.Columns {
		p.byLength(t, c)
	}
}

// kindsOfColumns writes accuracy and steps by kind.
func (p *page) kindsOfColumns(t paper.Table) {
	p.printf("## By kind\n\nSequence accuracy of the seed with the lowest validation cross entropy, and after a semicolon the lowest of several seeds; for adaptive models, the mean number of encoder and decoder steps in parentheses.\n\n")
	for _, c := range t.Columns {
		if kinds := p.kinds(t, c); len(kinds) > 0 {
			for _, block := range blocks(t) {
				p.byKind(t, c, block, kinds)
			}
			p.ponderFigures(t, c)
		}
	}
}

// lengthFigure returns the file name of a column's chart of accuracy by length.
func lengthFigure(c paper.Column) string { return "algorithmic-" + c.Name + "-length.svg" }

// byLength draws accuracy by length, a line for every row: the mean over seeds with its standard deviation.
func (p *page) byLength(t paper.Table, c paper.Column) {
	var lines []plot.Series
	for _, r := range t.Rows {
		runs := p.book.of(r.Family, c.Name)
		if len(runs) == 0 {
			continue
		}
		line := plot.Series{Dots: true, Name: t.Titles([]paper.Row{r})[0]}
		if len(runs) > 1 {
			line.Name += fmt.Sprintf(", mean of %d seeds", len(runs))
		}
		for _, set := range t.Sets {
			if list := sequenceAccuracies(runs, set.Name); len(list) > 0 && set.Plot > 0 {
				m, deviation := moments(list)
				line.Points = append(line.Points, plot.Point{X: float64(set.Plot), Y: m, Deviation: deviation})
			}
		}
		slices.SortFunc(line.Points, func(a, b plot.Point) int { return cmp.Compare(a.X, b.X) })
		lines = append(lines, line)
	}
	if len(lines) > 0 {
		chart := plot.Lines{
			Title: c.Title + ": sequence accuracy by length; bars: standard deviations over seeds", XLabel: "symbols of the source; training has up to 40",
			LogX: true, Y: [2]float64{0, 1}, Ticks: ticks(t), Series: lines,
		}
		p.draw(lengthFigure(c), c.Title+": accuracy by length", chart.SVG())
	}
}

// kinds returns the names of the sets of one kind that were measured in a column.
func (p *page) kinds(t paper.Table, c paper.Column) (names []string) {
	for _, r := range t.Rows {
		runs := p.book.of(r.Family, c.Name)
		if len(runs) == 0 {
			continue
		}
		for _, s := range chosen(runs).measured.(*measure.Sequences).Sets {
			isSet := slices.ContainsFunc(t.Sets, func(known paper.Set) bool { return known.Name == s.Name })
			if !isSet && !slices.Contains(names, s.Name) {
				names = append(names, s.Name)
			}
		}
	}
	return names
}

// byKind writes a table of kinds by the models of a block.
func (p *page) byKind(t paper.Table, c paper.Column, block string, kinds []string) {
	var rows []paper.Row
	head := []string{c.Title}
	for _, r := range t.Rows {
		if r.Block == block && len(p.book.of(r.Family, c.Name)) > 0 {
			rows, head = append(rows, r), append(head, r.Title)
		}
	}
	if len(rows) == 0 {
		return
	}
	if block != "" {
		p.printf("In the block %q:\n\n", block)
	}
	p.head(head...)
	for _, kind := range kinds {
		cells := []string{kind}
		for _, r := range rows {
			cell := ""
			if s := chosenSet(p.book.of(r.Family, c.Name), kind); s != nil {
				cell = measure.Decimals(s.Decoded.Sequences)
				if all := sequenceAccuracies(p.book.of(r.Family, c.Name), kind); len(all) > 1 {
					cell += fmt.Sprintf("; %.3f", slices.Min(all))
				}
				if s.Encoder > 0 {
					cell += fmt.Sprintf(" (%.1f, %.1f)", s.Encoder, s.Decoder)
				}
			}
			cells = append(cells, cell)
		}
		p.row(cells...)
	}
	p.printf("\n")
}

// ponderFigures draws the ponder times of the models of adaptive depth.
func (p *page) ponderFigures(t paper.Table, c paper.Column) {
	for _, r := range t.Rows {
		runs := p.book.of(r.Family, c.Name)
		if len(runs) == 0 {
			continue
		}
		b := plot.Bars{Title: fmt.Sprintf("%s: mean steps per position, %s", c.Title, r.Title), Names: []string{"encoder", "decoder"}}
		for _, s := range chosen(runs).measured.(*measure.Sequences).Sets {
			if s.Encoder > 0 {
				b.Groups = append(b.Groups, plot.Group{Name: s.Name, Values: []float64{s.Encoder, s.Decoder}})
			}
		}
		if len(b.Groups) > 0 {
			p.draw(r.Family+"-"+c.Name+"-ponder.svg", fmt.Sprintf("%s: ponder times of %s", c.Title, r.Family), b.SVG())
		}
	}
}

// allSets writes all measurements.
func (p *page) allSets(t paper.Table) {
	p.printf("## All measurements\n\nToken accuracy (sequence accuracy) with greedy decoding and with teacher forcing where it was measured. " +
		"First error: the mean position of the first wrong token in wrong answers, relative to the target length. Not ended: answers cut off at the length limit.\n\n")
	p.head("recipe", "seed", "set", "examples", "decoded", "95 % interval of sequences", "teacher forcing", "first error", "not ended", "ponder time")
	for _, c := range t.Columns {
		for _, r := range t.Rows {
			for _, result := range p.book.of(r.Family, c.Name) {
				for _, s := range result.measured.(*measure.Sequences).Sets {
					p.row(append([]string{result.Recipe, fmt.Sprint(result.Seed)}, setCells(s)...)...)
				}
			}
		}
	}
	p.printf("\n")
}

// setCells returns the cells of a set in the list of measurements.
func setCells(s measure.SequenceSet) []string {
	low, high := s.Decoded.Sequences.Interval95()
	forced, first, ponder := "", "", ""
	if s.Forced != nil {
		forced = measure.Accuracies(*s.Forced)
	}
	if s.Decoded.Sequences.Correct < s.Examples {
		first = fmt.Sprintf("%.2f", s.FirstWrong)
	}
	if s.Encoder > 0 {
		ponder = fmt.Sprintf("%.1f, %.1f", s.Encoder, s.Decoder)
	}
	return []string{s.Name, thousands(s.Examples), measure.Accuracies(s.Decoded), fmt.Sprintf("%.4f to %.4f", low, high), forced, first, fmt.Sprint(s.Cut), ponder}
}

// ticks returns the lengths of the sets in the chart.
func ticks(t paper.Table) (list []float64) {
	for _, s := range t.Sets {
		if s.Plot > 0 {
			list = append(list, float64(s.Plot))
		}
	}
	slices.Sort(list)
	return list
}

// checkpointsOf says when the best checkpoints of a row were saved: "3,000 of 8,000 (copy) and 500 of 8,000 (reverse)".
func (b book) checkpointsOf(t paper.Table, r paper.Row) string {
	var texts []string
	for _, c := range t.Columns {
		if runs := b.of(r.Family, c.Name); len(runs) > 0 {
			texts = append(texts, fmt.Sprintf("%s of %s (%s)", thousands(int(chosen(runs).BestStep)), thousands(int(chosen(runs).Step)), c.Title))
		}
	}
	return and(texts)
}
