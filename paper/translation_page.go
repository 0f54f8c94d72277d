package paper

import (
	"fmt"
	"strings"
)

// The paper's table 7.
const (
	translationFigures = "Transformer base 28.0; Weighted Transformer base 28.4; UT small 26.8; UT base 28.9"
	// 100,000 updates of 32,768 positions, each 6 operations for each of 211 million multiplications: 6 steps of 12 D^2 + 4 D F, and the readout.
	translationCost = "WMT14 in the paper's sizes needs an accelerator: `ut train translate_wmt14` takes about 4e18 operations, that is 2.5 years at the 50 GFLOP/s " +
		"that training reached on one thread, or a day at 50 TFLOP/s"
	// BLEU of the smallest published Transformer on the first set.
	published, publishedData = "41.02", "multi30k"
)

// figure is mean and deviation of the seeds' BLEU on a set, "" if there is none.
func translationFigure(results []Result, experiment, label, set string) string {
	var values []float64
	for _, r := range of(results, experiment) {
		if s := r.Measured.(*translationMeasured).set(set); r.Task == label && s != nil {
			values = append(values, s.BLEU)
		}
	}
	switch mean, deviation := moments(values); len(values) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("%.2f", mean)
	default:
		return fmt.Sprintf("%.2f ± %.2f of %d seeds", mean, deviation, len(values))
	}
}

// translationOverview is one row of RESULTS.md.
func translationOverview(_ *Page, results []Result) []Row {
	row := Row{Part: "table 7", What: "Translation, WMT 2014 English to German: BLEU", Paper: translationFigures, Missing: "WMT14"}
	ours := []string{translationCost}
	for _, t := range translationTasks {
		for _, m := range translationModels {
			for _, s := range t.sets {
				if figure := translationFigure(results, "translation"+m.suffix, t.label, s.name); !s.validation && figure != "" {
					ours = append(ours, fmt.Sprintf("%s, %s: %s %s", t.label, s.name, m.title, figure))
					break
				}
			}
		}
	}
	if len(results) == 0 {
		row.Missing = "everything"
	}
	row.Ours = strings.Join(ours, "; ")
	return []Row{row}
}

// writeTranslation is the section of the table: the paper's, and one table a small data set.
func writeTranslation(p *Page, results []Result) {
	p.Printf("### WMT 2014, the paper's setting\n\n")
	p.Head("model", "paper", "ours")
	for row := range strings.SplitSeq(translationFigures, "; ") {
		at := strings.LastIndex(row, " ")
		p.Row(row[:at], row[at+1:], "needs an accelerator")
	}
	p.Printf("\n%s.\n", translationCost)
	for _, t := range translationTasks {
		writeTranslationData(p, results, t)
	}
	writeTranslationRuns(p, results)
}

// writeTranslationData is the table of one data set.
func writeTranslationData(p *Page, results []Result, t translationData) {
	p.Printf("\n### %s\n\n%s Beam search of width 4; mean ± standard deviation over seeds. The checkpoint (by greedy decoding) and the length penalty were selected on validation sentences.\n\n",
		t.label, t.note)
	head := []string{"model"}
	for _, s := range t.sets {
		if !s.validation {
			head = append(head, s.name)
		}
	}
	p.Head(head...)
	if t.label == publishedData {
		p.Row("published, the smallest Transformer, averaged checkpoints, beam 5", published, "", "")
	}
	for _, m := range translationModels {
		if !m.has(t.label) {
			continue
		}
		cells := []string{m.title}
		for _, s := range t.sets {
			if s.validation {
				continue
			}
			figure := translationFigure(results, "translation"+m.suffix, t.label, s.name)
			if figure == "" {
				figure = "missing"
			}
			cells = append(cells, figure)
		}
		p.Row(cells...)
	}
}

// writeTranslationRuns lists every measurement, and how it was trained.
func writeTranslationRuns(p *Page, results []Result) {
	p.Printf("\n### All measurements\n\n")
	p.Head("experiment", "data", "seed", "parameters", "updates", "minutes", "threads", "set", "length penalty", "BLEU and its signature", "chrF", "sentences/s", "version")
	for _, r := range results {
		for _, s := range r.Measured.(*translationMeasured).Sets {
			line := fmt.Sprintf("%.2f", s.BLEU)
			if len(s.Notes) > 0 {
				line = strings.ReplaceAll(s.Notes[0], "|", " ")
			}
			p.Row(r.Experiment, r.Task, fmt.Sprint(r.Seed), thousands(r.Parameters), thousands(int(r.Step)), fmt.Sprintf("%.0f", r.Seconds/60), fmt.Sprint(r.Threads),
				s.Name, fmt.Sprint(s.Alpha), line, fmt.Sprintf("%.1f", s.ChrF), fmt.Sprintf("%.1f", float64(s.Sentences)/max(s.Seconds, 1e-9)), r.Version)
		}
	}
	p.Printf("\nCommand: `ut experiment run table7 --multi30k multi30k.tar.xz --news wmt_news.tar.xz`, or the name of a single experiment and `--tasks multi30k`.\n")
}
