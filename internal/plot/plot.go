// Package plot draws small charts as SVG: lines over a linear or logarithmic axis, bars and histograms. The same input gives the same bytes. Text is
// escaped. The background is white, so that the charts can be read on a light and on a dark page.
package plot

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
)

// colours of series, in order.
var colours = []string{"#1b6ca8", "#c8553d", "#3a7d44", "#8e5ea2", "#b08d1e", "#6b6b6b", "#008c8c", "#b0457b", "#7a8b00", "#a0522d", "#2f4b7c", "#d4a017", "#000000", "#e377c2"}

func colour(i int) string { return colours[i%len(colours)] }

// dashes of lines whose colours repeat those of earlier ones, in order.
var dashes = []string{"", "5 3", "2 2", "8 2 2 2"}

// dash is the attribute of the line of a series; "" if no earlier one has its colour.
func dash(i int) string {
	d := dashes[i/len(colours)%len(dashes)]
	if d == "" {
		return ""
	}
	return fmt.Sprintf(` stroke-dasharray="%s"`, d)
}

// shapes of dots, in order: a filled circle, and outlines, which can be seen through one another. They are paths from the centre.
var shapes = []string{"", "m-4-4h8v8h-8z", "m0-5l4.5 8h-9z", "m0-5l5 5-5 5-5-5z", "m0 5l4.5-8h-9z", "m-5 0h10m-5-5v10", "m-4-4l8 8m0-8l-8 8"}

// Measures shared by all charts, in pixels.
const (
	titleTop   = 18 // baseline of the title
	plotTop    = 30
	legendLine = 18
	letter     = 7 // average width of a letter of 12 pixels
)

// svg collects an SVG.
type svg struct{ strings.Builder }

// open begins a picture of a size, with a title. It scales down to the width of the page.
func (s *svg) open(width, height int, title string) {
	fmt.Fprintf(s, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" style="max-width:100%%;height:auto" font-family="sans-serif" font-size="12" role="img" aria-label="%[3]s">`+"\n",
		width, height, escaped(title))
	s.WriteString(`<rect width="100%" height="100%" fill="white"/>` + "\n")
}

func (s *svg) close() []byte {
	s.WriteString("</svg>\n")
	return []byte(s.String())
}

// text writes a text. anchor is "start", "middle" or "end".
func (s *svg) text(x, y float64, anchor, text string) {
	fmt.Fprintf(s, `<text x="%s" y="%s" text-anchor="%s">%s</text>`+"\n", coordinate(x), coordinate(y), anchor, escaped(text))
}

// legend writes the names of series below a chart.
func (s *svg) legend(x, y int, names []string) {
	for i, name := range names {
		if d := dash(i); d != "" {
			fmt.Fprintf(s, `<path d="M%d %dh16" stroke="%s" stroke-width="3"%s/>`+"\n", x, y+legendLine*i+3, colour(i), d)
		} else {
			fmt.Fprintf(s, `<rect x="%d" y="%d" width="14" height="6" fill="%s"/>`+"\n", x, y+legendLine*i, colour(i))
		}
		s.text(float64(x+20), float64(y+legendLine*i+7), "start", name)
	}
}

// dotLegend writes the names of series below a chart, with the shapes of their dots.
func (s *svg) dotLegend(x, y int, names []string) {
	for i, name := range names {
		s.dot(float64(x+7), float64(y+legendLine*i+3), shapes[i%len(shapes)], colour(i), name)
		s.text(float64(x+20), float64(y+legendLine*i+7), "start", name)
	}
}

// dot draws a dot of a shape, with a text for the pointer.
func (s *svg) dot(x, y float64, shape, colour, text string) {
	if shape == "" {
		fmt.Fprintf(s, `<circle cx="%s" cy="%s" r="3" fill="%s"><title>%s</title></circle>`+"\n", coordinate(x), coordinate(y), colour, escaped(text))
		return
	}
	fmt.Fprintf(s, `<path d="M%s %s%s" fill="none" stroke="%s" stroke-width="1.5"><title>%s</title></path>`+"\n", coordinate(x), coordinate(y), shape, colour, escaped(text))
}

// coordinate formats a coordinate with a tenth of a pixel.
func coordinate(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }

// number formats a value in a few digits, with an exponent from a million on.
func number(v float64) string {
	if v == math.Round(v) && math.Abs(v) < 1e6 {
		return strconv.FormatFloat(v+0, 'f', 0, 64) // adding 0 makes -0 0
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// longest is the number of letters of the longest text.
func longest(texts []string) int {
	maximum := 0
	for _, t := range texts {
		maximum = max(maximum, len([]rune(t)))
	}
	return maximum
}

func escaped(text string) string { return html.EscapeString(text) }
