package sweep

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"
	"time"

	"universal-transformer/internal/plot"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"spread": Spread.String, "duration": func(s Spread) string { return time.Duration(s.Mean * float64(time.Second)).Round(time.Second).String() },
}).Parse(pageText))

// String returns "0.912 ± 0.013", or only the mean for a single value.
func (s Spread) String() string {
	switch s.N {
	case 0:
		return "-"
	case 1:
		return fmt.Sprintf("%.4g", s.Mean)
	}
	digits := 3 // chosen so that the deviation has two significant digits
	if s.Deviation > 0 {
		digits = min(max(1-int(math.Floor(math.Log10(s.Deviation))), 0), 6)
	}
	return fmt.Sprintf("%.*f ± %.*f", digits, s.Mean, digits, s.Deviation)
}

// WritePage writes the page of a sweep: the table, and a chart of validation losses for every cell with a line for each seed. The page needs no
// other files.
func WritePage(w io.Writer, name string, cells []Cell, list []Summary) error {
	type section struct {
		Summary
		Chart template.HTML
	}
	page := struct {
		Name, Mixed string
		Metrics     []string
		Sections    []section
	}{Name: name, Mixed: Mixed(list), Metrics: MetricNames(list)}
	for i, chart := range charts(cells, list) {
		page.Sections = append(page.Sections, section{list[i], template.HTML(chart.SVG())}) // plot escapes its texts
	}
	return pageTemplate.Execute(w, page)
}

// IsPage reports whether an HTML page was written by [WritePage].
func IsPage(html []byte) bool { return bytes.Contains(html, []byte("<th>cell</th><th>seeds</th>")) }

// charts returns a chart of validation losses for every cell, all with the same vertical axis.
func charts(cells []Cell, list []Summary) []plot.Lines {
	low, high := math.Inf(1), 0.0
	all := make([]plot.Lines, len(list))
	for i, s := range list {
		all[i] = plot.Lines{Title: s.Cell + ": validation", XLabel: "updates", YLabel: "nats per token", LogY: true}
		for _, c := range cells {
			if c.Recipe != s.Cell {
				continue
			}
			line := plot.Series{Name: fmt.Sprintf("seed %d", c.Run.Seed)}
			if curve := c.curve(); curve != nil {
				for k, loss := range curve.Validation {
					line.Points = append(line.Points, plot.Point{X: float64(curve.Updates[k]), Y: loss})
					if loss > 0 {
						low, high = min(low, loss), max(high, loss)
					}
				}
			}
			all[i].Series = append(all[i].Series, line)
		}
	}
	if low < high {
		for i := range all {
			all[i].Y = [2]float64{low, high}
		}
	}
	return all
}

// MetricNames returns the names of all metrics, in the order of the first cell that has them.
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

// Metric returns the spread of a metric. N is 0 if the cell does not have it.
func (s Summary) Metric(name string) Spread {
	for _, m := range s.Metrics {
		if m.Name == name {
			return m
		}
	}
	return Spread{Name: name}
}

// BestFigures returns the metrics of the seed that validation selected, "seed 2: 0.991, 0.973", or "-" if there is none.
func (s Summary) BestFigures() string {
	var figures []string
	for _, m := range s.BestMetrics {
		figures = append(figures, fmt.Sprintf("%.4g", m.Value))
	}
	if len(figures) == 0 {
		return "-"
	}
	return fmt.Sprintf("seed %d: %s", s.BestSeed, strings.Join(figures, ", "))
}
