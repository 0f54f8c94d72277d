package plot

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Lines is lines over a horizontal axis.
type Lines struct {
	Title  string
	XLabel string
	YLabel string
	LogX   bool       // the horizontal axis is logarithmic; points with x <= 0 are left out
	LogY   bool       // the vertical axis is logarithmic; points with y <= 0 are left out
	Floor  float64    // of a logarithmic vertical axis: points below it are drawn there, and its mark says so; 0: none
	Y      [2]float64 // range of the vertical axis; equal numbers: that of the points
	Ticks  []float64  // marks of the horizontal axis; nil: chosen
	Shaded float64    // the area up to here is grey, such as the lengths of training; 0: none
	Note   string     // explains the grey area
	Shapes bool       // the dots of each series have a shape of their own, so that dots in the same place can be told apart
	Series []Series
}

// Series is one line.
type Series struct {
	Name   string
	Points []Point // by rising X
	Marked int     // the point with this index, from 1, has a larger mark; 0: none
	Dots   bool    // every point has a dot with its value
}

// Point is a point with its deviation.
type Point struct {
	X, Y      float64
	Deviation float64 // drawn as a bar up and down; 0: none
}

// area is where lines are drawn, in pixels.
type area struct{ left, top, width, height int }

// linesArea is that of a chart with nothing beside it.
var linesArea = area{58, plotTop, 460, 220}

// axis maps values to pixels.
type axis struct {
	low, high, from, to float64
	log                 bool
}

func (a axis) at(v float64) float64 {
	low, high := a.low, a.high
	if a.log {
		v, low, high = math.Log(v), math.Log(low), math.Log(high)
	}
	if high == low {
		return (a.from + a.to) / 2
	}
	return a.from + (a.to-a.from)*(v-low)/(high-low)
}

// SVG draws the lines. Points that are not finite are left out.
func (l Lines) SVG() []byte {
	l = l.finite()
	x, y := l.axes(linesArea)
	names := make([]string, len(l.Series))
	for i, s := range l.Series {
		names[i] = s.Name
	}
	left, bottom := linesArea.left, linesArea.top+linesArea.height
	width := max(left+linesArea.width+20, 10+letter*len([]rune(l.Title)), left+20+letter*longest(names))
	var s svg
	s.open(width, bottom+50+legendLine*len(l.Series), l.Title)
	s.text(10, titleTop, "start", l.Title)
	l.drawAxes(&s, x, y, linesArea, 6)
	l.drawLabels(&s, linesArea)
	for i, series := range l.Series {
		series.draw(&s, i, l.shape(i), x, y)
	}
	if l.Shapes {
		s.dotLegend(left, bottom+46, names)
	} else {
		s.legend(left, bottom+46, names)
	}
	return s.close()
}

// shape returns the shape of the dots of the series with an index.
func (l Lines) shape(i int) string {
	if !l.Shapes {
		return shapes[0]
	}
	return shapes[i%len(shapes)]
}

// finite is l without points that cannot be drawn. Those below the floor are on it.
func (l Lines) finite() Lines {
	series := slices.Clone(l.Series)
	for i, s := range series {
		var kept []Point
		marked := 0
		for k, p := range s.Points {
			if l.LogY {
				p.Y = max(p.Y, l.Floor)
			}
			if math.IsNaN(p.X+p.Y) || math.IsInf(p.X, 0) || math.IsInf(p.Y, 0) || l.LogX && p.X <= 0 || l.LogY && p.Y <= 0 {
				continue
			}
			if kept = append(kept, p); k+1 == s.Marked {
				marked = len(kept)
			}
		}
		series[i].Points, series[i].Marked = kept, marked
	}
	l.Series = series
	return l
}

// negligible is the share of their size by which the ends of an axis may differ and still count as equal: marks between them would have the
// same text.
const negligible = 1e-9

// axes are those that hold all points.
func (l Lines) axes(a area) (x, y axis) {
	x = axis{low: math.Inf(1), high: math.Inf(-1), from: float64(a.left), to: float64(a.left + a.width), log: l.LogX}
	y = axis{low: math.Inf(1), high: math.Inf(-1), from: float64(a.top + a.height), to: float64(a.top), log: l.LogY}
	for _, s := range l.Series {
		for _, p := range s.Points {
			x.low, x.high = min(x.low, p.X), max(x.high, p.X)
			low := p.Y - p.Deviation
			if l.LogY {
				low = max(low, p.Y/10)
			}
			y.low, y.high = min(y.low, low), max(y.high, p.Y+p.Deviation)
		}
	}
	if l.Shaded > 0 {
		x.high = max(x.high, l.Shaded)
	}
	if l.Y[0] != l.Y[1] {
		y.low, y.high = l.Y[0], l.Y[1]
	}
	for _, a := range []*axis{&x, &y} {
		if a.low > a.high { // no points
			a.low, a.high = 1, 2
		}
		if a.high-a.low <= negligible*max(math.Abs(a.low), math.Abs(a.high)) {
			a.low, a.high = a.low-math.Abs(a.low)/2, a.high+math.Abs(a.high)/2+1e-9
		}
	}
	return x, y
}

