package report

import (
	"fmt"
	"slices"
	"strings"

	"universal-transformer/internal/score"
	"universal-transformer/paper"
	"universal-transformer/paper/measure"
)

// set returns a set of a run, or nil if it was not measured.
func (r run) set(name string) *measure.SequenceSet { return r.measured.(*measure.Sequences).Set(name) }

// chosenSet returns a set of the seed with the lowest validation cross entropy, or nil.
func chosenSet(runs []run, set string) *measure.SequenceSet {
	if len(runs) == 0 {
		return nil
	}
	return chosen(runs).set(set)
}

// sequenceAccuracies returns the sequence accuracies of all seeds in a set.
func sequenceAccuracies(runs []run, set string) []float64 {
	return values(runs, func(r run) (float64, bool) {
		if s := r.set(set); s != nil {
			return s.Decoded.Sequences.Value(), true
		}
		return 0, false
	})
}

// sequences writes a table whose cells are decoded sequences, block by block: the rows of the paper's layout, or those of the details.
func (p *page) sequences(t paper.Table, detail bool) {
	t.Rows = slices.DeleteFunc(slices.Clone(t.Rows), func(r paper.Row) bool { return r.Detail != detail })
	for _, block := range blocks(t) {
		if block != "" {
			p.printf("### %s%s\n\n", strings.ToUpper(block[:1]), block[1:])
		}
		head := []string{"model", ""}
		for _, c := range t.Columns {
			head = append(head, c.Title)
		}
		var shown []paper.Row
		var notRun []string
		for _, r := range t.Rows {
			switch {
			case r.Block != block:
			case len(r.Published) == 0 && p.notRun(t, r):
				notRun = append(notRun, r.Title)
			default:
				shown = append(shown, r)
			}
		}
		if len(shown) > 0 {
			p.head(head...)
			for _, r := range shown {
				p.sequenceRows(t, r)
			}
			p.printf("\n")
		}
		if len(notRun) > 0 {
			p.printf("Not run: %s.\n\n", strings.Join(notRun, "; "))
		}
		if block == paper.OtherPositions {
			p.fromPositions(t)
		}
		for _, r := range t.Rows {
			if r.Block == block && r.Own {
				p.sequenceComparisons(t, r)
			}
		}
	}
}

// lengthLinks links the charts of accuracy by length, and names the tests at more lengths.
func (p *page) lengthLinks(t paper.Table) {
	p.printf("Accuracy by length:")
	for _, c := range t.Columns {
		p.printf(" [%s](%s/%s)", c.Title, p.folder, lengthFigure(c))
	}
	p.printf(".%s%s\n\n", p.largerTests(t), p.logged(t))
}

// blocks returns the headings of a table's blocks of rows, in order.
func blocks(t paper.Table) (list []string) {
	for _, r := range t.Rows {
		if !slices.Contains(list, r.Block) {
			list = append(list, r.Block)
		}
	}
	return list
}

// notRun reports whether a row has no result in any column.
func (p *page) notRun(t paper.Table, r paper.Row) bool {
	return !slices.ContainsFunc(t.Columns, func(c paper.Column) bool { return len(p.book.of(r.Family, c.Name)) > 0 })
}

// sequenceRows writes the paper's figures of a row, our best seed in every shown set, and the spread over seeds in the first set.
func (p *page) sequenceRows(t paper.Table, r paper.Row) {
	title := r.Title
	add := func(what string, cell func(paper.Column) string) {
		cells, found := []string{title, what}, false
		for _, c := range t.Columns {
			text := ""
			if r.Has(c.Name) {
				text = cell(c)
			}
			cells, found = append(cells, text), found || text != ""
		}
		if found {
			p.row(cells...)
			title = ""
		}
	}
	add("paper", func(c paper.Column) string { return strings.Join(r.Published[c.Name], "") })
	if p.notRun(t, r) {
		p.row(append([]string{title, "ours, not run"}, make([]string, len(t.Columns))...)...)
		return
	}
	for _, set := range t.ShownSets(r.Block) {
		add("ours, "+set.Name+p.fewer(t, r, set.Name), func(c paper.Column) string {
			runs := p.book.of(r.Family, c.Name)
			s := chosenSet(runs, set.Name)
			if s == nil {
				return "missing"
			}
			return measure.Accuracies(s.Decoded) + seedsText(runs, set.Name)
		})
	}
	if r.Adaptive {
		set := t.ShownSets(r.Block)[0].Name
		add("ours, mean steps of encoder and decoder, "+set, func(c paper.Column) string {
			s := chosenSet(p.book.of(r.Family, c.Name), set)
			if s == nil {
				return ""
			}
			return fmt.Sprintf("%.1f, %.1f", s.Encoder, s.Decoder)
		})
	}
}

