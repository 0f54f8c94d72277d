package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"universal-transformer/internal/evaluation"
	"universal-transformer/internal/quantity"
	"universal-transformer/internal/score"
)

// print writes the evaluation as text.
func (m measured) print(w io.Writer) error {
	lines := []string{
		fmt.Sprintf("%s, checkpoint of update %d", m.Run, m.Checkpoint),
		fmt.Sprintf("%s, %s, %s, %s", m.Task, m.Lengths, quantity.Regular(m.Row.Count, "examples"), m.Method),
	}
	shares := false
	for _, metric := range m.Metrics {
		shares = shares || metric.Accuracy.Total > 0
		lines = append(lines, fmt.Sprintf("%-20s %s", metric.Name, metric))
	}
	if shares {
		lines = append(lines, "in parentheses: 95 % interval, and counts")
	}
	for _, stack := range []struct {
		name  string
		steps *evaluation.Steps
	}{{"encoder", m.Encoder}, {"decoder", m.Decoder}} {
		s := stack.steps
		if s == nil {
			continue
		}
		line := fmt.Sprintf("%s: %.2f ± %.2f steps per position", stack.name, s.Mean, s.Deviation)
		if first, last := s.Tenths[0], s.Tenths[9]; first != nil && last != nil {
			line += fmt.Sprintf("; %.2f in the first tenth of the positions, %.2f in the last", *first, *last)
		}
		lines = append(lines, line)
	}
	if m.Exit != "" {
		lines = append(lines, "positions ended early or late: "+m.Exit)
	}
	if r := m.Readouts; r != nil {
		lines = append(lines, fmt.Sprintf("%.2f extra readouts per position; the rule adds %.0f %% to the operations of a pass of all steps", r.Extra, 100*r.Operations))
	}
	if m.Spans != nil {
		lines = append(lines, score.ScoreLines(m.Spans, "spans", "spans")...)
	}
	if m.Confusion != nil {
		lines = append(lines, m.Confusion.Lines()...)
	}
	lines = append(lines, m.Notes[:len(m.Notes)-len(m.Remarks)]...) // the remarks are on the standard error
	if m.Diagnosis != nil {
		lines = append(lines, m.Diagnosis.Lines()...)
	}
	_, err := io.WriteString(w, strings.Join(lines, "\n")+"\n")
	return err
}

// printTable prints one row per run. A metric that a run does not have is shown as "-".
func printTable(w io.Writer, list []measured) error {
	var names []string
	for _, m := range list {
		for _, metric := range m.Metrics {
			if !strings.Contains("\n"+strings.Join(names, "\n")+"\n", "\n"+metric.Name+"\n") {
				names = append(names, metric.Name)
			}
		}
	}
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintf(table, "run\tstep\ttask\texamples\tmethod\t%s\tsteps per position\tparameters\ttraining time\n", strings.Join(names, "\t"))
	for _, m := range list {
		cells := make([]string, len(names))
		for i, name := range names {
			cells[i] = "-"
			for _, metric := range m.Metrics {
				if metric.Name == name {
					cells[i] = fmt.Sprintf("%.4f", metric.Value)
				}
			}
		}
		fmt.Fprintf(table, "%s\t%d\t%s\t%d\t%s\t%s\t%s\t%s\t%s\n", m.Run, m.Checkpoint, m.Task, m.Row.Count, m.Method, strings.Join(cells, "\t"),
			m.ponder(), thousands(m.Parameters), minutes(m.Training))
	}
	return table.Flush()
}

// ponder returns the mean steps per position of encoder and decoder; "-" if depth is not adaptive.
func (m measured) ponder() string {
	var means []string
	for _, s := range []*evaluation.Steps{m.Encoder, m.Decoder} {
		if s != nil {
			means = append(means, fmt.Sprintf("%.2f", s.Mean))
		}
	}
	if len(means) == 0 {
		return "-"
	}
	return strings.Join(means, ", ")
}
