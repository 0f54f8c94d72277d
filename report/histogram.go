package report

import (
	"fmt"
	"path/filepath"
	"strings"

	"universal-transformer/internal/atomicfile"
)

// HistogramFile is the name of the ponder times of an experiment, in its folder of results.
const HistogramFile = "ponder.svg"

// Histograms writes the ponder times of every experiment that has some, task by task, beside the results.
func Histograms(results []Result, root string) error {
	for _, experiment := range experiments() {
		var panels []panel
		for _, s := range summaries(results, experiment) {
			all := Ponder{}
			for _, h := range s.ponder {
				all = all.Plus(h)
			}
			if n, mean, deviation := all.Moments(); n > 0 {
				panels = append(panels, panel{fmt.Sprintf("task %d: %.1f ± %.1f", s.task, mean, deviation), all, n})
			}
		}
		if len(panels) == 0 {
			continue
		}
		if err := atomicfile.Write(filepath.Join(root, experiment, HistogramFile), []byte(histogram(panels))); err != nil {
			return err
		}
	}
	return nil
}

// panel is the histogram of one task.
type panel struct {
	title string
	Ponder
	total int
}

// Measures of the drawing, in pixels.
const (
	panelWidth, panelHeight = 170, 110
	panelsARow              = 5
	barsHeight              = 60
)

// histogram draws panels: how large a share of the positions ran for one step, two steps, ...
func histogram(panels []panel) string {
	steps := 1
	for _, p := range panels {
		steps = max(steps, len(p.Positions))
	}
	rows := (len(panels) + panelsARow - 1) / panelsARow
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="11">`+"\n",
		panelsARow*panelWidth, rows*panelHeight)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="white"/>`+"\n")
	bar := (panelWidth - 30) / steps
	for i, p := range panels {
		x, y := i%panelsARow*panelWidth+10, i/panelsARow*panelHeight+15
		fmt.Fprintf(&b, `<text x="%d" y="%d">%s</text>`+"\n", x, y, p.title)
		for step := range steps {
			share := 0.0
			if step < len(p.Positions) {
				share = float64(p.Positions[step]) / float64(p.total)
			}
			height := share * barsHeight
			fmt.Fprintf(&b, `<rect x="%d" y="%.1f" width="%d" height="%.1f" fill="#3b6ea5"><title>%d steps: %.1f %%</title></rect>`+"\n",
				x+step*bar, float64(y+8+barsHeight)-height, bar-2, height, step+1, 100*share)
			fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle" fill="#555">%d</text>`+"\n", x+step*bar+bar/2-1, y+22+barsHeight, step+1)
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}
