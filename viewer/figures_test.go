package viewer

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"universal-transformer/internal/browsertest"
)

var (
	shapesOf   = regexp.MustCompile(`<(rect|text)( [^>]*)>`)
	attributes = regexp.MustCompile(` ([a-z-]+)="([^"]*)"`)
)

// worst returns the lowest contrast of a text of a figure with what is below its middle, and the text's element. Contrast is that of the Web Content
// Accessibility Guidelines 2.2.
func worst(svg string) (contrast float64, text string) {
	luminance := func(c [3]float64) (sum float64) {
		for i, part := range []float64{0.2126, 0.7152, 0.0722} {
			if v := c[i] / 255; v <= 0.04045 {
				sum += part * v / 12.92
			} else {
				sum += part * math.Pow((v+0.055)/1.055, 2.4)
			}
		}
		return sum
	}
	type box struct {
		x, y, width, height, opacity float64
		fill                         [3]float64
	}
	var boxes []box
	contrast = math.Inf(1)
	for _, found := range shapesOf.FindAllStringSubmatch(svg, -1) {
		values := map[string]string{"fill-opacity": "1"}
		for _, a := range attributes.FindAllStringSubmatch(found[2], -1) {
			values[a[1]] = a[2]
		}
		number := func(name string) float64 { v, _ := strconv.ParseFloat(values[name], 64); return v }
		at := box{number("x"), number("y"), number("width"), number("height"), number("fill-opacity"), [3]float64{}}
		if _, err := fmt.Sscanf(strings.ReplaceAll(values["fill"], " ", ""), "rgb(%f,%f,%f)", &at.fill[0], &at.fill[1], &at.fill[2]); err != nil {
			continue // a frame
		}
		if found[1] == "rect" {
			boxes = append(boxes, at)
			continue
		}
		var below [3]float64
		for _, b := range boxes {
			if b.x <= at.x && at.x <= b.x+b.width && b.y <= at.y && at.y <= b.y+b.height {
				for i := range below {
					below[i] += b.opacity * (b.fill[i] - below[i])
				}
			}
		}
		for i := range below {
			at.fill[i] = below[i] + at.opacity*(at.fill[i]-below[i])
		}
		levels := []float64{luminance(at.fill) + 0.05, luminance(below) + 0.05}
		if c := slices.Max(levels) / slices.Min(levels); c < contrast {
			contrast, text = c, found[0]
		}
	}
	return contrast, text
}

// Every text of the figures can be read, in light and dark, also in steps after the chosen one and in a stack that has not run yet.
// The better of black and white has a contrast of 4.58 or more with every colour. Caught when planted: numbers as faint as their cells.
func TestPageCanBeRead(t *testing.T) {
	const least = 4.5
	browser := browsertest.Start(t)
	for _, scheme := range []string{"light", "dark"} {
		for name, trace := range map[string]*Trace{"story": story(), "readouts": withReadouts(), "long": sample("31415926535897932384", 6, 2)} {
			for _, fragment := range []string{"#step=1", "#step=3", "#view=encoder&step=1&cells=changes", "#view=encoder&step=1&cells=readouts"} {
				p := open(t, browser, trace, 1280, scheme, fragment)
				svg := p.saved("#steps")
				if !strings.Contains(svg, ">.") && !strings.Contains(svg, ">7") { // a weight, or a change
					t.Fatalf("no numbers in %s", svg)
				}
				if c, text := worst(svg); c < least {
					t.Errorf("%s, %s %s: a contrast of %.2f: %s", name, scheme, fragment, c, text)
				}
			}
		}
	}
}

// halting is a run of 3 positions of which the first halts after 1 step and the last reaches the limit of 4.
func halting() *Trace {
	t := withReadouts()
	for _, s := range []*Stack{t.Encoder, t.Decoder} {
		s.Updates, s.Remainders, s.Limit = []float64{1, 2, 4}, []float64{1, 0.75, 0.999}, 4
		s.Weights = [][]float64{{1, 0.25, 0}, {0, 0.75, 0.001}, {0, 0, 0}, {0, 0, 0.999}}
	}
	return t
}

