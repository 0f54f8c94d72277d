package report

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"universal-transformer/internal/plot"
	"universal-transformer/paper"
	"universal-transformer/paper/measure"
)

// Entries of docs/log.md with figures that no result file has.
const (
	placesEntry = "2026-11-26 · table 6: products are learned, from the last digit, when training has factors with zeros; five minutes on a GPU"
	chainsEntry = "2026-11-25 · table 6: control in the paper's order .999 (.997), fine-tuned from the program model"
)

// aimed is the accuracy of program for which the page says how many products it takes.
const aimed = 0.8

// limits writes what limits program and control.
func (p *page) limits(t paper.Table) {
	if len(p.book.limited[ofProgram.column])+len(p.book.limited[ofControl.column]) == 0 {
		return
	}
	p.printf("## What limits program and control\n\n")
	if list := p.book.limited[ofProgram.column]; len(list) > 0 {
		p.productLimit(list)
		p.kindsFigure(t, ofProgram)
	}
	if list := p.book.limited[ofControl.column]; len(list) > 0 {
		p.loopLimit(list)
		p.kindsFigure(t, ofControl)
	}
}

// publishedProgram returns the paper's accuracy of the Universal Transformer on program.
func publishedProgram() string {
	t := paper.Table6()
	row, _ := t.Row("programs")
	column, _ := t.Column(ofProgram.column)
	return publishedSequence(row, column)
}

// discards says how many programs have an operation, and in how many a conditional discards it.
func discards(l limit, tests measure.ProgramTests) string {
	m := tests.Maximum
	return fmt.Sprintf("Of the %s test programs of %s at the maximum, %s have a %s. In %s of these an `if` chooses another number, so %s answers depend on a %s.",
		thousands(m.Programs), l.column, thousands(m.With), l.noun, thousands(m.Discarded()), thousands(m.Dependent), l.noun)
}

// productLimit says what products cost the models of program.
func (p *page) productLimit(list []limited) {
	p.printf("**Products limit program.** ")
	if first := withOrder(list, false); len(first) > 0 {
		tests := first[0].tests
		low, high := extremes(first, func(l limited) float64 { return l.kind.Value() })
		p.printf("%s A model that has all other answers right and none of these has %.3f; the paper has %s. For %.1f it also needs %.3f of the answers that depend on a product. "+
			"This test set is a sample: 9 of 25 pairs of operations have a product, 1 in 18 of these pairs discards it, and so %.2f of all answers depend on none.\n\n",
			discards(ofProgram, tests), without(tests), publishedProgram(), aimed, needed(tests, aimed), 1-9./25*17/18)
		p.printf("The kind \"%s\" has %s other programs, and %d of them discard their product, which is a share of %.3f. "+
			"All models that begin with the first digit, the LSTM included, have %.3f to %.3f of the kind right. ",
			ofProgram.kind, thousands(tests.Kind.Programs), tests.Kind.Discarded(), float64(tests.Kind.Discarded())/float64(max(1, tests.Kind.Programs)), low, high)
		_, best := extremes(first, limited.learned)
		p.printf("Of the answers that depend on a product, the best of these models has %.3f right.\n\n", best)
	}
	for _, l := range withOrder(list, true) {
		p.printf("%s: %.3f of the kind are right, and of its answers that depend on a product %.3f. With all others right, %.1f would need %.3f of them. ",
			l.row.Title, l.kind.Value(), l.learned(), aimed, needed(l.tests, aimed))
		p.printf("Accuracies by digit are in docs/log.md, %q.\n\n", placesEntry)
	}
	tests := list[0].tests
	p.printf("The last three columns are estimates. They suppose that all programs that discard their product are right, and that of the others as large a share is right as of the kind's. So each right answer of the kind that depends on a product adds %.4f to the last column.\n\n",
		float64(tests.Maximum.Dependent)/float64(tests.Kind.Dependent*tests.Maximum.Programs))
	p.head("model", "seed", "all programs", fmt.Sprintf("programs with a product (%s)", ofProgram.kind), "programs without", "share of the errors that have a product", "accuracy if all programs without a product were right")
	for _, l := range list {
		p.row(l.row.Title, p.seedOf(l), measure.Decimals(l.maximum), measure.Decimals(l.kind), fmt.Sprintf("%.3f", l.others()), fmt.Sprintf("%.3f", l.errors()), fmt.Sprintf("%.3f", l.ceiling()))
	}
	p.printf("\n")
}

