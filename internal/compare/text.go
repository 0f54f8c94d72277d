package compare

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"universal-transformer/internal/curves"
	"universal-transformer/internal/quantity"
)

// maxValue is the largest number of characters of a value of the configuration in the text.
const maxValue = 40

// WriteText writes the comparison for a terminal.
func (c *Comparison) WriteText(w io.Writer) error {
	t := &text{tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)}
	t.row("run", c.each(func(r Run) string { return r.Name })...)
	for _, f := range c.facts() {
		t.row(f.Field, f.Values...)
	}
	for i, f := range c.validations() {
		if i == 0 {
			t.heading("validation of the best checkpoint, with the true tokens before each token")
		}
		t.row(f.Field, f.Values...)
	}
	t.heading("configuration: " + cmp.Or(map[bool]string{true: "no difference"}[len(c.Differences) == 0], "what differs"))
	for _, d := range c.Differences {
		t.row(d.Field, shortened(d.Values)...)
	}
	c.writeScores(t)
	for i, e := range c.Examples {
		if i == 0 {
			t.heading("examples, those with different answers first")
		}
		fmt.Fprintf(t, "%s\n", e.Source)
		fmt.Fprintf(t, "  correct\t%s\n", e.Target)
		for k, a := range e.Answers {
			if a.Given {
				fmt.Fprintf(t, "  %s\t%s%s\n", c.Runs[k].Name, map[bool]string{true: "", false: "wrong: "}[a.Correct], cmp.Or(a.Text, "(nothing)"))
			}
		}
	}
	return t.Flush()
}

// writeScores writes the scores on the examples, and which run is better.
func (c *Comparison) writeScores(t *text) {
	names := c.metricNames()
	if len(names) > 0 {
		t.heading("scores on examples, with 95 % intervals: " + c.described())
	}
	for _, name := range names {
		t.row(name, c.each(func(r Run) string { return cmp.Or(r.Metric(name), "-") })...)
	}
	for i, p := range c.Pairs {
		if i == 0 {
			t.heading(fmt.Sprintf("which is better: %s, %s, p-values for %s", p.Metric, p.Method, quantity.Regular(len(c.Pairs), "pairs")))
		}
		fmt.Fprintln(t, c.Sentence(p))
	}
	for _, r := range c.Runs {
		if r.Problem != "" {
			fmt.Fprintf(t, "\n%s has no scores: %s\n", r.Name, r.Problem)
		}
	}
	for i, note := range slices.Concat(c.Problems, c.Notes) {
		if i == 0 && len(names) == 0 {
			fmt.Fprintln(t)
		}
		fmt.Fprintf(t, "note: %s\n", note)
	}
}

// described says which examples the runs have answered, and how.
func (c *Comparison) described() string {
	var list []string
	for _, r := range c.Runs {
		if r.Evaluation == nil {
			continue
		}
		e := r.Evaluation
		text := fmt.Sprintf("%s, %s, %s, %s", e.Task, e.Lengths, quantity.Regular(e.Row.Count, "examples"), e.Method)
		if len(list) == 0 || list[len(list)-1] != text {
			list = append(list, text)
		}
	}
	return strings.Join(list, "; ")
}

// Sentence describes a pair in words.
func (c *Comparison) Sentence(p Pair) string {
	a, b := c.Runs[p.A].Name, c.Runs[p.B].Name
	against := fmt.Sprintf("%.4g against %.4g, p = %.2g; %s", p.ValueA, p.ValueB, p.P, p.Detail)
	switch p.Better {
	case p.A:
		return fmt.Sprintf("%s is better than %s: %s", a, b, against)
	case p.B:
		return fmt.Sprintf("%s is worse than %s: %s", a, b, against)
	}
	return fmt.Sprintf("%s and %s do not differ significantly: %s", a, b, against)
}

// facts are what the runs are: a line each, a value per run.
func (c *Comparison) facts() []Difference {
	return []Difference{
		{"task", c.each(func(r Run) string { return r.Info.Task })},
		{"status", c.each(func(r Run) string { return r.Info.Status })},
		{"updates", c.each(func(r Run) string { return fmt.Sprintf("%d of %d", r.Info.Step, r.Info.Steps) })},
		{"best update", c.each(func(r Run) string {
			if r.Info.Best == nil {
				return "-"
			}
			return fmt.Sprint(r.Info.Best.Step)
		})},
		{"time", c.each(func(r Run) string {
			switch {
			case r.Info.Seconds == 0: // not recorded
				return "-"
			case r.Info.Seconds < 90:
				return fmt.Sprintf("%.1f seconds", r.Info.Seconds)
			}
			return fmt.Sprintf("%.1f minutes", r.Info.Seconds/60)
		})},
		{"parameters", c.each(func(r Run) string {
			if r.Info.Parameters == 0 { // no checkpoint tells
				return "-"
			}
			return fmt.Sprint(r.Info.Parameters)
		})},
	}
}

// validations are the figures of the validation at the best checkpoint, or of the newest one.
func (c *Comparison) validations() (list []Difference) {
	var rows [][]curves.Row
	for _, r := range c.Runs {
		row := curves.Row{Values: map[string]float64{}}
		if v := cmp.Or(r.Info.Best, r.Info.Newest); v != nil {
			for _, f := range v.Metrics {
				row.Values[f.Name] = f.Value
			}
		}
		rows = append(rows, []curves.Row{row})
	}
	for _, name := range curves.Names(rows...) {
		d, some := Difference{Field: strings.ReplaceAll(name, "_", " ")}, false
		for _, row := range rows {
			v, ok := row[0].Values[name]
			some = some || v != 0
			if strings.HasSuffix(name, "_ponder") && v == 0 { // a stack of fixed depth, or none
				ok = false
			}
			d.Values = append(d.Values, map[bool]string{true: fmt.Sprintf("%.4g", v), false: "-"}[ok])
		}
		if some && name != "tokens" && name != "sequences" {
			list = append(list, d)
		}
	}
	return list
}

func (c *Comparison) each(of func(Run) string) []string {
	values := make([]string, len(c.Runs))
	for i, r := range c.Runs {
		values[i] = of(r)
	}
	return values
}

// text is a table of columns with headings.
type text struct{ *tabwriter.Writer }

func (t *text) row(name string, values ...string) {
	fmt.Fprintf(t, "%s\t%s\n", name, strings.Join(values, "\t"))
}

func (t *text) heading(line string) {
	t.Flush()
	fmt.Fprintf(t, "\n%s\n", line)
	t.Flush()
}

// shortened cuts long values, and shows missing ones as "-".
func shortened(values []string) []string {
	list := make([]string, len(values))
	for i, v := range values {
		if list[i] = cmp.Or(v, "-"); len([]rune(v)) > maxValue {
			list[i] = string([]rune(v)[:maxValue-1]) + "…"
		}
	}
	return list
}