// drawAxes draws the grid and the marks of both axes, about n on the horizontal one unless Ticks are given.
func (l Lines) drawAxes(s *svg, x, y axis, a area, n int) {
	if l.Shaded > 0 {
		fmt.Fprintf(s, `<rect x="%d" y="%d" width="%s" height="%d" fill="#888888" fill-opacity="0.15"/>`+"\n", a.left, a.top, coordinate(max(0, x.at(l.Shaded)-x.from)), a.height)
	}
	levels := ticks(y, 4)
	floored := l.LogY && l.Floor > 0 && y.low <= l.Floor
	if floored && !slices.Contains(levels, l.Floor) {
		levels = append(levels, l.Floor)
	}
	for _, v := range levels {
		text := number(v)
		if floored && v == l.Floor {
			text = "≤ " + text
		}
		fmt.Fprintf(s, `<path d="M%d %sh%d" stroke="#cccccc"/>`+"\n", a.left, coordinate(y.at(v)), a.width)
		s.text(float64(a.left-4), y.at(v)+4, "end", text)
	}
	marks := l.Ticks
	if marks == nil {
		marks = ticks(x, n)
	}
	for _, v := range marks {
		if v < x.low || v > x.high {
			continue
		}
		s.text(x.at(v), float64(a.top+a.height+16), "middle", number(v))
	}
}

// drawLabels writes what the axes are.
func (l Lines) drawLabels(s *svg, a area) {
	label := l.XLabel
	if l.LogX {
		label += " (logarithmic)"
	}
	if l.Note != "" {
		label += "; grey: " + l.Note
	}
	s.text(float64(a.left+a.width/2), float64(a.top+a.height+34), "middle", label)
	fmt.Fprintf(s, `<text x="12" y="%d" text-anchor="middle" transform="rotate(-90 12 %[1]d)">%s</text>`+"\n", a.top+a.height/2, escaped(l.YLabel))
}

// ticks chooses about n round values within an axis.
func ticks(a axis, n int) (list []float64) {
	if a.log && a.low > 0 && a.high/a.low >= 10 {
		for e := math.Floor(math.Log10(a.low)); e <= math.Log10(a.high); e++ {
			for _, m := range []float64{1, 2, 5} {
				if v := m * math.Pow(10, e); v >= a.low && v <= a.high && (m == 1 || a.high/a.low < 1e3) {
					list = append(list, v)
				}
			}
		}
		return list
	}
	rough := (a.high - a.low) / float64(n)
	step := math.Pow(10, math.Floor(math.Log10(rough)))
	for _, m := range []float64{1, 2, 5, 10} {
		if m*step >= rough {
			step *= m
			break
		}
	}
	first := math.Ceil(a.low/step - 1e-9)
	for i := range n + 2 { // step is at least an nth of the axis
		v := (first + float64(i)) * step
		if !(v <= a.high+step*1e-9) { // also NaN
			break
		}
		list = append(list, v)
	}
	return list
}

// draw draws the line of the series with an index, with its deviations, dots and mark.
func (l Series) draw(s *svg, index int, shape string, x, y axis) {
	colour := colour(index)
	var path []string
	for i, p := range l.Points {
		inside := func(v float64) float64 { return min(max(y.at(v), y.to), y.from) }
		px, py := x.at(p.X), inside(p.Y)
		path = append(path, coordinate(px)+","+coordinate(py))
		if p.Deviation > 0 && !y.log {
			fmt.Fprintf(s, `<path d="M%s %sV%s" stroke="%s" stroke-opacity="0.6"/>`+"\n", coordinate(px), coordinate(inside(p.Y-p.Deviation)), coordinate(inside(p.Y+p.Deviation)), colour)
		}
		if l.Dots {
			s.dot(px, py, shape, colour, fmt.Sprintf("%s: %s at %s", l.Name, number(p.Y), number(p.X)))
		}
		if i+1 == l.Marked {
			fmt.Fprintf(s, `<circle cx="%s" cy="%s" r="6" fill="none" stroke="%s" stroke-width="2"/>`+"\n", coordinate(px), coordinate(py), colour)
		}
	}
	fmt.Fprintf(s, `<polyline points="%s" fill="none" stroke="%s" stroke-width="1.5"%s/>`+"\n", strings.Join(path, " "), colour, dash(index))
}
