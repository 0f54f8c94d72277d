package viewer

import (
	"fmt"
	"html"
	"io"
	"math"
	"strings"
)

// Sizes of the drawings, in pixels.
const (
	svgRow       = 18 // height of a position
	svgCharacter = 7  // approximate width of a character of a label
	svgBar       = 14 // width of a head's weight
	svgGap       = 24 // space between steps
	svgTop       = 58
	svgKey       = 30  // height of the key below
	svgPonder    = 240 // length of the largest ponder time
)

// keyWeights are the weights in the key of attention, svgKeyWidth pixels wide.
var keyWeights = []float64{0.1, 0.25, 0.5, 1}

const svgKeyWidth = 200

// headColours distinguish the heads. With more heads, colours repeat.
var headColours = []string{"#1f77b4", "#ff7f0e", "#2ca02c", "#d62728"}

// WriteAttentionSVG draws the attention of the encoder's last position: one row per position and, for every step, one bar per head,
// shaded by its weight. It has the form of the paper's figures 5 to 8, in which the last position is the question.
func WriteAttentionSVG(w io.Writer, t *Trace) error {
	if err := t.Validate(); err != nil {
		return err
	}
	if t.Encoder == nil || len(t.Encoder.Attention) == 0 {
		return fmt.Errorf("trace: no attention of an encoder to draw")
	}
	e := t.Encoder
	labels, rows, heads := visibleAll(e.Tokens), len(e.Tokens), len(e.Attention[0])
	left := labelWidth(labels)
	step := heads*svgBar + svgGap
	asked := "attention of “" + labels[rows-1] + "”, heads 1 to " + fmt.Sprint(heads)
	d := newDrawing(max(left+len(e.Attention)*step, left+svgKeyWidth, 16+len([]rune(asked))*svgCharacter), svgTop+rows*svgRow+12+svgKey)
	d.text(8, svgTop-22-14, "start", asked)
	d.text(left-8, svgTop-6, "end", "head")
	for i, label := range labels {
		d.text(left-8, svgTop+i*svgRow+13, "end", label)
	}
	for s, byHead := range e.Attention {
		x := left + s*step
		d.text(x+heads*svgBar/2, svgTop-22, "middle", fmt.Sprintf("step %d", s+1))
		for k, queries := range byHead {
			d.text(x+k*svgBar+svgBar/2, svgTop-6, "middle", fmt.Sprint(k+1))
			for i, weight := range queries[rows-1] {
				d.rectangle(x+k*svgBar, svgTop+i*svgRow, svgBar-1, svgRow-1, headColours[k%len(headColours)], math.Min(1, math.Max(0, weight)),
					fmt.Sprintf("step %d, head %d: %.3f to %s", s+1, k+1, weight, labels[i]))
			}
		}
	}
	d.key(left, svgTop+rows*svgRow+svgKey)
	return d.end(w)
}

// key draws the strength of some weights above y, from x on.
func (d *drawing) key(x, y int) {
	d.text(x-8, y-2, "end", "weight")
	for i, weight := range keyWeights {
		at := x + i*svgKeyWidth/len(keyWeights)
		d.rectangle(at, y-14, svgBar-1, svgRow-1, headColours[0], weight, fmt.Sprintf("weight %v", weight))
		d.text(at+svgBar+4, y-2, "start", fmt.Sprint(weight))
	}
}

// WritePonderSVG draws the number of steps of every position of the encoder, one row each, in the form of the paper's figure 3.
func WritePonderSVG(w io.Writer, t *Trace) error {
	if err := t.Validate(); err != nil {
		return err
	}
	if t.Encoder == nil {
		return fmt.Errorf("trace: no encoder to draw")
	}
	labels := visibleAll(t.Encoder.Tokens)
	left, maximum := labelWidth(labels), float64(t.Encoder.steps())
	d := newDrawing(left+svgPonder+50, svgTop+len(labels)*svgRow+12)
	d.text(left, svgTop-14, "start", "steps")
	for i, n := range t.Encoder.Updates {
		d.text(left-8, svgTop+i*svgRow+13, "end", labels[i])
		width := int(math.Round(svgPonder * n / max(1, maximum)))
		d.rectangle(left, svgTop+i*svgRow, width, svgRow-3, headColours[0], 1, fmt.Sprintf("%s: %s", labels[i], steps(n)))
		d.text(left+width+6, svgTop+i*svgRow+13, "start", number(n))
	}
	return d.end(w)
}

func labelWidth(labels []string) int {
	widest := 0
	for _, l := range labels {
		widest = max(widest, len([]rune(l)))
	}
	return widest*svgCharacter + 16
}

// drawing accumulates an SVG.
type drawing struct{ strings.Builder }

func newDrawing(width, height int) *drawing {
	d := &drawing{}
	fmt.Fprintf(d, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">`+"\n", width, height)
	d.WriteString(`<rect width="100%" height="100%" fill="white"/>` + "\n")
	return d
}

func (d *drawing) text(x, y int, anchor, text string) {
	fmt.Fprintf(d, `<text x="%d" y="%d" text-anchor="%s">%s</text>`+"\n", x, y, anchor, html.EscapeString(text))
}

func (d *drawing) rectangle(x, y, width, height int, colour string, opacity float64, title string) {
	fmt.Fprintf(d, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s" fill-opacity="%.3f"><title>%s</title></rect>`+"\n",
		x, y, width, height, colour, opacity, html.EscapeString(title))
}

func (d *drawing) end(w io.Writer) error {
	d.WriteString("</svg>\n")
	_, err := io.WriteString(w, d.String())
	return err
}
