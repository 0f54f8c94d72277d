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
}

// Measures of bars, in pixels.
const (
	barLeft, barWidth = 230, 300
	barHeight, barGap = 12, 8
)

// SVG draws the bars.
func (b Bars) SVG() []byte {
	most := 0.0
	for _, g := range b.Groups {
		for _, v := range g.Values {
			most = max(most, v)
		}
	}
	height := plotTop + len(b.Groups)*(barHeight*len(b.Names)+barGap)
	var s svg
	s.open(max(barLeft+barWidth+50, 20+letter*len([]rune(b.Title))), height+legendLine*(len(b.Names)+1), b.Title)
	s.text(10, titleTop, "start", b.Title)
	y := plotTop
	for _, g := range b.Groups {
		s.text(barLeft-6, float64(y+(barHeight*len(b.Names)+8)/2), "end", g.Name)
		for i, v := range g.Values {
			length := 0.0
			if most > 0 {
				length = max(0, v) / most * barWidth
			}
			fmt.Fprintf(&s, `<rect x="%d" y="%d" width="%s" height="%d" fill="%s"/><text x="%s" y="%d" font-size="10">%.2f</text>`+"\n",
				barLeft, y, coordinate(length), barHeight-1, colour(i), coordinate(barLeft+length+4), y+barHeight-2, v)
			y += barHeight
		}
		y += barGap
	}
	s.legend(barLeft, height+6, b.Names)
	return s.close()
}