// A position that had halted before the step attends to nothing; the matrix explains its faint row. One that reached the limit did not halt.
// Caught when planted: lines and list of a halted position, a legend without faint rows, the limit taken for a decision, a live text without head and
// weight.
func TestPageHalting(t *testing.T) {
	p := open(t, browsertest.Start(t), halting(), 1280, "light", "#view=encoder&step=2&head=1&position=1")
	p.Becomes(chosen, "Position 1: 3")
	details := func() string { return p.Text("#details") }
	if text := details(); !strings.Contains(text, "It halted after 1 step;") || !strings.Contains(text, "It had halted before step 2.") || strings.Contains(text, "Attends to") {
		t.Errorf("halted: %s", text)
	}
	svg := p.saved("#steps")
	if strings.Contains(svg, "<path") {
		t.Errorf("lines of a halted position: %s", svg)
	}
	if legend := p.Text("#matrix-legend"); !strings.Contains(legend, "faint rows: positions that had halted before this step") {
		t.Errorf("legend: %s", legend)
	}
	p.Do(chromedp.Focus(chromedp.CSS("#matrix .pane")), chromedp.KeyEvent(kb.End), chromedp.KeyEvent(kb.ArrowRight))
	p.Becomes(chosen, "Position 3: 4")
	if text := details(); !strings.Contains(text, "It reached the limit of 4 steps;") || !strings.Contains(text, "Attends to (step 2, head 1)") {
		t.Errorf("at the limit: %s", text)
	}
	if svg := p.saved("#steps"); !strings.Contains(svg, "<path") {
		t.Error("no lines of a position that runs")
	}
	weight := fmt.Sprintf("%.2f", halting().Encoder.Attention[1][0][2][0])
	p.Becomes(`document.getElementById("live").textContent`, "Encoder, step 2, position 3, 4, head 1. Step 2, head 1. Query ‘4’ (3) gives "+weight+" to ‘3’ (1).")
	p.Do(chromedp.KeyEvent("n"))
	p.Becomes(`document.getElementById("live").textContent.includes("head 1, normalized colours.")`, "true")
	p.Eval(`location.hash = "#view=encoder&step=1&position=1"`)
	p.Becomes(chosen, "Position 1: 3")
	if legend := p.Text("#matrix-legend"); strings.Contains(legend, "faint") {
		t.Errorf("legend of the first step: %s", legend)
	}
	for _, label := range []string{"steps", "heads"} {
		if p.Eval(fmt.Sprintf(`document.getElementById(document.querySelector("%s .pane").getAttribute("aria-labelledby")).textContent !== ""`,
			map[string]string{"steps": "#steps", "heads": "#matrix"}[label])) != "true" {
			t.Errorf("%s: a chart without a name", label)
		}
	}
}

// Weights of 1 are written whole in narrow cells, too.
// Caught when planted: 1.00, which does not fit.
func TestPageNarrowCells(t *testing.T) {
	trace := sample(strings.Repeat("3", 100), 3, 1)
	p := open(t, browsertest.Start(t), trace, 1280, "light", "")
	want := 0
	for _, s := range []*Stack{trace.Encoder, trace.Decoder} {
		for _, u := range slices.Concat(s.Weights...) {
			if u >= 0.995 {
				want++
			}
		}
	}
	const others = 30 // positions and steps numbered 1
	if n := strings.Count(p.saved("#steps"), ">1</text>"); want < others || n < want {
		t.Errorf("%d weights of 1 are written, want %d", n, want)
	}
}

// Readouts are written in cells of many steps, too, and the legend explains all that is drawn.
// Caught when planted: low cells for readouts, a legend of one stack, of changes without colours.
func TestPageLegends(t *testing.T) {
	const steps = 12
	trace := sample("314", steps, 2)
	for range 3 {
		trace.Readouts = append(trace.Readouts, readout(strings.Repeat("Q", steps)))
	}
	for _, s := range []*Stack{trace.Encoder, trace.Decoder} {
		s.Changes = make([][]float64, steps)
		for i := range s.Changes {
			s.Changes[i] = []float64{20, 4, 1}
		}
	}
	trace.Decoder.Changes[0][0] = 40
	p := open(t, browsertest.Start(t), trace, 1280, "light", "#view=cross&step=12&cells=readouts")
	written := 0
	for _, n := range trace.Decoder.Updates {
		written += int(n)
	}
	if n := strings.Count(p.saved("#steps"), ">Q</text>"); n != written {
		t.Errorf("%d readouts are written, want %d", n, written)
	}
	legend := func(cells, want string) {
		t.Helper()
		p.Eval(`location.hash = "#view=cross&step=12&cells=` + cells + `"`)
		p.Becomes(`document.getElementById("cells").value`, cells)
		if got := p.Text("#steps-legend"); !strings.HasPrefix(got, want) {
			t.Errorf("%s: legend %q, want %q", cells, got, want)
		}
	}
	weights := "weight of a step in the result 0 0.1 0.5 1 the last step of a position; its weight is the remainder"
	legend("changes", "Encoder: norm of the change of the state in a step 0 2 10 20 Decoder: norm of the change of the state in a step 0 4 20 40 attention")
	legend("readouts", "Encoder: "+weights+" Decoder: most probable token after each step, and its probability 0 0.1 0.5 1 attention")
	legend("weights", weights+" attention")
	p.Eval(`document.querySelector("#numbers summary").click()`)
	p.Becomes(`[...document.querySelectorAll("#numbers table:first-of-type th")].slice(0, 4).map(n => n.textContent).join()`, "position,token,steps,u1")
	for _, want := range []string{"steps: how many steps the position ran", "u1, u2 and so on: the weight", "r: the remainder", "d1, d2 and so on: the norm"} {
		if text := p.Text("#numbers p"); !strings.Contains(text, want) {
			t.Errorf("no %q in %q", want, text)
		}
	}
}
