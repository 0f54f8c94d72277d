package viewer

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"universal-transformer/internal/browsertest"
	"universal-transformer/internal/longtest"
)

// A tab is the page of a trace in the browser.
type tab struct{ *browsertest.Tab }

// open writes the page of a trace and loads it at a fragment, in a window of a width, light or dark.
func open(t testing.TB, browser context.Context, trace *Trace, width int64, scheme, fragment string) tab {
	t.Helper()
	path := filepath.Join(t.TempDir(), "page.html")
	var out bytes.Buffer
	if err := WriteHTML(&out, trace); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return tab{browsertest.OpenFile(t, browser, path, fragment, width, scheme)}
}

const (
	stepName = `document.getElementById("step-name").textContent`
	chosen   = `document.querySelector("#details h3").textContent`
	hash     = `location.hash`
)

// The page works with mouse, keyboard and slider, in small and large windows, light and dark, and without a message on the console.
// Caught when planted: weights of the wrong head, the slider not connected.
func TestPageInBrowser(t *testing.T) {
	browser := browsertest.Start(t)
	for _, width := range []int64{1280, 400, 2000} {
		for _, scheme := range []string{"light", "dark"} {
			if width == 2000 && !longtest.Enabled() {
				continue
			}
			name := fmt.Sprintf("%d %s", width, scheme)
			t.Run(name, func(t *testing.T) {
				p := open(t, browser, withReadouts(), width, scheme, "")
				p.Becomes(stepName, "step 4 of 4")
				p.slider(t)
				p.pointer(t)
				p.keyboard(t)
				p.heads(t)
				p.Fits(name)
			})
		}
	}
}

func (p tab) slider(t *testing.T) {
	p.Do(chromedp.SetValue(chromedp.ID("step"), "2"))
	p.Eval(`document.getElementById("step").dispatchEvent(new Event("input"))`)
	p.Becomes(stepName, "step 2 of 4")
	p.Becomes(`document.querySelector("#details tr.chosen th").textContent`, "2")
	p.Do(chromedp.Click(chromedp.CSS("#play")))
	p.Becomes(`document.getElementById("play").getAttribute("aria-label")`, "pause")
	p.Becomes(stepName, "step 4 of 4")
	p.Becomes(`document.getElementById("play").getAttribute("aria-label")`, "play") // it stops at the last step
}

// place scrolls a position into view and returns where its label is in the window.
func (p tab) place(stack, position int) (x, y float64) {
	at := browsertest.Value(p.Tab, chromedp.Evaluate[[]float64](fmt.Sprintf(`(() => {
		window.scrollTo(0, document.querySelector("#steps").offsetTop - 150);
		const canvas = document.querySelector("#steps canvas").getBoundingClientRect(), pane = document.querySelector("#steps .pane");
		const label = window.tracePage.grid.blocks[%d].label(%d);
		return [canvas.left + label.x + 5 - pane.scrollLeft, canvas.top + label.y + 5 - pane.scrollTop];
	})()`, stack, position)))
	return at[0], at[1]
}

// pointer moves over a position of the decoder, which shows that position, and clicks on one of the encoder, which chooses it and its stack.
func (p tab) pointer(t *testing.T) {
	x, y := p.place(1, 2)
	p.Do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x, y))
	p.Becomes(chosen, "Position 3: 3")
	p.Do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, 2, 2))
	x, y = p.place(0, 1)
	p.Do(chromedp.MouseClickXY(x, y))
	p.Becomes(chosen, "Position 2: 1")
	p.Becomes(`document.querySelector(".views [aria-checked=true]").textContent`, "Encoder")
	p.Do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, 2, 2))
}

func (p tab) keyboard(t *testing.T) {
	p.Do(chromedp.Focus(chromedp.CSS("#steps .pane")))
	for _, press := range []struct{ key, expression, want string }{
		{kb.ArrowRight, chosen, "Position 3: 4"},
		{kb.ArrowRight, chosen, "Position 3: 4"}, // there is no other
		{kb.Home, chosen, "Position 1: 3"},
		{kb.ArrowUp, stepName, "step 3 of 4"},
		{"v", `document.querySelector(".views [aria-checked=true]").textContent`, "Decoder, own text"},
		{"]", `document.querySelector(".thumb[aria-checked=true]").textContent`, "head 1"},
		{"]", `document.querySelector(".thumb[aria-checked=true]").textContent`, "head 2"},
		{"n", `document.getElementById("normalize").checked`, "true"},
		{" ", `document.getElementById("play").getAttribute("aria-label")`, "pause"},
		{" ", `document.getElementById("play").getAttribute("aria-label")`, "play"},
	} {
		p.Do(chromedp.KeyEvent(press.key))
		p.Becomes(press.expression, press.want)
	}
}

