package report

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"universal-transformer/internal/plot"
	"universal-transformer/paper"
	"universal-transformer/sweep"
)

// lowestNats is the lower end of the vertical axis of learning curves, where lower values are drawn.
const lowestNats = 1e-6

// lowestNote explains lowestNats below a figure.
var lowestNote = fmt.Sprintf("Values of at most %g are drawn at the mark ≤ %[1]g.", lowestNats)

// An alongAxis is a horizontal axis of learning curves.
type alongAxis struct {
	name    string // part of the file's name
	of      func(c *sweep.Curve, point int) float64
	has     func(c *sweep.Curve) bool
	fine    string  // unit
	coarse  string  // unit if a run has more than maximum
	ratio   float64 // fine units of a coarse one
	maximum float64
}

var alongAxes = []alongAxis{
	{"updates", func(c *sweep.Curve, i int) float64 { return float64(c.Updates[i]) }, func(*sweep.Curve) bool { return true }, "updates", "thousands of updates", 1000, 9999},
	{"time", func(c *sweep.Curve, i int) float64 { return c.Seconds[i] / 60 }, func(c *sweep.Curve) bool { return c.Seconds != nil }, "minutes", "hours", 60, 300},
}

// curvesFigure returns the file name of the learning curves of a table, or of the nth block of its rows if it has several.
func curvesFigure(t paper.Table, n int, along string) string {
	if len(blocks(t)) == 1 {
		return fmt.Sprintf("%s-curves-%s.svg", t.Name(), along)
	}
	return fmt.Sprintf("%s-curves-%d-%s.svg", t.Name(), n+1, along)
}

// withCurve returns the runs that recorded a curve.
func withCurve(runs []run) []run {
	return slices.DeleteFunc(slices.Clone(runs), func(r run) bool { return r.Curve == nil })
}

// curvesLink links the learning curves of a table from the section of the table; nothing if no run recorded one.
func (p *page) curvesLink(t paper.Table) string {
	runs := withCurve(p.book.table(t))
	if len(runs) == 0 {
		return ""
	}
	return fmt.Sprintf(" [Learning curves](%s#learning-curves) of %s.", path.Join(p.folder, t.Name()+".md"), count(len(runs), "run"))
}

// curves draws the learning curves of each block of a table over updates, and over time if runs recorded it.
func (p *page) curves(t paper.Table) {
	all := p.book.table(t)
	runs := withCurve(all)
	if len(runs) == 0 {
		return
	}
	p.printf("## Learning curves\n\nValidation cross entropy in nats per token, on a logarithmic axis; a ring marks the selected checkpoint. Times are by the clock. Where cross entropy selects, it is that of smoothed targets, and its lowest point may be another: label smoothing of 0.1 asks for a probability of about 0.9, which is 0.105 nats. %s", lowestNote)
	if len(runs) < len(all) {
		p.printf(" %s of %s recorded a curve; results of earlier versions have none.", thousands(len(runs)), count(len(all), "run"))
	}
	if without := p.withoutCurves(t); len(without) > 0 {
		p.printf(" No run of these rows did: %s.", strings.Join(without, "; "))
	}
	p.printf("\n\n")
	for n, block := range blocks(t) {
		for _, along := range alongAxes {
			if drawn := p.multiples(t, block, along); len(drawn.Panels) > 0 {
				p.draw(curvesFigure(t, n, along.name), drawn.Title, drawn.SVG())
			}
		}
	}
}

// withoutCurves returns the titles of rows with runs none of which recorded a curve.
func (p *page) withoutCurves(t paper.Table) []string {
	var rows []paper.Row
	for _, r := range t.Rows {
		if runs := p.book.row(t, r); len(runs) > 0 && len(withCurve(runs)) == 0 {
			rows = append(rows, r)
		}
	}
	return t.Titles(rows)
}

// multiples returns a small chart for each column of a table, with a line for each run of a block of rows.
func (p *page) multiples(t paper.Table, block string, along alongAxis) plot.Multiples {
	t.Rows = slices.DeleteFunc(slices.Clone(t.Rows), func(r paper.Row) bool { return r.Block != block })
	unit, scale := along.fine, 1.0
	for _, r := range withCurve(p.book.table(t)) {
		if along.has(r.Curve) && along.of(r.Curve, len(r.Curve.Updates)-1) > along.maximum {
			unit, scale = along.coarse, along.ratio
		}
	}
	m := plot.Multiples{Title: fmt.Sprintf("Table %d: validation cross entropy over %s", t.Number, unit)}
	if block != "" {
		m.Title += ": " + block
	}
	for _, c := range t.Columns {
		panel := plot.Lines{Title: columnTitle(c), LogY: true, Floor: lowestNats}
		for _, row := range t.Rows {
			for _, r := range withCurve(p.book.of(row.Family, c.Name)) {
				if along.has(r.Curve) {
					panel.Series = append(panel.Series, curveLine(row.Title, r, along, scale))
				}
			}
		}
		if len(panel.Series) > 0 {
			m.Panels = append(m.Panels, panel)
		}
		for _, s := range panel.Series {
			if !slices.Contains(m.Names, s.Name) {
				m.Names = append(m.Names, s.Name)
			}
		}
	}
	return m
}

// curveLine returns the learning curve of a run, named by the title of its row.
func curveLine(title string, r run, along alongAxis, scale float64) plot.Series {
	line := plot.Series{Name: title, Marked: slices.Index(r.Curve.Updates, r.BestStep) + 1}
	for i, nats := range r.Curve.Validation {
		line.Points = append(line.Points, plot.Point{X: along.of(r.Curve, i) / scale, Y: nats})
	}
	return line
}

// columnTitle returns the name of a column with its title if that is short.
func columnTitle(c paper.Column) string {
	const longest = 33 // letters above a small chart
	if text := c.Name + ": " + c.Title; c.Title != c.Name && len([]rune(text)) <= longest {
		return text
	}
	return c.Name
}
