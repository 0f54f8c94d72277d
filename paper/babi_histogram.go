package paper

import (
	"fmt"
	"strings"
)

// histogramFile is the name of an experiment's ponder times, in its folder of results.
const histogramFile = "ponder.svg"

// histograms draws the ponder times of an experiment, task by task; nil if there are none.
func histograms(list []babiSummary) []byte {
	var panels []panel
	for _, s := range list {
		all := s.all()
		if n, mean, deviation := all.moments(); n > 0 {
			panels = append(panels, panel{fmt.Sprintf("task %d: %.1f ± %.1f", s.task, mean, deviation), all, n})
		}
	}
	if len(panels) == 0 {
		return nil
	}
	return drawHistograms(panels)
}

// panel is the histogram of one task.
type panel struct {
	title string
	ponderTimes
	total int
}

// Measures of the drawing, in pixels.
const (
	panelWidth, panelHeight = 170, 110
	panelsARow              = 5
	barsHeight              = 60
)

// drawHistograms draws how large a share of the positions ran for one step, two steps, ...
func drawHistograms(panels []panel) []byte {
	steps := 1
	for _, p := range panels {
		steps = max(steps, len(p.Positions))
	}
	rows := (len(panels) + panelsARow - 1) / panelsARow
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="11">`+"\n",
		panelsARow*panelWidth, rows*panelHeight)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="white"/>`+"\n")
	for i, p := range panels {
		p.draw(&b, i%panelsARow*panelWidth+10, i/panelsARow*panelHeight+15, steps)
	}
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

// draw draws the panel at x and y, with a bar for each of so many steps.
func (p panel) draw(b *strings.Builder, x, y, steps int) {
	bar := (panelWidth - 30) / steps
	fmt.Fprintf(b, `<text x="%d" y="%d">%s</text>`+"\n", x, y, p.title)
	for step := range steps {
		share := 0.0
		if step < len(p.Positions) {
			share = float64(p.Positions[step]) / float64(p.total)
		}
		height := share * barsHeight
		fmt.Fprintf(b, `<rect x="%d" y="%.1f" width="%d" height="%.1f" fill="#3b6ea5"><title>%d steps: %.1f %%</title></rect>`+"\n",
			x+step*bar, float64(y+8+barsHeight)-height, bar-2, height, step+1, 100*share)
		fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="middle" fill="#555">%d</text>`+"\n", x+step*bar+bar/2-1, y+22+barsHeight, step+1)
	}
}
