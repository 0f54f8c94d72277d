package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// charts is one of each kind, with everything that a caller may ask for.
func charts() map[string][]byte {
	return map[string][]byte{
		"lengths": Lines{
			Title: "copy: sequence accuracy by length", XLabel: "symbols", YLabel: "accuracy", LogX: true, Y: [2]float64{0, 1}, Ticks: []float64{40, 100, 400},
			Shaded: 40, Note: "training lengths",
			Series: []Series{{Name: "UT <seed 1>", Dots: true, Points: []Point{{X: 40, Y: 1}, {X: 100, Y: 0.9}, {X: 400, Y: 0.5}}}},
		}.SVG(),
		"curves": Lines{
			Title: "loss", XLabel: "updates", YLabel: "nats", LogY: true,
			Series: []Series{
				{Name: "seed 1", Points: []Point{{X: 100, Y: 3}, {X: 200, Y: 0.3}, {X: 300, Y: 0.01}, {X: 400, Y: math.NaN()}, {X: 500, Y: 0}}},
				{Name: "seed 2", Points: []Point{{X: 100, Y: 2.5}, {X: 200, Y: 0.2}, {X: 300, Y: 0.02}}},
			},
		}.SVG(),
		"depth": Lines{
			Title: "accuracy by steps", XLabel: "steps", YLabel: "accuracy",
			Series: []Series{{Name: "mean of 3 seeds", Dots: true, Marked: 2, Points: []Point{{X: 1, Y: 0.4, Deviation: 0.1}, {X: 2, Y: 0.8, Deviation: 0.02}, {X: 3, Y: 0.7}}}},
		}.SVG(),
		"shapes": Lines{
			Title: "accuracy by steps", XLabel: "steps", YLabel: "accuracy", Shapes: true,
			Series: []Series{
				{Name: "fixed", Dots: true, Points: []Point{{X: 1, Y: 0.4}, {X: 2, Y: 0.8}}}, {Name: "a", Dots: true, Points: []Point{{X: 2, Y: 0.8, Deviation: 0.1}}},
				{Name: "b", Dots: true, Points: []Point{{X: 2, Y: 0.8}}}, {Name: "c", Dots: true, Points: []Point{{X: 1.5, Y: 0.8}}}, {Name: "d", Dots: true, Points: []Point{{X: 1.5, Y: 0.8}}},
				{Name: "e", Dots: true, Points: []Point{{X: 1.5, Y: 0.5}}}, {Name: "f", Dots: true, Points: []Point{{X: 1.5, Y: 0.5}}}, {Name: "g <h>", Dots: true, Points: []Point{{X: 1, Y: 0.8}}},
			},
		}.SVG(),
		"bars": Bars{Title: "steps & positions", Names: []string{"encoder", "decoder"}, Groups: []Group{{Name: "if <a>", Values: []float64{2, 1}}, {Name: "for", Values: []float64{4, 0}}}}.SVG(),
		"ranges": Bars{Title: "accuracy by kind", Names: []string{"first", "second"}, Groups: []Group{
			{"if", []float64{0.9, 0.5}, [][2]float64{{0.7, 1}, {0.5, 0.5}}}, {"for", []float64{0.2, 0}, [][2]float64{{0.1, 0.2}, {0, 0.4}}},
		}}.SVG(),
		"histograms": Histograms{Title: "ponder times", Unit: "steps", Panels: []Panel{{"task 1", []int{1, 3}}, {"task 2", []int{0, 2, 2}}, {"none", nil}}}.SVG(),
		"multiples": Multiples{Title: "validation by updates", Names: []string{"first", "second <b>", "third"}, Panels: []Lines{
			{Title: "copy", LogY: true, Series: []Series{
				{Name: "second <b>", Marked: 2, Points: []Point{{X: 100, Y: 3}, {X: 200, Y: 0.02}, {X: 300, Y: 0.05}, {X: 400, Y: math.Inf(1)}}},
				{Name: "second <b>", Points: []Point{{X: 100, Y: 2}, {X: 200, Y: 0.3}}},
			}},
			{Title: "reverse", Series: []Series{{Name: "first", Points: []Point{{X: 5, Y: 1}, {X: 20, Y: 0.5}}}, {Name: "third", Marked: 1, Points: []Point{{X: 10, Y: 0.75}}}}},
			{Title: "addition", LogY: true},
		}}.SVG(),
		"floor": Multiples{Title: "loss by updates", Names: []string{"seed 1", "seed 2"}, Panels: []Lines{
			{Title: "copy", LogY: true, Floor: 1e-6, Series: []Series{{Name: "seed 1", Points: []Point{{X: 1, Y: 2}, {X: 2, Y: 3e-9}, {X: 3, Y: 0}}}}},
			{Title: "none", LogY: true, Floor: 1e-6, Series: []Series{{Name: "seed 2", Points: []Point{{X: 1, Y: 0}}}}},
			{Title: "above", LogY: true, Floor: 1e-6, Series: []Series{{Name: "seed 2", Points: []Point{{X: 1, Y: 2}, {X: 2, Y: 0.5}}}}},
		}}.SVG(),
		"empty": Lines{Title: "nothing", XLabel: "x", YLabel: "y", Series: []Series{{Name: "none"}}}.SVG(),
	}
}

