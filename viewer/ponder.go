package viewer

import (
	"fmt"
	"math"
	"strings"
)

const (
	bandColumns  = 32  // positions per band
	openBands    = 4   // bands that are shown unfolded
	chartHeight  = 120 // height of the longest bar in pixels
	longestLabel = 3   // characters; with longer labels, positions are rows instead of columns
)

// ponderFigure is the layout of the ponder times of a stack: bands of columns for short tokens, one band of rows for words.
type ponderFigure struct {
	ID, Name, Summary string
	Signs             string
	Decoder, Adaptive bool
	Remainders        bool
	Rows              bool
	Steps             []int // 1..T
	Top, Column       int   // height of the longest bar and width of a column in pixels
	Open, Folded      []band
}

type band struct {
	From, To int // positions, from 1
	Columns  []column
}

// column is one position: its bar and the weights of its steps.
type column struct {
	Position      int
	Token, Number string
	Height, Width int // of the bar: height in pixels, width in percent
	Remainder     string
	Weights       []cell
}

// cell is a number that is drawn as a shade; Level is in percent.
type cell struct {
	Text, Title string
	Level       int
	Strong      bool // dark, so that its text is light
}

func newPonderFigure(id, name string, s *Stack, decoder bool) ponderFigure {
	f := ponderFigure{
		ID: id, Name: name, Summary: s.summary(), Signs: signs(s.Tokens), Decoder: decoder,
		Adaptive: len(s.Weights) > 0, Remainders: s.Remainders != nil, Top: chartHeight,
	}
	tokens := visibleAll(s.Tokens)
	f.Rows = widest(tokens) > longestLabel
	f.Column = min(40, max(28, 900/len(tokens)))
	for t := range s.steps() {
		f.Steps = append(f.Steps, t+1)
	}
	size := bandColumns
	if f.Rows {
		size = openBands * bandColumns
	}
	for from := 0; from < len(tokens); from += size {
		b := band{From: from + 1, To: min(from+size, len(tokens))}
		for i := from; i < b.To; i++ {
			b.Columns = append(b.Columns, newColumn(s, i, tokens[i]))
		}
		if folded := len(f.Open) == openBands || f.Rows && len(f.Open) == 1; folded {
			f.Folded = append(f.Folded, b)
		} else {
			f.Open = append(f.Open, b)
		}
	}
	return f
}

func newColumn(s *Stack, i int, token string) column {
	share := s.Updates[i] / float64(max(1, s.steps()))
	c := column{
		Position: i + 1, Token: token, Number: number(s.Updates[i]),
		Height: int(math.Round(share * chartHeight)), Width: int(math.Round(share * 100)),
	}
	if s.Remainders != nil {
		c.Remainder = fraction(s.Remainders[i])
	}
	for t, row := range s.Weights {
		c.Weights = append(c.Weights, newCell(s, t, i, row[i], token))
	}
	return c
}

func newCell(s *Stack, t, i int, u float64, token string) cell {
	where := fmt.Sprintf("‘%s’ (position %d), step %d", token, i+1, t+1)
	if float64(t) >= s.Updates[i] && u == 0 {
		return cell{Title: where + ": had halted"}
	}
	level := shade(u)
	return cell{Text: fraction(u), Title: fmt.Sprintf("%s: u = %.4f", where, u), Level: level, Strong: level > 55}
}

// shade returns the darkness of a weight in percent. It is proportional to the square root of the weight, so that small weights in
// long inputs can be distinguished. page.js draws attention by the same rule.
func shade(share float64) int {
	return int(math.Round(100 * math.Sqrt(min(1, max(0, share)))))
}

// fraction formats a weight with two decimals and without the leading zero, for narrow columns.
func fraction(v float64) string {
	return strings.TrimPrefix(fmt.Sprintf("%.2f", math.Abs(v)), "0")
}

// banded is a band with its figure, for the templates of the page.
type banded struct {
	band
	Figure ponderFigure
}

// In returns the band with its figure.
func (b band) In(f ponderFigure) banded { return banded{b, f} }

// tick is a mark of the axis; Bottom is its height in pixels.
type tick struct{ Step, Bottom int }

// Ticks returns the marks of the axis, few enough that their numbers do not overlap.
func (b banded) Ticks() []tick {
	total := len(b.Figure.Steps)
	every := 1 + (total-1)/8
	var ticks []tick
	for step := every; step <= total; step += every {
		ticks = append(ticks, tick{step, step * b.Figure.Top / total})
	}
	return ticks
}

// FoldedName returns the label of the folded part.
func (f ponderFigure) FoldedName() string {
	return fmt.Sprintf("Positions %d to %d", f.Folded[0].From, f.Folded[len(f.Folded)-1].To)
}
