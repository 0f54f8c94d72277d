package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"universal-transformer/internal/evaluation"
	"universal-transformer/internal/score"
	"universal-transformer/internal/textfile"
	"universal-transformer/training"
)

// demoReport is the output of the demo.
type demoReport struct {
	model    string
	training training.Summary
	rows     []evaluation.Row // the first at trained lengths, the others beyond
	page     string
	dir      string
	took     time.Duration
}

func (d demoReport) print(w io.Writer) error {
	row := func(lengths string, examples any, tokens, sequences string) {
		fmt.Fprintf(w, "  %-22s %9v   %-24s %s\n", lengths, examples, tokens, sequences)
	}
	fmt.Fprintf(w, "\n%s, %s parameters\n%d updates in %s\n\n", d.model, thousands(d.training.Parameters), d.training.Step, minutes(d.training.Seconds))
	fmt.Fprintf(w, "Reversing decimal digits, %s of held-out sequences, 95 %% intervals\n", d.rows[0].Method)
	row("", "sequences", "token accuracy", "sequence accuracy")
	for i, r := range d.rows {
		lengths := r.Lengths + ", beyond"
		if i == 0 {
			lengths = r.Lengths + ", trained"
		}
		row(lengths, r.Count, interval(r.Metrics[0].Accuracy), interval(r.Metrics[1].Accuracy))
	}
	for _, note := range d.rows[0].Notes {
		fmt.Fprintf(w, "  %s\n", note)
	}
	fmt.Fprintf(w, "\nFor comparison, table 4 of the paper (reverse) in a different setting: trained on lengths up to 40, tested at length 400\n")
	for _, r := range table4Reverse {
		row(r.model, "", r.tokens, r.sequences)
	}
	_, err := fmt.Fprintf(w, `
trace of %s: %s
%s in total; next:
  echo 20182019 | %s decode %s
  %[4]s eval %[5]s --length 40 --count 200
`, demoInput, d.page, minutes(d.took.Seconds()), textfile.Quoted(os.Args[0]), textfile.Quoted(d.dir))
	return err
}

// interval formats an accuracy with its 95 % interval.
func interval(a score.Accuracy) string {
	low, high := a.Interval95()
	return fmt.Sprintf("%.4f (%.4f..%.4f)", a.Value(), low, high)
}

// table4Reverse holds the paper's character and sequence accuracy on reverse.
var table4Reverse = []struct{ model, tokens, sequences string }{
	{"Universal Transformer", "0.96", "0.46"},
	{"LSTM", "0.66", "0.11"},
	{"Transformer", "0.13", "0.06"},
}
