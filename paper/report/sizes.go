package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"universal-transformer/paper"
	"universal-transformer/paper/measure"
)

// sizes writes the parameters and the training time of every cell with runs; in table 1 of every row, without the
// runs on a stand-in if the row has other tasks, too.
func (p *page) sizes(t paper.Table) {
	var rows [][]string
	var machines []string
	leftOut := false
	head := []string{"model", "tasks"}
	if t.Number != 1 {
		head = head[:1]
		for _, c := range t.Columns {
			head = append(head, c.Name)
		}
	}
	for _, r := range t.Rows {
		runs := p.book.row(t, r)
		if len(r.Columns) > 1 {
			all := len(runs)
			runs = slices.DeleteFunc(runs, onStandIn)
			leftOut = leftOut || len(runs) < all
		}
		if len(runs) == 0 {
			continue
		}
		for _, run := range runs {
			if !slices.Contains(machines, run.TrainedBy.CPU) {
				machines = append(machines, run.TrainedBy.CPU)
			}
		}
		row := []string{r.Family}
		if t.Number == 1 {
			row = append(row, size(runs))
		} else {
			for _, c := range t.Columns {
				row = append(row, size(p.book.of(r.Family, c.Name)))
			}
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		return
	}
	p.printf("## Parameters and training times\n\nThousands of parameters; minutes of training per run: the mean of processor times, or ~ of clock times, which include waiting, if fewer than half of the runs recorded processor times. " +
		"bf16: products in bfloat16; otherwise float32 or not recorded. The limits of updates are equal in a column, except in rows that say otherwise; training may end before.")
	if leftOut {
		p.printf(" In rows of several tasks, models that were trained on another file than that of their task are left out.")
	}
	if len(machines) > 1 {
		p.printf(" The machines differ or are not recorded, so not all times can be compared.")
	}
	p.printf("\n\n")
	p.head(head...)
	for _, row := range rows {
		p.row(row...)
	}
	p.printf("\n")
}

// onStandIn reports whether a task of table 1 was trained on another file than its own.
func onStandIn(r run) bool {
	m, ok := r.measured.(*measure.Babi)
	return ok && len(m.Tests) == 1 && m.StandIn != ""
}

// size returns parameters, minutes and precision of runs; "" without any.
func size(runs []run) string {
	if len(runs) == 0 {
		return ""
	}
	return fmt.Sprintf("%s; %s%s", parameters(runs), minutes(runs), precision(runs))
}

// parameters returns the number of parameters in thousands, or its range.
func parameters(runs []run) string {
	low, high := runs[0].Parameters, runs[0].Parameters
	for _, r := range runs {
		low, high = min(low, r.Parameters), max(high, r.Parameters)
	}
	if low, high := (low+500)/1000, (high+500)/1000; low != high {
		return fmt.Sprintf("%s to %s", thousands(low), thousands(high))
	}
	return thousands((low + 500) / 1000)
}

// minutes returns the mean training time: of processors, if at least half of the runs recorded it, otherwise by the clock.
func minutes(runs []run) string {
	if list := processorSeconds(runs); len(list) > 0 && 2*len(list) >= len(runs) {
		text := twoDigits(mean(list) / 60)
		if len(list) < len(runs) {
			text += fmt.Sprintf(" (%d of %d runs)", len(list), len(runs))
		}
		return text
	}
	if list := values(runs, func(r run) (float64, bool) { return r.Seconds, r.Seconds > 0 }); len(list) > 0 {
		return "~" + twoDigits(mean(list)/60)
	}
	return "not recorded"
}

// precision returns ", bf16" for runs with products in bfloat16, and how many these are if not all.
func precision(runs []run) string {
	n := 0
	for _, r := range runs {
		if strings.Contains(r.TrainedBy.Backend, "products=bf16") {
			n++
		}
	}
	switch n {
	case 0:
		return ""
	case len(runs):
		return ", bf16"
	}
	return fmt.Sprintf(", bf16 in %d of %d runs", n, len(runs))
}

// processorSeconds returns the processor times of training of the runs for which they are recorded.
func processorSeconds(runs []run) []float64 {
	return values(runs, func(r run) (float64, bool) { return r.TrainedBy.CPUSeconds, r.TrainedBy.CPUSeconds > 0 })
}

// updateTimes says how the processor time of an update of a block's Universal Transformer compares with that of the other rows without more updates.
// Only runs on the same processor with the same backend are compared, those whose record does not have its model only if they have the same build, too. It returns "" without any.
func (p *page) updateTimes(t paper.Table, own paper.Row) string {
	var texts []string
	for _, r := range t.Rows {
		if r.Family == own.Family || r.Block != own.Block || r.EqualTime {
			continue
		}
		var ratios []float64
		for _, c := range t.Columns {
			ratios = append(ratios, updateRatios(p.book.of(own.Family, c.Name), p.book.of(r.Family, c.Name))...)
		}
		if len(ratios) > 0 {
			texts = append(texts, fmt.Sprintf("%s %s", r.Title, twoDigits(mean(ratios))))
		}
	}
	if len(texts) == 0 {
		return ""
	}
	return "Equal updates are not equal time. Processor time of an update of " + own.Title + ", divided by that of other models, where both are recorded on the same processor: " + strings.Join(texts, "; ")
}

// updateRatios returns the ratio of the mean processor times of an update of two rows for each processor and backend on which both recorded it.
func updateRatios(own, others []run) (ratios []float64) {
	x, y := updateSeconds(own), updateSeconds(others)
	for _, machine := range slices.Sorted(maps.Keys(x)) {
		if len(y[machine]) > 0 {
			ratios = append(ratios, mean(x[machine])/mean(y[machine]))
		}
	}
	return ratios
}

// updateSeconds returns the processor time of an update of each run that recorded it, by processor and backend, and by build if the model of the
// processor is unknown.
func updateSeconds(runs []run) map[string][]float64 {
	list := map[string][]float64{}
	for _, r := range runs {
		if by := r.TrainedBy; by.CPUSeconds > 0 && by.Updates > 0 && by.CPU != "" {
			machine := by.CPU + ", " + by.Backend
			if !strings.Contains(by.CPU, "model") { // "AMD EPYC" is several
				machine += ", " + by.Commit
			}
			list[machine] = append(list[machine], by.CPUSeconds/float64(by.Updates))
		}
	}
	return list
}

// twoDigits formats 0.221 as 0.22, 4.43 as 4.4 and 110.2 as 110.
func twoDigits(v float64) string {
	switch {
	case v >= 9.95:
		return fmt.Sprintf("%.0f", v)
	case v >= 0.995:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}