// heads chooses a head by its small matrix; the large one shows its weights.
func (p tab) heads(t *testing.T) {
	p.Eval(`document.querySelector(".thumb:nth-child(2)").click()`) // a mouse would miss it if the page moved at the same time
	p.Becomes(`document.querySelector(".thumb[aria-checked=true]").textContent`, "head 1")
	p.Do(chromedp.Focus(chromedp.CSS(".thumb[aria-checked=true]")), chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowLeft), chromedp.KeyEvent(kb.ArrowLeft))
	p.Becomes(`document.activeElement.textContent`, "head 1") // the four keys went around
	p.Do(chromedp.KeyEvent(kb.ArrowRight), chromedp.Focus(chromedp.CSS("#matrix .pane")), chromedp.KeyEvent(kb.End), chromedp.KeyEvent(kb.ArrowRight))
	p.Becomes(`document.querySelector(".thumb[aria-checked=true]").textContent + [...document.querySelectorAll("#matrix-text bdi")].map(b => b.textContent)`, "head 2‘3’,‘∅’")
	step := int(p.Eval(stepName)[len("step ")] - '1')
	want := withReadouts().Decoder.Attention[step][1][2][0]
	var got float64
	_, text, _ := strings.Cut(p.Text("#matrix-text"), "gives ")
	if _, err := fmt.Sscanf(text, "%f to ‘∅’ (start)", &got); err != nil || math.Abs(got-want) > 0.01 { // two decimals of a number of 8 bits
		t.Errorf("%q, want %g", p.Text("#matrix-text"), want)
	}
}

// The mean of heads is that of all their weights, although the page holds the 16 largest of each row only.
// Caught when planted: the mean of the weights that the page holds.
func TestPageMean(t *testing.T) {
	const step, query = 2, 30
	trace := long(40, 3, 4)
	p := open(t, browsertest.Start(t), trace, 1280, "light", "#view=encoder&head=mean&step=3&position=31")
	p.Becomes(chosen, "Position 31: 3")
	heads, shown := trace.Encoder.Attention[step], 0
	for key := range trace.Encoder.Tokens {
		want := (heads[0][query][key] + heads[1][query][key] + heads[2][query][key] + heads[3][query][key]) / 4
		got := p.Eval(fmt.Sprintf("tracePage.attention.at(%d, -1, %d, %d)", step, query, key))
		if got == "null" {
			continue
		}
		shown++
		if v, err := strconv.ParseFloat(got, 64); err != nil || math.Abs(math.Sqrt(v)-math.Sqrt(want)) > 0.5001/255 {
			t.Errorf("key %d: %s, want %g", key, got, want)
		}
	}
	if shown != kept {
		t.Errorf("%d weights, want %d", shown, kept)
	}
}

// A finger chooses positions and heads.
func TestPageTouch(t *testing.T) {
	p := open(t, browsertest.Start(t), withReadouts(), 400, "light", "")
	p.Do(chromedp.EmulateViewport(400, 900, chromedp.EmulateTouch, chromedp.EmulateMobile))
	p.Do(chromedp.TapXY(p.place(1, 2)))
	p.Becomes(chosen, "Position 3: 3")
	p.Do(chromedp.TapXY(p.place(0, 0)))
	p.Becomes(chosen, "Position 1: 3")
	p.Becomes(`document.querySelector(".views [aria-checked=true]").textContent`, "Encoder")
	p.Do(chromedp.Tap(chromedp.CSS(".thumb:nth-child(3)")))
	p.Becomes(`document.querySelector(".thumb[aria-checked=true]").textContent`, "head 2")
	p.Fits("touch")
}

// The address holds what is shown: another page opened at it shows the same.
func TestPageLink(t *testing.T) {
	browser := browsertest.Start(t)
	p := open(t, browser, withReadouts(), 1280, "light", "#view=decoder&step=2&head=2&position=3&cells=readouts&colours=normalized")
	same := func() {
		t.Helper()
		p.Becomes(stepName, "step 2 of 4")
		p.Becomes(chosen, "Position 3: 3")
		p.Becomes(`document.querySelector(".thumb[aria-checked=true]").textContent`, "head 2")
		p.Becomes(`document.querySelector(".views [aria-checked=true]").textContent`, "Decoder, own text")
		p.Becomes(`document.getElementById("cells").value + document.getElementById("normalize").checked`, "readoutstrue")
	}
	same()
	p.Do(chromedp.Click(chromedp.CSS(".views button:nth-child(1)")), chromedp.Focus(chromedp.CSS("#steps .pane")), chromedp.KeyEvent(kb.Home), chromedp.KeyEvent("["))
	p.Becomes(hash, "#view=encoder&step=2&head=1&position=1&cells=readouts&colours=normalized")
	p.Eval(`location.hash = "#view=decoder&step=2&head=2&position=3&cells=readouts&colours=normalized"`)
	same()
	for _, bad := range []string{"#", "#step=99999&position=-1&head=x&view=<b>", "#view=decoder&step=1e9&cells=constructor", "#%E0%A4%A"} {
		p := open(t, browser, withReadouts(), 400, "light", bad)
		p.Fits(bad[:1])
	}
}

