package plot

import (
	"fmt"

	"universal-transformer/internal/quantity"
)

// Histograms is small panels, several in a row, each with the share of every value from 1 on.
type Histograms struct {
	Title  string // for readers of screens
	Unit   string // what is counted, in the plural: "steps"
	Panels []Panel
}

// Panel is one histogram: Counts[0] is how often the value is 1.
type Panel struct {
	Title  string
	Counts []int
}

// Measures of the panels, in pixels.
const (
	panelWidth, panelHeight = 170, 110
	panelsARow              = 5
	barsHeight              = 60
	captionHeight           = 20
)

// SVG draws the panels.
func (h Histograms) SVG() []byte {
	values := 1
	for _, p := range h.Panels {
		values = max(values, len(p.Counts))
	}
	rows := (len(h.Panels) + panelsARow - 1) / panelsARow
	var s svg
	s.open(panelsARow*panelWidth, rows*panelHeight+captionHeight, h.Title)
	for i, p := range h.Panels {
		p.draw(&s, i%panelsARow*panelWidth+10, i/panelsARow*panelHeight+15, values, h.Unit)
	}
	s.text(10, float64(rows*panelHeight+captionHeight-6), "start", "from left to right: "+h.Unit+"; height of a bar: its share of the panel")
	return s.close()
}

// draw draws the panel at x and y, with a bar for each of so many values.
func (p Panel) draw(s *svg, x, y, values int, unit string) {
	total := 0
	for _, n := range p.Counts {
		total += n
	}
	bar := float64(panelWidth-30) / float64(values)
	s.text(float64(x), float64(y), "start", p.Title)
	for i := range values {
		share := 0.0
		if i < len(p.Counts) && total > 0 {
			share = float64(p.Counts[i]) / float64(total)
		}
		left, height := float64(x)+float64(i)*bar, share*barsHeight
		fmt.Fprintf(s, `<rect x="%s" y="%s" width="%s" height="%s" fill="%s"><title>%s: %.1f %%</title></rect>`+"\n",
			coordinate(left), coordinate(float64(y+8+barsHeight)-height), coordinate(max(1, bar-2)), coordinate(height), colour(0), escaped(quantity.Regular(i+1, unit)), 100*share)
		if every := (values + 9) / 10; i%every == 0 {
			s.text(left+bar/2-1, float64(y+22+barsHeight), "middle", fmt.Sprint(i+1))
		}
	}
}