// fewer returns " (200 sequences)" of a set that has fewer sequences than the first shown one in every result of a row, and "" otherwise.
func (p *page) fewer(t paper.Table, r paper.Row, set string) string {
	first, n := t.ShownSets(r.Block)[0].Name, 0
	for _, x := range p.book.row(t, r) {
		s, all := x.set(set), x.set(first)
		if s == nil || all == nil {
			continue
		}
		if s.Examples >= all.Examples || n > 0 && s.Examples != n {
			return ""
		}
		n = s.Examples
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s)", count(n, "sequence"))
}

// seedsText returns mean ± deviation of the sequence accuracies, or the 95 % interval of a single seed.
func seedsText(runs []run, set string) string {
	list := sequenceAccuracies(runs, set)
	if len(list) > 1 {
		return fmt.Sprintf("; %s, n = %d", spread("%.3f", list), len(list))
	}
	low, high := chosenSet(runs, set).Decoded.Sequences.Interval95()
	return fmt.Sprintf(" [%.3f, %.3f]", low, high)
}

// moreRight says in which sets the selected seeds of other rows of a block have more sequences right than that of its Universal Transformer, by no
// more updates. It is not a test.
func (p *page) moreRight(t paper.Table, own paper.Row) string {
	var rows []string
	for _, r := range t.Rows {
		if r.Block != own.Block || r.EqualTime {
			continue
		}
		if places := p.book.places(t, own, r); len(places) > 0 {
			rows = append(rows, r.Title+" in "+strings.Join(places, ", "))
		}
	}
	return strings.Join(rows, "; ")
}

// places lists the columns and sets in which the selected seed of one row has more sequences right than that of the other.
func (b book) places(t paper.Table, own, other paper.Row) (places []string) {
	for _, set := range t.ShownSets(own.Block) {
		for _, c := range t.Columns {
			x, y := chosenSet(b.of(own.Family, c.Name), set.Name), chosenSet(b.of(other.Family, c.Name), set.Name)
			if x == nil || y == nil || y.Decoded.Sequences.Value() <= x.Decoded.Sequences.Value() {
				continue
			}
			mark := ""
			if excepted(own, other, c.Name) {
				mark = exception
			}
			places = append(places, fmt.Sprintf("%s, %s (%s%s against %s)", c.Title, set.Name, measure.Decimals(y.Decoded.Sequences), mark, measure.Decimals(x.Decoded.Sequences)))
		}
	}
	return places
}

// sequenceComparisons writes whether a row is distinguishable from the other models of its block, in the first shown set, and where others have
// more sequences right.
func (p *page) sequenceComparisons(t paper.Table, own paper.Row) {
	list := p.book.comparisons(t, own)
	var lines []string
	for _, c := range t.Columns {
		var g grouped
		for _, d := range list {
			if d.column.Name == c.Name {
				g.add(d.comparison, d.row.Title, "%+.3f")
			}
		}
		if text := g.String(); text != "" {
			lines = append(lines, fmt.Sprintf("- %s: %s.\n", c.Title, text))
		}
	}
	if len(lines) == 0 {
		return
	}
	if text := p.moreRight(t, own); text != "" {
		lines = append(lines, fmt.Sprintf("- More sequences right than the Universal Transformer without more updates, best seed each, not a test: %s.\n", text))
	}
	p.printf("%s, sequences, %s.", own.Title, t.ShownSets(own.Block)[0].Name)
	if text := families(list); text != "" {
		p.printf(" p-values are corrected by Holm's method for %s.", text)
	}
	if text := p.updateTimes(t, own); text != "" {
		p.printf(" %s.", text)
	}
	p.printf("\n\n%s\n", strings.Join(lines, ""))
}

// rowNotes writes how the rows of a block differ in positions or training.
func (p *page) rowNotes(t paper.Table, block string) {
	var notes []string
	for _, r := range t.Rows {
		if r.Block == block && r.Note != "" {
			notes = append(notes, fmt.Sprintf("- %s: %s.\n", r.Title, r.Note))
		}
	}
	if len(notes) == 0 {
		return
	}
	if block != "" {
		p.printf("In the block %q:\n\n", block)
	}
	p.printf("%s\n", strings.Join(notes, ""))
}

// sequenceValue returns the sequence accuracy of a cell's selected seed. ok is false if there is none.
func (b book) sequenceValue(family, column, set string) (a score.Accuracy, ok bool) {
	if s := chosenSet(b.of(family, column), set); s != nil {
		return s.Decoded.Sequences, true
	}
	return a, false
}