// loopLimit says what loops cost the models of control.
func (p *page) loopLimit(list []limited) {
	p.printf("**Loops limit control.** ")
	if first := withOrder(list, false); len(first) > 0 {
		p.printf("%s A model that has all other answers right and none of these has %.3f", discards(ofControl, first[0].tests), without(first[0].tests))
		if lstm, ok := selectedOf(first, "programs-lstm"); ok {
			p.printf("; the LSTM has %.3f", lstm.maximum.Value())
		}
		p.printf(".")
	}
	single := func(name string) func(limited) float64 {
		return func(l limited) float64 {
			if s := l.set(name); s != nil {
				return s.Decoded.Sequences.Value()
			}
			return 0
		}
	}
	low, _ := extremes(list, single("nesting 1: if"))
	least, most := extremes(list, single(ofControl.single))
	p.printf(" Every model and seed has at least %.3f of the programs right that are one conditional, and %.3f to %.3f of those that are one loop.", low, least, most)
	control, program := ofFamily(list, "programs"), ofFamily(p.book.limited[ofProgram.column], "programs")
	if len(control) > 0 && len(program) > 0 {
		p.printf(" By seed, the Universal Transformer has %s of single loops right when it is trained on control, and %s when it is trained on program, where one operation in five is a loop and not one in two.",
			fractions(control, single(ofControl.single)), fractions(program, single(ofControl.single)))
	}
	p.printf(" Which chains are wrong, and at which digits, is in docs/log.md, %q.\n\n", chainsEntry)
	p.head("model", "seed", "all programs", "one conditional", "one loop", fmt.Sprintf("two operations with a loop (%s)", ofControl.kind), "of these, answers that depend on a loop")
	for _, l := range list {
		cells := []string{l.row.Title, p.seedOf(l), measure.Decimals(l.maximum)}
		for _, name := range []string{"nesting 1: if", ofControl.single, ofControl.kind} {
			cell := ""
			if s := l.set(name); s != nil {
				cell = measure.Decimals(s.Decoded.Sequences)
			}
			cells = append(cells, cell)
		}
		p.row(append(cells, fmt.Sprintf("%.3f", l.learned()))...)
	}
	p.printf("\n")
}

// seedOf returns the seed of a run, and whether it is the one that the table shows.
func (p *page) seedOf(l limited) string {
	runs := p.book.of(l.family, l.column)
	if len(runs) > 1 && chosen(runs).Seed == l.Seed {
		return fmt.Sprintf("%d, selected", l.Seed)
	}
	return fmt.Sprint(l.Seed)
}

// kindsFigure draws the accuracies of all models by kind: those of the selected seeds, with the range over seeds.
func (p *page) kindsFigure(t paper.Table, l limit) {
	c, _ := t.Column(l.column)
	b := plot.Bars{Title: c.Title + ": sequence accuracy by kind, selected seed; lines: lowest and highest seed"}
	rows := slices.DeleteFunc(slices.Clone(t.Rows), func(r paper.Row) bool { return len(p.book.of(r.Family, c.Name)) == 0 })
	for _, r := range rows {
		b.Names = append(b.Names, r.Title)
	}
	for _, kind := range append([]string{maximumSet}, p.kinds(t, c)...) {
		g := plot.Group{Name: kind}
		for _, r := range rows {
			runs := p.book.of(r.Family, c.Name)
			value, span := 0.0, [2]float64{}
			if s := chosenSet(runs, kind); s != nil {
				value = s.Decoded.Sequences.Value()
				span[0], span[1] = extremes(sequenceAccuracies(runs, kind), func(v float64) float64 { return v })
			}
			g.Values, g.Ranges = append(g.Values, value), append(g.Ranges, span)
		}
		b.Groups = append(b.Groups, g)
	}
	p.draw("programs-"+c.Name+"-kinds.svg", c.Title+": accuracy by kind", b.SVG())
}

// limitsLine says below table 6 what limits program and control.
func (p *page) limitsLine(t paper.Table) {
	text := ""
	for _, l := range []limit{ofProgram, ofControl} {
		list := withOrder(p.book.limited[l.column], false)
		if len(list) == 0 {
			continue
		}
		text += fmt.Sprintf("%ss limit %s: a model without them has at most %.3f right. ", strings.ToUpper(l.noun[:1])+l.noun[1:], l.column, without(list[0].tests))
		_, high := extremes(list, limited.learned)
		if own := ofFamily(list, "programs"); len(own) > 0 {
			text += fmt.Sprintf("Of the answers that depend on a %s, the Universal Transformer has an estimated %s right, by seed, and the best of all models that begin with the first digit %.3f. ", l.noun, fractions(own, limited.learned), high)
		}
	}
	if text != "" {
		p.printf("%s[What limits program and control](%s#what-limits-program-and-control) has all models and seeds.\n\n", text, path.Join(p.folder, t.Name()+".md"))
	}
}
