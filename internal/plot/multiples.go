package plot

import "slices"

// Multiples is small charts of lines, two in a row, with one legend. Lines of the same name look the same in all charts. Horizontal
// axes begin at 0.
type Multiples struct {
	Title  string
	Names  []string // of the lines, in the order of the legend
	Panels []Lines  // with their titles and lines, without labels and notes
}

// Measures of the small charts, in pixels. Two are as wide as one chart of [Lines].
const (
	smallWidth, smallHeight = 269, 170
	smallLeft               = 50
	smallColumns            = 2
)

// SVG draws the charts.
func (m Multiples) SVG() []byte {
	rows := (len(m.Panels) + smallColumns - 1) / smallColumns
	bottom := plotTop + rows*smallHeight
	var s svg
	s.open(max(smallColumns*smallWidth, 10+letter*len([]rune(m.Title)), smallLeft+20+letter*longest(m.Names)), bottom+20+legendLine*len(m.Names), m.Title)
	s.text(10, titleTop, "start", m.Title)
	for i, p := range m.Panels {
		left, top := i%smallColumns*smallWidth, plotTop+i/smallColumns*smallHeight
		s.text(float64(left+smallLeft), float64(top+16), "start", p.Title)
		p = p.finite()
		a := area{left + smallLeft, top + 24, smallWidth - smallLeft - 20, smallHeight - 54}
		x, y := p.axes(a)
		x.low = min(x.low, 0)
		p.drawAxes(&s, x, y, a, 4)
		for _, series := range p.Series {
			series.draw(&s, max(0, slices.Index(m.Names, series.Name)), shapes[0], x, y)
		}
	}
	s.legend(smallLeft, bottom+14, m.Names)
	return s.close()
}
