package report

import (
	"fmt"
	"slices"
	"strings"

	"universal-transformer/paper"
)

// sizes writes one line with the parameters and the training time of every row with runs.
func (p *page) sizes(t paper.Table) {
	var rows, machines []string
	for _, r := range t.Rows {
		runs := p.book.row(t, r)
		if len(runs) == 0 {
			continue
		}
		rows = append(rows, fmt.Sprintf("%s %s, %s%s", r.Family, parameters(runs), minutes(runs), precision(runs)))
		for _, run := range runs {
			if !slices.Contains(machines, run.TrainedBy.CPU) {
				machines = append(machines, run.TrainedBy.CPU)
			}
		}
	}
	if len(rows) == 0 {
		return
	}
	note := ""
	if len(machines) > 1 {
		note = " The machines differ or are not recorded, so not all times can be compared."
	}
	p.printf("Thousands of parameters, and minutes of training per run (mean of processor times, or ~ of clock times, some of which include long waiting), at equal updates except in rows with more; bf16: products in bfloat16, float32 or not recorded otherwise: %s.%s\n\n", strings.Join(rows, "; "), note)
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

// minutes returns the mean training time: of processors, over the runs for which it is recorded, otherwise by the clock.
func minutes(runs []run) string {
	if list := processorSeconds(runs); len(list) > 0 {
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
