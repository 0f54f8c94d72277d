package plot

import "fmt"

// Bars is horizontal bars from 0, several in a group.
type Bars struct {
	Title  string
	Names  []string // of the bars of a group
	Groups []Group
}

// Group is as many values as there are names.
type Group struct {
	Name   string
	Values []float64
	Ranges [][2]float64 // lowest and highest of several runs, a line over each bar; nil: none
}

// Measures of bars, in pixels.
const (
	barLeft, barWidth = 230, 300
	barHeight, barGap = 12, 8
)

// SVG draws the bars.
func (b Bars) SVG() []byte {
	maximum := 0.0
	for _, g := range b.Groups {
		for _, v := range g.Values {
			maximum = max(maximum, v)
		}
		for _, r := range g.Ranges {
			maximum = max(maximum, r[1])
		}
	}
	height := plotTop + len(b.Groups)*(barHeight*len(b.Names)+barGap)
	var s svg
	s.open(max(barLeft+barWidth+50, 20+letter*len([]rune(b.Title)), barLeft+20+letter*longest(b.Names)), height+legendLine*(len(b.Names)+1), b.Title)
	s.text(10, titleTop, "start", b.Title)
	y := plotTop
	for _, g := range b.Groups {
		s.text(barLeft-6, float64(y+(barHeight*len(b.Names)+8)/2), "end", g.Name)
		for i, v := range g.Values {
			scale := 0.0
			if maximum > 0 {
				scale = barWidth / maximum
			}
			length := max(0, v) * scale
			end := length
			if g.Ranges != nil {
				end = max(end, g.Ranges[i][1]*scale)
			}
			fmt.Fprintf(&s, `<rect x="%d" y="%d" width="%s" height="%d" fill="%s"/><text x="%s" y="%d" font-size="10">%.2f</text>`+"\n",
				barLeft, y, coordinate(length), barHeight-1, colour(i), coordinate(barLeft+end+4), y+barHeight-2, v)
			if g.Ranges != nil {
				g.drawRange(&s, i, y, scale)
			}
			y += barHeight
		}
		y += barGap
	}
	s.legend(barLeft, height+6, b.Names)
	return s.close()
}

// drawRange draws the range of a bar over it, unless it is a point. scale is in pixels for 1.
func (g Group) drawRange(s *svg, i, y int, scale float64) {
	if low, high := g.Ranges[i][0], g.Ranges[i][1]; low < high {
		fmt.Fprintf(s, `<path d="M%s %dv6m0 -3H%sm0 -3v6" stroke="#000000" fill="none"/>`+"\n", coordinate(barLeft+low*scale), y+2, coordinate(barLeft+high*scale))
	}
}