// Stories, fixed depth, language models, hostile tokens and long inputs fit windows of every size, and no token becomes markup.
func TestPagesOfEveryKindFit(t *testing.T) {
	browser := browsertest.Start(t)
	for name, trace := range map[string]*Trace{
		"story": story(), "fixed": fixed(), "hostile": hostile(), "pieces": pieces(), "many": many(10_000), "one": sample("3", 1, 1), "long": long(120, 3, 2),
	} {
		for _, width := range []int64{400, 1280} {
			p := open(t, browser, trace, width, "dark", "")
			p.Fits(fmt.Sprintf("%s %d", name, width))
			if got := p.Eval(`document.querySelectorAll("#details bdi, #details script").length > 0 && !document.querySelector("main script, main img")`); got != "true" {
				t.Errorf("%s: markup", name)
			}
			if p.Eval(`[...document.querySelectorAll(".pane canvas")].filter(c => c.offsetWidth).every(c =>
				new Set(new Uint32Array(c.getContext("2d").getImageData(0, 0, c.width, c.height).data.buffer)).size > 2)`) != "true" {
				t.Errorf("%s: a canvas is empty", name)
			}
		}
	}
}

// saved returns a figure as SVG.
func (p tab) saved(figure string) string {
	return p.Await(fmt.Sprintf(`new Promise(done => {
		const make = URL.createObjectURL;
		URL.createObjectURL = blob => {
			URL.createObjectURL = make;
			blob.text().then(done);
			return "#";
		};
		document.querySelector("%s .saves button").click();
	})`, figure))
}

// The figures are saved as well-formed SVG with every token, and as PNG.
func TestPageSaves(t *testing.T) {
	p := open(t, browsertest.Start(t), hostile(), 1280, "light", "")
	for _, figure := range []string{"#steps", "#matrix"} {
		catch := func(n int, read string) string {
			return p.Await(fmt.Sprintf(`new Promise(done => {
				const make = URL.createObjectURL;
				URL.createObjectURL = blob => {
					URL.createObjectURL = make;
					blob.%s.then(x => done(typeof x === "string" ? x : String.fromCharCode(...new Uint8Array(x).slice(0, 4))));
					return "#";
				};
				document.querySelectorAll("%s .saves button")[%d].click();
			})`, read, figure, n))
		}
		svg, png := catch(0, "text()"), catch(1, "arrayBuffer()")
		wellFormed(t, svg)
		if !strings.Contains(svg, "&#60;script&#62;alert(1)") || !strings.Contains(svg, "<rect") {
			t.Errorf("%s: %.200s", figure, svg)
		}
		if png != "\u0089PNG" {
			t.Errorf("%s: a picture that begins with %q", figure, png)
		}
	}
}

// BenchmarkPage draws the page of 400 positions, 12 steps and 8 heads while the slider moves, an iteration a frame, and reports the time to the
// first paint and the size of the page.
func BenchmarkPage(b *testing.B) {
	trace := long(400, 12, 8)
	var out bytes.Buffer
	if err := WriteHTML(&out, trace); err != nil {
		b.Fatal(err)
	}
	p := open(b, browsertest.Start(b), trace, 1280, "light", "")
	b.ResetTimer()
	p.Await(fmt.Sprintf(`new Promise(done => {
		const slider = document.getElementById("step");
		let n = 0;
		const frame = () => {
			if (n++ === %d) return done("drawn");
			slider.value = 1 + n %% 12;
			slider.dispatchEvent(new Event("input"));
			requestAnimationFrame(frame);
		};
		requestAnimationFrame(frame);
	})`, b.N))
	b.StopTimer()
	paint, err := strconv.ParseFloat(p.Eval(`Math.round(performance.getEntriesByName("first-contentful-paint")[0].startTime)`), 64)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(paint, "ms-to-paint")
	b.ReportMetric(float64(out.Len())/1e6, "MB")
}
