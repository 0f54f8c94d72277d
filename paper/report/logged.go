package report

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"universal-transformer/paper"
)

// largerTests returns the results of the Universal Transformer with more updates in the tests of its block alone: of the seed with the lowest
// validation cross entropy and, of several, the mean.
func (p *page) largerTests(t paper.Table) string {
	i := slices.IndexFunc(t.Rows, func(r paper.Row) bool { return r.Own && r.Block == paper.ExtendedUpdates })
	if i < 0 || p.notRun(t, t.Rows[i]) {
		return ""
	}
	own := t.Rows[i]
	var columns []string
	for _, c := range t.Columns {
		runs := p.book.of(own.Family, c.Name)
		var texts []string
		for _, set := range t.ShownSets(own.Block) {
			s := chosenSet(runs, set.Name)
			if s == nil || !set.Only {
				continue
			}
			a := s.Decoded.Sequences
			text := fmt.Sprintf("%s of %s at length %d", thousands(a.Correct), thousands(a.Total), set.Length)
			if len(runs) > 1 {
				text += fmt.Sprintf(" (mean %.2f %%)", 100*mean(sequenceAccuracies(runs, set.Name)))
			}
			texts = append(texts, text)
		}
		if len(texts) > 0 {
			columns = append(columns, fmt.Sprintf("%s (n = %d) %s", c.Title, len(runs), strings.Join(texts, ", ")))
		}
	}
	return fmt.Sprintf(" The Universal Transformer with our positions after half as many updates again, selected seeds ([block](%s)): %s.",
		path.Join(p.folder, t.Name()+".md"), strings.Join(columns, "; "))
}

// logged returns the larger tests of a table's Universal Transformer that only docs/log.md has.
func (p *page) logged(t paper.Table) string {
	if len(t.Logged) == 0 || len(p.book.table(t)) == 0 {
		return ""
	}
	var texts []string
	for _, l := range t.Logged {
		texts = append(texts, l.Text)
	}
	return fmt.Sprintf(" Larger tests of the selected seeds of the Universal Transformer with our positions, whose figures are not from result files but from docs/log.md ([entries](%s#larger-tests)): %s.",
		path.Join(p.folder, t.Name()+".md"), strings.Join(texts, "; "))
}

// loggedDetails lists the larger tests with their entries.
func (p *page) loggedDetails(t paper.Table) {
	if len(t.Logged) == 0 {
		return
	}
	p.printf("## Larger tests\n\nOf the selected seeds of the Universal Transformer with our positions. No result file was kept: these figures are those of entries of docs/log.md.\n\n")
	for _, l := range t.Logged {
		p.printf("- %s: %q.\n", l.Text, l.Entry)
	}
	p.printf("\n")
}
