package report

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"universal-transformer/paper"
)

// fromPositions compares the Universal Transformers of the two blocks of table 4, between which positions, data and regularization differ,
// not recurrence, and with the one of our block that has the paper's positions.
func (p *page) fromPositions(t paper.Table) {
	ours, _ := t.Row("algorithmic")
	papers, _ := t.Row("algorithmic-paper")
	offset, _ := t.Row("algorithmic-alike-offset")
	set := t.ShownSets(ours.Block)[0].Name
	all := p.gains(t, ours, papers, set)
	if all == "" {
		return
	}
	p.printf("The Universal Transformer of this block minus that of the paper's setting, %s: %s. They differ in positions, data, regularization, heads, the peak rate, the number of updates, the end token of sources, the mean of the weights, and the validation sequences that choose checkpoints, and for copy and reverse in the optimizer (Muon instead of Adam). Recurrence does not differ. ", set, all)
	if alone := p.gains(t, ours, offset, set); alone == "" {
		p.printf("How much each adds was not measured. ")
	} else {
		p.printf("The same minus the Universal Transformer with the paper's positions, trained alike: %s. These two differ in positions alone; the best checkpoints of the second are of updates %s. With the paper's positions, this training minus that of the paper's setting: %s. ",
			alone, p.book.checkpointsOf(t, offset), p.gains(t, offset, papers, set))
	}
	p.printf("%s\n\n", p.recurrence())
}

// recurrence says in which columns the Universal Transformers of the blocks with our positions, trained with Muon and with Adam, are better than other
// models of their blocks at equal updates.
func (p *page) recurrence() string {
	t := paper.Table4() // with the rows of its page
	wins := func(family string) (list []string) {
		own, _ := t.Row(family)
		for _, d := range p.book.comparisons(t, own) {
			if d.better() && !d.excepted && !d.row.EqualTime {
				list = append(list, d.column.Title+" against "+d.row.Title)
			}
		}
		return list
	}
	muon, adam := wins("algorithmic"), wins("algorithmic-adam")
	both := slices.DeleteFunc(slices.Clone(muon), func(win string) bool { return !slices.Contains(adam, win) })
	text := fmt.Sprintf("What recurrence adds depends on the training. The Universal Transformer is better than other models of its block with this training in %s; with Adam ([block](%s)) in %s; with both in %s.",
		noneOr(muon), path.Join(p.folder, t.Name()+".md"), noneOr(adam), noneOr(both))
	lstm, _ := t.Row("algorithmic-alike-lstm")
	set := t.ShownSets(lstm.Block)[0].Name
	here, there := sequenceAccuracies(p.book.of(lstm.Family, "copy"), set), sequenceAccuracies(p.book.of("algorithmic-adam-lstm", "copy"), set)
	if len(here) > 0 && len(there) > 0 {
		best := chosen(p.book.of(lstm.Family, "copy"))
		text += fmt.Sprintf(" For copy, the validation sequences, half of them hard cases, choose the LSTM's checkpoint of update %s of %s. With Adam and random validation sequences the LSTM has %.3f of copy right in the mean, here %.3f.",
			thousands(int(best.BestStep)), thousands(int(best.Step)), mean(there), mean(here))
	}
	return text
}

// noneOr joins texts, or returns "no case".
func noneOr(texts []string) string { return cmp.Or(strings.Join(texts, ", "), "no case") }

// gains compares two rows in every column: "copy +0.939 (no test: n = 3 and 1), ...".
func (p *page) gains(t paper.Table, own, other paper.Row, set string) string {
	var texts []string
	for _, c := range t.Columns {
		if result, ok := p.book.compareSequences(own, other, c.Name, set); ok {
			texts = append(texts, fmt.Sprintf("%s %s (%s)", c.Title, result.gap("%+.3f"), result.evidence()))
		}
	}
	return strings.Join(texts, ", ")
}
