package paper

import (
	"fmt"
	"html"
	"strings"
)

// bars is horizontal bars from 0, several in a group, as an SVG.
type bars struct {
	title  string
	names  []string // of the bars of a group
	groups []barGroup
}

// barGroup is as many values as there are names.
type barGroup struct {
	name   string
	values []float64
}

// Measures of the drawing, in pixels.
const (
	barLeft, barWidth = 230, 300
	barHeight, barGap = 10, 8
	barTitle          = 7 // a letter of the title
)

// draw draws them.
func (b bars) draw() []byte {
	most := 0.0
	for _, g := range b.groups {
		for _, v := range g.values {
			most = max(most, v)
		}
	}
	var w strings.Builder
	height := chartTop + len(b.groups)*(barHeight*len(b.names)+barGap)
	fmt.Fprintf(&w, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">`+"\n",
		max(barLeft+barWidth+50, 20+barTitle*len([]rune(b.title))), height+chartLegend*(len(b.names)+1))
	fmt.Fprintf(&w, `<rect width="100%%" height="100%%" fill="white"/>`+"\n"+`<text x="10" y="18">%s</text>`+"\n", html.EscapeString(b.title))
	y := chartTop
	for _, g := range b.groups {
		fmt.Fprintf(&w, `<text x="%d" y="%d" text-anchor="end">%s</text>`+"\n", barLeft-6, y+(barHeight*len(b.names)+8)/2, html.EscapeString(g.name))
		for i, v := range g.values {
			length := v / most * barWidth
			fmt.Fprintf(&w, `<rect x="%d" y="%d" width="%.1f" height="%d" fill="%s"/><text x="%.1f" y="%d" font-size="10">%.2f</text>`+"\n",
				barLeft, y, length, barHeight-1, chartColours[i%len(chartColours)], barLeft+length+4, y+barHeight-1, v)
			y += barHeight
		}
		y += barGap
	}
	for i, name := range b.names {
		fmt.Fprintf(&w, `<rect x="%d" y="%d" width="14" height="8" fill="%s"/><text x="%d" y="%d">%s</text>`+"\n",
			barLeft, height+chartLegend*i+6, chartColours[i%len(chartColours)], barLeft+20, height+chartLegend*i+14, html.EscapeString(name))
	}
	w.WriteString("</svg>\n")
	return []byte(w.String())
}
