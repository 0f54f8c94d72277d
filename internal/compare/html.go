package compare

import (
	"embed"
	"html/template"
	"io"
	"strings"

	"universal-transformer/internal/charts"
	"universal-transformer/internal/curves"
	"universal-transformer/internal/quantity"
)

//go:embed page
var pageFiles embed.FS

var pageTemplate = template.Must(template.ParseFS(pageFiles, "page/page.html"))

// maxRows is the largest number of rows of a split in the page. More points than that cannot be told apart.
const maxRows = 600

// page is the data of page.html.
type page struct {
	CSS template.CSS
	JS  template.JS
	*Comparison
	Facts, Validations []Difference
	Metrics            []Difference
	Described          string
	Charted            []charted
}

// charted is a run as the script draws it.
type charted struct {
	Name string       `json:"name"`
	Note string       `json:"note"`
	Rows []curves.Row `json:"rows"`
}

// WriteHTML writes the comparison as one self-contained page, which needs no network and no other file.
func (c *Comparison) WriteHTML(w io.Writer) error {
	main, err := pageFiles.ReadFile("page/main.js")
	if err != nil {
		return err
	}
	css, err := pageFiles.ReadFile("page/compare.css")
	if err != nil {
		return err
	}
	p := page{
		CSS: template.CSS(charts.Style() + string(css)), JS: template.JS("(() => {\n\"use strict\";\n" + charts.Script() + string(main) + "})();\n"),
		Comparison: c, Facts: c.facts(), Validations: c.validations(), Described: c.described(),
	}
	for _, name := range c.metricNames() {
		p.Metrics = append(p.Metrics, Difference{name, c.each(func(r Run) string { return r.Metric(name) })})
	}
	for _, r := range c.Runs {
		note := ""
		if r.Estimated {
			note = "times in proportion to updates"
		}
		p.Charted = append(p.Charted, charted{r.Name, note, append([]curves.Row{}, curves.Thin(r.Rows, maxRows)...)})
	}
	return pageTemplate.Execute(w, p)
}

// A table is one of the page: rows with a value for each run.
type table struct {
	Runs []Run
	Rows []Difference
}

// Table returns a table of rows.
func (p page) Table(rows []Difference) table { return table{p.Runs, rows} }

// Title returns the title of the page.
func (p page) Title() string {
	return "Comparison of " + strings.Join(p.each(func(r Run) string { return r.Name }), ", ")
}

// Count returns the number of runs in words of the heading.
func (p page) Count() string { return quantity.Regular(len(p.Runs), "runs") }
