package paper

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
)

// chart is lines over a logarithmic axis, of values from 0 to 1, as an SVG.
type chart struct {
	title  string
	axis   string  // what the horizontal axis counts
	shaded float64 // the area up to here was trained on
	lines  []chartLine
}

// chartLine is the points of a line, by rising x.
type chartLine struct {
	name   string
	points [][2]float64
}

// Measures of the drawing, in pixels.
const (
	chartWidth, chartHeight = 460, 220
	chartLeft, chartTop     = 40, 30
	chartLegend             = 18 // a line of it
)

var chartColours = []string{"#1b6ca8", "#c8553d", "#3a7d44", "#8e5ea2", "#c9a227", "#4b4b4b", "#00a5a5", "#b0457b", "#7a8b00", "#a0522d"}

// draw draws it.
func (c chart) draw() []byte {
	least, most := c.shaded, c.shaded
	var ticks []float64
	for _, line := range c.lines {
		for _, p := range line.points {
			least, most = min(least, p[0]), max(most, p[0])
			ticks = append(ticks, p[0])
		}
	}
	slices.Sort(ticks)
	x := func(v float64) float64 { return chartLeft + chartWidth*math.Log(1.2*v/least)/math.Log(1.2*most/least) }
	y := func(v float64) float64 { return chartTop + chartHeight*(1-v) }
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">`+"\n",
		chartLeft+chartWidth+20, chartTop+chartHeight+50+chartLegend*len(c.lines))
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="white"/>`+"\n"+`<text x="%d" y="18">%s</text>`+"\n", chartLeft, html.EscapeString(c.title))
	fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%.1f" height="%d" fill="#eeeeee"><title>training lengths</title></rect>`+"\n",
		chartLeft, chartTop, x(c.shaded)-chartLeft, chartHeight)
	for tick := range 5 {
		v := float64(tick) / 4
		fmt.Fprintf(&b, `<path d="M%d %.1fh%d" stroke="#cccccc"/><text x="%d" y="%.1f" text-anchor="end">%.2f</text>`+"\n",
			chartLeft, y(v), chartWidth, chartLeft-4, y(v)+4, v)
	}
	for _, v := range slices.Compact(ticks) {
		fmt.Fprintf(&b, `<text x="%.1f" y="%d" text-anchor="middle">%v</text>`+"\n", x(v), chartTop+chartHeight+16, v)
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle">%s, logarithmic; grey: training lengths</text>`+"\n",
		chartLeft+chartWidth/2, chartTop+chartHeight+34, html.EscapeString(c.axis))
	for i, line := range c.lines {
		line.draw(&b, chartColours[i%len(chartColours)], x, y, chartTop+chartHeight+38+chartLegend*(i+1))
	}
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

// draw draws the line, its points, and its name in the legend.
func (l chartLine) draw(b *strings.Builder, colour string, x, y func(float64) float64, legend int) {
	var path []string
	for _, p := range l.points {
		path = append(path, fmt.Sprintf("%.1f,%.1f", x(p[0]), y(p[1])))
		fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"><title>%s: %v at %v</title></circle>`+"\n", x(p[0]), y(p[1]), colour, html.EscapeString(l.name), p[1], p[0])
	}
	fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", strings.Join(path, " "), colour)
	fmt.Fprintf(b, `<rect x="%d" y="%d" width="14" height="4" fill="%s"/><text x="%d" y="%d">%s</text>`+"\n",
		chartLeft, legend-6, colour, chartLeft+20, legend, html.EscapeString(l.name))
}
