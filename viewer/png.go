package viewer

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
)

// A Picture is a drawing of a part of a trace, encoded as PNG.
type Picture struct {
	Name          string // "attention/encoder"
	Width, Height int    // in pixels
	PNG           []byte
}

// Colours of the pictures, those of the page: the colour of weight 0, and of weight 1 of steps and of attention.
var (
	noneColour   = color.RGBA{0xf0, 0xf0, 0xec, 0xff}
	stepColour   = color.RGBA{0x12, 0x3a, 0x63, 0xff}
	attendColour = color.RGBA{0xa6, 0x3a, 0x08, 0xff}
)

// Sizes of the pictures, in pixels.
const (
	pictureGap   = 6
	pictureWidth = 900 // a picture is not wider unless its cells have one pixel
	maxCell      = 12
)

// Pictures draws the trace without text, for programs that show images: for each stack "attention/encoder" and "attention/decoder", and
// "attention/decoder to encoder", with a row for each step and a column for each head, in which a row is a query and a column a key; and
// "ponder/encoder" and "ponder/decoder", if depth is adaptive, with a row for each step and a column for each position, coloured by the weight of
// the step at that position.
func (t *Trace) Pictures() (list []Picture, err error) {
	if err := t.Validate(); err != nil {
		return nil, err
	}
	add := func(name string, rows [][][][]float64, full color.RGBA) {
		if len(rows) == 0 || err != nil {
			return
		}
		var p Picture
		p, err = tiles(rows, full)
		p.Name = name
		list = append(list, p)
	}
	for _, s := range []struct {
		name string
		*Stack
	}{{"encoder", t.Encoder}, {"decoder", t.Decoder}} {
		if s.Stack == nil {
			continue
		}
		add("attention/"+s.name, s.Attention, attendColour)
		add(fmt.Sprintf("attention/%s to encoder", s.name), s.CrossAttention, attendColour)
		if len(s.Weights) > 0 {
			add("ponder/"+s.name, [][][][]float64{{s.Weights}}, stepColour)
		}
	}
	return list, err
}

// tiles draws matrices of equal size, [rows][columns][height][width], side by side.
func tiles(rows [][][][]float64, full color.RGBA) (Picture, error) {
	columns, height, width := len(rows[0]), len(rows[0][0]), len(rows[0][0][0])
	cell := max(1, min(maxCell, (pictureWidth/columns-pictureGap)/width))
	tileWidth, tileHeight := width*cell+pictureGap, height*cell+pictureGap
	canvas := image.NewPaletted(image.Rect(0, 0, columns*tileWidth+pictureGap, len(rows)*tileHeight+pictureGap), ramp(full))
	for r, row := range rows {
		for c, matrix := range row {
			for i, line := range matrix {
				for k, weight := range line {
					fill(canvas, pictureGap+c*tileWidth+k*cell, pictureGap+r*tileHeight+i*cell, cell, shade(weight))
				}
			}
		}
	}
	var out bytes.Buffer
	err := png.Encode(&out, canvas)
	return Picture{Width: canvas.Rect.Dx(), Height: canvas.Rect.Dy(), PNG: out.Bytes()}, err
}

// ramp returns the palette: white, the background, and then the colours from weight 0 to weight 1.
func ramp(full color.RGBA) color.Palette {
	p := color.Palette{color.White}
	mix := func(none, full uint8, share float64) uint8 {
		return uint8(math.Round(float64(none) + share*(float64(full)-float64(none))))
	}
	for i := range 255 {
		share := float64(i) / 254
		p = append(p, color.RGBA{mix(noneColour.R, full.R, share), mix(noneColour.G, full.G, share), mix(noneColour.B, full.B, share), 0xff})
	}
	return p
}

// shade returns the index in the palette of a weight. Its square root, as in the page, makes small weights visible.
func shade(weight float64) uint8 {
	return uint8(1 + math.Round(254*math.Sqrt(min(1, max(0, weight)))))
}

// fill fills a square.
func fill(canvas *image.Paletted, x, y, size int, index uint8) {
	for dy := range size {
		for dx := range size {
			canvas.SetColorIndex(x+dx, y+dy, index)
		}
	}
}
