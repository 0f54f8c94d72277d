package viewer

import (
	"bytes"
	"image/png"
	"strings"
	"testing"
)

// The pictures have a cell for every weight, at its place and in its colour.
// Caught when planted: queries and keys exchanged, heads and steps exchanged, a ramp without its end.
func TestPictures(t *testing.T) {
	stack := &Stack{
		Tokens: []string{"a", "b", "c"}, Updates: []float64{1, 2, 2}, Remainders: []float64{1, 0.5, 0.25},
		Weights: [][]float64{{1, 0.5, 0.75}, {0, 0.5, 0.25}},
	}
	for range 2 { // steps
		heads := make([][][]float64, 4)
		for k := range heads {
			heads[k] = [][]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}
		}
		stack.Attention = append(stack.Attention, heads)
	}
	stack.Attention[1][2] = [][]float64{{0, 0, 1}, {0, 0, 1}, {0.5, 0.5, 0}} // step 2, head 3
	list, err := (&Trace{Encoder: stack}).Pictures()
	if err != nil || len(list) != 2 || list[0].Name != "attention/encoder" || list[1].Name != "ponder/encoder" {
		t.Fatalf("%+v, %v", list, err)
	}
	at := func(p Picture, x, y int) (r, g, b uint32) {
		img, err := png.Decode(bytes.NewReader(p.PNG))
		if err != nil || img.Bounds().Dx() != p.Width || img.Bounds().Dy() != p.Height {
			t.Fatalf("%s: %v", p.Name, err)
		}
		r, g, b, _ = img.At(x, y).RGBA()
		return r >> 8, g >> 8, b >> 8
	}
	// Cells have 12 pixels, tiles of 3 by 3 cells are 6 pixels apart: step 2, head 3 begins at (90, 48).
	for _, c := range []struct{ x, y, r, g, b int }{
		{3, 3, 0xff, 0xff, 0xff}, {90, 48, 0xf0, 0xf0, 0xec}, {90 + 24, 48, 0xa6, 0x3a, 0x08}, {90 + 35, 48 + 23, 0xa6, 0x3a, 0x08}, {90 + 24, 48 + 24, 0xf0, 0xf0, 0xec},
		{90, 48 + 24, 187, 111, 75}, // the square root of a half of the way
		{90 - 42, 48, 0xa6, 0x3a, 0x08}, {90 - 42, 6, 0xa6, 0x3a, 0x08}, {90, 6, 0xa6, 0x3a, 0x08},
	} {
		if r, g, b := at(list[0], c.x, c.y); int(r)-c.r > 1 || c.r-int(r) > 1 || int(g)-c.g > 1 || c.g-int(g) > 1 || int(b)-c.b > 1 || c.b-int(b) > 1 {
			t.Errorf("attention at %d, %d: %d %d %d, want %d %d %d", c.x, c.y, r, g, b, c.r, c.g, c.b)
		}
	}
	if r, g, b := at(list[1], 6, 6); r != 0x12 || g != 0x3a || b != 0x63 {
		t.Errorf("weight 1 is %d %d %d", r, g, b)
	}
	if r, _, _ := at(list[1], 6, 6+12); r != 0xf0 {
		t.Errorf("weight 0 is %d", r)
	}
}

// Long sequences have cells of one pixel, and what is not a trace is refused.
func TestPicturesOfOtherSizes(t *testing.T) {
	n := 300
	s := &Stack{Attention: [][][][]float64{{make([][]float64, n), make([][]float64, n), make([][]float64, n), make([][]float64, n)}}}
	for i := range n {
		s.Tokens, s.Updates = append(s.Tokens, "x"), append(s.Updates, 1)
		for k := range 4 {
			s.Attention[0][k][i] = make([]float64, n)
		}
	}
	list, err := (&Trace{Decoder: s}).Pictures()
	if err != nil || len(list) != 1 || list[0].Width != 4*306+6 || list[0].Height != 312 || list[0].Name != "attention/decoder" {
		t.Errorf("%v, %v", list, err)
	}
	if _, err := (&Trace{}).Pictures(); err == nil || !strings.Contains(err.Error(), "neither encoder nor decoder") {
		t.Errorf("an empty trace: %v", err)
	}
}
