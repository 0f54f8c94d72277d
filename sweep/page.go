package sweep

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"time"

	"universal-transformer/internal/plot"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"spread": Spread.String, "duration": func(s Spread) string { return time.Duration(s.Mean * float64(time.Second)).Round(time.Second).String() },
}).Parse(pageText))

// String is "0.912 ± 0.013", or the mean alone for one value.
func (s Spread) String() string {
	switch s.N {
	case 0:
		return "-"
	case 1:
		return fmt.Sprintf("%.4g", s.Mean)
	}
	return fmt.Sprintf("%.4g ± %.2g", s.Mean, s.Deviation)
}

// WritePage writes the page of a sweep: the table, and a chart of validation losses for every cell with a line for each seed. The page needs no
// other files.
func WritePage(w io.Writer, name string, cells []Cell, list []Summary) error {
	type section struct {
		Summary
		Chart template.HTML
	}
	page := struct {
		Name     string
		Metrics  []string
		Sections []section
	}{Name: name, Metrics: MetricNames(list)}
	for _, s := range list {
		chart := plot.Lines{Title: s.Cell + ": validation", XLabel: "updates", YLabel: "nats a token"}
		for _, c := range cells {
			if c.Recipe != s.Cell {
				continue
			}
			line := plot.Series{Name: fmt.Sprintf("seed %d", c.Run.Seed)}
			steps, losses := c.curves()
			for i := range steps {
				line.Points = append(line.Points, plot.Point{X: steps[i], Y: losses[i]})
			}
			chart.Series = append(chart.Series, line)
		}
		page.Sections = append(page.Sections, section{s, template.HTML(chart.SVG())}) //nolint:gosec // plot escapes its texts
	}
	return pageTemplate.Execute(w, page)
}

// MetricNames are the names of all metrics in the order of the first cell that has them.
func MetricNames(list []Summary) (names []string) {
	seen := map[string]bool{}
	for _, s := range list {
		for _, m := range s.Metrics {
			if !seen[m.Name] {
				seen[m.Name] = true
				names = append(names, m.Name)
			}
		}
	}
	return names
}

// Metric is the spread of a metric; N is 0 if the cell does not have it.
func (s Summary) Metric(name string) Spread {
	for _, m := range s.Metrics {
		if m.Name == name {
			return m
		}
	}
	return Spread{Name: name}
}

// BestValue is a metric of the seed that validation chose; "-" if there is none.
func (s Summary) BestValue(name string) string {
	for _, m := range s.BestMetrics {
		if m.Name == name {
			return fmt.Sprintf("%.4g", m.Value)
		}
	}
	return "-"
}