// The charts are those of the golden files, which were looked at in a browser.
func TestGolden(t *testing.T) {
	for name, got := range charts() {
		path := filepath.Join("testdata", name+".svg")
		if *update {
			if err := errors.Join(os.MkdirAll("testdata", 0o755), os.WriteFile(path, got, 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what is drawn (%v): run with -update and look at it", path, err)
		}
	}
}

// Every chart is well-formed, and holds no number that is not finite.
func TestWellFormed(t *testing.T) {
	for name, got := range charts() {
		d := xml.NewDecoder(bytes.NewReader(got))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if text := string(got); strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// The mark of the floor says that values below it are drawn there, and only where there are some.
// Caught when planted: points below it left out; the mark in every chart.
func TestFloor(t *testing.T) {
	got := string(charts()["floor"])
	if n := strings.Count(got, ">≤ 1e-06<"); n != 2 { // of the first two charts
		t.Errorf("%d marks of the floor, want 2: %s", n, got)
	}
	if want := `points="116.3,54 182.7,170 249,170"`; !strings.Contains(got, want) { // the area is 199 pixels wide from 50 and 116 high from 54
		t.Errorf("no line %s in %s", want, got)
	}
}

// Lines whose colour repeats that of an earlier one are dashed, and so are their marks in the legend.
// Caught when planted: no dashes in the legend.
func TestRepeatedColours(t *testing.T) {
	var l Lines
	for i := range 2*len(colours) + 1 {
		l.Series = append(l.Series, Series{Name: strings.Repeat("x", i+1), Points: []Point{{X: 0, Y: float64(i)}, {X: 1, Y: float64(i)}}})
	}
	looks := map[string]int{} // by colour and dashes
	for _, found := range regexp.MustCompile(`<(?:polyline|path|rect) [^>]*(?:stroke|fill)="(#[0-9a-f]{6})"[^>]*?( stroke-dasharray="[^"]*")?/>`).FindAllStringSubmatch(string(l.SVG()), -1) {
		looks[found[1]+found[2]]++
	}
	delete(looks, "#cccccc") // the grid
	if len(looks) != len(l.Series) {
		t.Errorf("%d different lines, want %d", len(looks), len(l.Series))
	}
	for look, n := range looks {
		if n != 2 { // the line and its mark in the legend
			t.Errorf("%s: %d times, want 2", look, n)
		}
	}
}

// A picture is as wide as its texts.
// Caught when planted: the names of bars left out.
func TestLegendOfBarsFits(t *testing.T) {
	const name = "UT, dynamic halting, copies (control: trained on all operations)"
	got := string(Bars{Title: "kinds", Names: []string{name}, Groups: []Group{{Name: "if", Values: []float64{1}}}}.SVG())
	var width, x int
	if _, err := fmt.Sscanf(got, `<svg xmlns="http://www.w3.org/2000/svg" width="%d"`, &width); err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(got, ">"+name)
	if _, err := fmt.Sscanf(before[strings.LastIndex(before, "<"):], `<text x="%d"`, &x); err != nil {
		t.Fatal(err)
	}
	if need := x + 65*len(name)/10; width < need { // 6.5 pixels a letter
		t.Errorf("%d pixels for texts that end at %d", width, need)
	}
}

// Marks are round and lie within the axis.
func TestTicks(t *testing.T) {
	for _, c := range []struct {
		a    axis
		n    int
		want []float64
	}{
		{axis{low: 0, high: 1}, 4, []float64{0, 0.5, 1}},
		{axis{low: 3, high: 97}, 4, []float64{50}},
		{axis{low: 0, high: 100}, 5, []float64{0, 20, 40, 60, 80, 100}},
		{axis{low: 0.01, high: 1, log: true}, 4, []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1}},
		{axis{low: 1, high: 10000, log: true}, 4, []float64{1, 10, 100, 1000, 10000}},
	} {
		got := ticks(c.a, c.n)
		same := len(got) == len(c.want)
		for i := range got {
			same = same && math.Abs(got[i]-c.want[i]) < 1e-9
		}
		if !same {
			t.Errorf("%+v: %v, want %v", c.a, got, c.want)
		}
	}
}

// An axis whose values differ only in rounding is drawn as that of equal values, and has few marks even if a caller asks for marks of it.
// Caught when planted: only exactly equal values as one; marks numbered by adding 1 up to the end of the axis.
func TestNearlyEqual(t *testing.T) {
	high := math.Nextafter(0.9, 1)
	for name, l := range map[string]Lines{
		"points": {Series: []Series{{Name: "a", Points: []Point{{X: 0.9, Y: 0.9}, {X: high, Y: high}}}}},
		"range":  {Y: [2]float64{0.9, high}, Series: []Series{{Name: "a", Points: []Point{{X: 0.9, Y: 0.9}}}}},
	} {
		x, y := l.axes(linesArea)
		for _, a := range []axis{x, y} {
			if math.Abs(a.low-0.45) > 1e-6 || math.Abs(a.high-1.35) > 1e-6 { // half of the value on both sides
				t.Errorf("%s: an axis from %v to %v, want 0.45 to 1.35", name, a.low, a.high)
			}
		}
		if got := string(l.SVG()); !strings.Contains(got, ">0.5<") || !strings.Contains(got, ">1<") {
			t.Errorf("%s: no marks 0.5 and 1 in %s", name, got)
		}
	}
	for _, a := range []axis{{low: 0.9, high: high}, {low: -high, high: -0.9}, {low: 0, high: 5e-324}, {low: -1e308, high: 1e308}} {
		if got := ticks(a, 4); len(got) > 6 {
			t.Errorf("%+v: %d marks for 4", a, len(got))
		}
	}
}
