package viewer

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"universal-transformer/internal/browsertest"
	"universal-transformer/internal/longtest"
)

// A tab is a page in the browser. It collects what the console shows, and uncaught exceptions.
type tab struct {
	t        *testing.T
	ctx      context.Context
	mu       sync.Mutex
	problems []string
}

type action = chromedp.Action[chromedp.Void]

// open writes the page of a trace and loads it at a fragment, in a window of a width, light or dark.
func open(t *testing.T, browser context.Context, trace *Trace, width int64, scheme, fragment string) *tab {
	t.Helper()
	path := filepath.Join(t.TempDir(), "page.html")
	var out bytes.Buffer
	if err := WriteHTML(&out, trace); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 2*time.Minute) // a page that hangs; nothing else takes as long
	t.Cleanup(cancel)
	p := &tab{t: t, ctx: ctx}
	p.do(chromedp.EmulateViewport(width, 900), scheming(scheme))
	messages := chromedp.Console(ctx)
	go p.listen(messages)
	p.do(chromedp.Navigate((&url.URL{Scheme: "file", Path: path}).String()+fragment), chromedp.WaitReady(chromedp.CSS("html[data-ready=true]")))
	return p
}

// scheming makes the page light or dark.
func scheming(scheme string) action {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}
		_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features})
		return err
	})
}

// listen collects messages until the page is closed.
func (p *tab) listen(messages iter.Seq2[chromedp.ConsoleMessage, error]) {
	for message, err := range messages {
		if err != nil {
			return
		}
		p.mu.Lock()
		p.problems = append(p.problems, message.String())
		p.mu.Unlock()
	}
}

func (p *tab) do(actions ...action) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, actions...); err != nil {
		p.t.Fatal(err)
	}
}

// run returns the value of an action.
func run[T any](p *tab, a chromedp.Action[T]) T {
	p.t.Helper()
	value, err := chromedp.Run(p.ctx, a)
	if err != nil {
		p.t.Fatal(err)
	}
	return value
}

// eval returns the value of an expression as text.
func (p *tab) eval(expression string) string {
	p.t.Helper()
	return run(p, chromedp.Evaluate[string](fmt.Sprintf("String(%s)", expression)))
}

// await returns the text that a promise gives.
func (p *tab) await(expression string) string {
	p.t.Helper()
	return run(p, chromedp.Evaluate[string](expression, chromedp.EvalAwaitPromise))
}

// becomes waits until an expression has a value.
func (p *tab) becomes(expression, want string) {
	p.t.Helper()
	quoted, _ := json.Marshal(want) // a string of JavaScript
	_, err := chromedp.Run(p.ctx, chromedp.Poll[bool](fmt.Sprintf("String(%s) === %s", expression, quoted), chromedp.WithPollingTimeout(time.Minute)))
	if err != nil {
		p.t.Errorf("%s is %q, want %q (%v)", expression, p.eval(expression), want, err)
	}
}

// text returns what a reader sees in an element.
func (p *tab) text(selector string) string {
	p.t.Helper()
	return strings.Join(strings.Fields(p.eval(fmt.Sprintf("document.querySelector(%q).innerText", selector))), " ")
}

// fits checks that nothing is wider than the window, and that the console is empty.
func (p *tab) fits(name string) {
	p.t.Helper()
	if wide := p.eval(`document.documentElement.scrollWidth - window.innerWidth`); wide != "0" {
		p.t.Errorf("%s: the page is %s pixels wider than the window", name, wide)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, problem := range p.problems {
		p.t.Errorf("%s: %s", name, problem)
	}
	if *browsertest.Pictures != "" {
		png := run(p, chromedp.FullScreenshot(100))
		if err := os.WriteFile(filepath.Join(*browsertest.Pictures, strings.ReplaceAll(name, " ", "-")+".png"), png, 0o644); err != nil {
			p.t.Error(err)
		}
	}
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
				p.becomes(stepName, "step 4 of 4")
				p.slider(t)
				p.pointer(t)
				p.keyboard(t)
				p.heads(t)
				p.fits(name)
			})
		}
	}
}

func (p *tab) slider(t *testing.T) {
	p.do(chromedp.SetValue(chromedp.ID("step"), "2"))
	p.eval(`document.getElementById("step").dispatchEvent(new Event("input"))`)
	p.becomes(stepName, "step 2 of 4")
	p.becomes(`document.querySelector("#details tr.chosen th").textContent`, "2")
	p.do(chromedp.Click(chromedp.CSS("#play")))
	p.becomes(`document.getElementById("play").getAttribute("aria-label")`, "pause")
	p.becomes(stepName, "step 4 of 4")
	p.becomes(`document.getElementById("play").getAttribute("aria-label")`, "play") // it stops at the last step
}

// place scrolls a position into view and returns where its label is in the window.
func (p *tab) place(stack, position int) (x, y float64) {
	p.t.Helper()
	at := run(p, chromedp.Evaluate[[]float64](fmt.Sprintf(`(() => {
		window.scrollTo(0, document.querySelector("#steps").offsetTop - 150);
		const canvas = document.querySelector("#steps canvas").getBoundingClientRect(), pane = document.querySelector("#steps .pane");
		const label = window.tracePage.grid.blocks[%d].label(%d);
		return [canvas.left + label.x + 5 - pane.scrollLeft, canvas.top + label.y + 5 - pane.scrollTop];
	})()`, stack, position)))
	return at[0], at[1]
}

// pointer moves over a position of the decoder, which shows that position, and clicks on one of the encoder, which chooses it and its stack.
func (p *tab) pointer(t *testing.T) {
	x, y := p.place(1, 2)
	p.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x, y))
	p.becomes(chosen, "Position 3: 3")
	p.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, 2, 2))
	x, y = p.place(0, 1)
	p.do(chromedp.MouseClickXY(x, y))
	p.becomes(chosen, "Position 2: 1")
	p.becomes(`document.querySelector(".views [aria-checked=true]").textContent`, "Encoder")
	p.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, 2, 2))
}

func (p *tab) keyboard(t *testing.T) {
	p.do(chromedp.Focus(chromedp.CSS("#steps .pane")))
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
		p.do(chromedp.KeyEvent(press.key))
		p.becomes(press.expression, press.want)
	}
}

// heads chooses a head by its small matrix; the large one shows its weights.
func (p *tab) heads(t *testing.T) {
	p.eval(`document.querySelector(".thumb:nth-child(2)").click()`) // a mouse would miss it if the page moved at the same time
	p.becomes(`document.querySelector(".thumb[aria-checked=true]").textContent`, "head 1")
	p.do(chromedp.Focus(chromedp.CSS(".thumb[aria-checked=true]")), chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowLeft), chromedp.KeyEvent(kb.ArrowLeft))
	p.becomes(`document.activeElement.textContent`, "head 1") // the four keys went around
	p.do(chromedp.KeyEvent(kb.ArrowRight), chromedp.Focus(chromedp.CSS("#matrix .pane")), chromedp.KeyEvent(kb.End), chromedp.KeyEvent(kb.ArrowRight))
	p.becomes(`document.querySelector(".thumb[aria-checked=true]").textContent + [...document.querySelectorAll("#matrix-text bdi")].map(b => b.textContent)`, "head 2‘3’,‘∅’")
	step := int(p.eval(stepName)[len("step ")] - '1')
	want := withReadouts().Decoder.Attention[step][1][2][0]
	var got float64
	_, text, _ := strings.Cut(p.text("#matrix-text"), "gives ")
	if _, err := fmt.Sscanf(text, "%f to ‘∅’ (start)", &got); err != nil || math.Abs(got-want) > 0.01 { // two decimals of a number of 8 bits
		t.Errorf("%q, want %g", p.text("#matrix-text"), want)
	}
}

// A finger chooses positions and heads.
func TestPageTouch(t *testing.T) {
	p := open(t, browsertest.Start(t), withReadouts(), 400, "light", "")
	p.do(chromedp.EmulateViewport(400, 900, chromedp.EmulateTouch, chromedp.EmulateMobile))
	p.do(chromedp.TapXY(p.place(1, 2)))
	p.becomes(chosen, "Position 3: 3")
	p.do(chromedp.TapXY(p.place(0, 0)))
	p.becomes(chosen, "Position 1: 3")
	p.becomes(`document.querySelector(".views [aria-checked=true]").textContent`, "Encoder")
	p.do(chromedp.Tap(chromedp.CSS(".thumb:nth-child(3)")))
	p.becomes(`document.querySelector(".thumb[aria-checked=true]").textContent`, "head 2")
	p.fits("touch")
}

// The address holds what is shown: another page opened at it shows the same.
func TestPageLink(t *testing.T) {
	browser := browsertest.Start(t)
	p := open(t, browser, withReadouts(), 1280, "light", "#view=decoder&step=2&head=2&position=3&cells=readouts&colours=normalized")
	same := func() {
		t.Helper()
		p.becomes(stepName, "step 2 of 4")
		p.becomes(chosen, "Position 3: 3")
		p.becomes(`document.querySelector(".thumb[aria-checked=true]").textContent`, "head 2")
		p.becomes(`document.querySelector(".views [aria-checked=true]").textContent`, "Decoder, own text")
		p.becomes(`document.getElementById("cells").value + document.getElementById("normalize").checked`, "readoutstrue")
	}
	same()
	p.do(chromedp.Click(chromedp.CSS(".views button:nth-child(1)")), chromedp.Focus(chromedp.CSS("#steps .pane")), chromedp.KeyEvent(kb.Home), chromedp.KeyEvent("["))
	p.becomes(hash, "#view=encoder&step=2&head=1&position=1&cells=readouts&colours=normalized")
	p.eval(`location.hash = "#view=decoder&step=2&head=2&position=3&cells=readouts&colours=normalized"`)
	same()
	for _, bad := range []string{"#", "#step=99999&position=-1&head=x&view=<b>", "#view=decoder&step=1e9&cells=constructor", "#%E0%A4%A"} {
		p := open(t, browser, withReadouts(), 400, "light", bad)
		p.fits(bad[:1])
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
			p.fits(fmt.Sprintf("%s %d", name, width))
			if got := p.eval(`document.querySelectorAll("#details bdi, #details script").length > 0 && !document.querySelector("main script, main img")`); got != "true" {
				t.Errorf("%s: markup", name)
			}
			if p.eval(`[...document.querySelectorAll(".pane canvas")].filter(c => c.offsetWidth).every(c =>
				new Set(new Uint32Array(c.getContext("2d").getImageData(0, 0, c.width, c.height).data.buffer)).size > 2)`) != "true" {
				t.Errorf("%s: a canvas is empty", name)
			}
		}
	}
}

// The figures are saved as well-formed SVG with every token, and as PNG.
func TestPageSaves(t *testing.T) {
	p := open(t, browsertest.Start(t), hostile(), 1280, "light", "")
	for _, figure := range []string{"#steps", "#matrix"} {
		catch := func(n int, read string) string {
			return p.await(fmt.Sprintf(`new Promise(done => {
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

// TestPageSpeed reports, in its long form, the size of the page of 400 positions, 12 steps and 8 heads, the time to the first paint, and frames
// per second while the slider moves.
func TestPageSpeed(t *testing.T) {
	if !longtest.Enabled() {
		t.Skip("a measurement: UT_LONG=1 go test ./viewer -run TestPageSpeed -v")
	}
	trace := long(400, 12, 8)
	var out bytes.Buffer
	if err := WriteHTML(&out, trace); err != nil {
		t.Fatal(err)
	}
	p := open(t, browsertest.Start(t), trace, 1280, "light", "")
	frames := p.await(`new Promise(done => {
		const slider = document.getElementById("step"), start = performance.now();
		let n = 0;
		const frame = () => {
			if (n++ === 120) return done(String(Math.round(120000 / (performance.now() - start))));
			slider.value = 1 + n % 12;
			slider.dispatchEvent(new Event("input"));
			requestAnimationFrame(frame);
		};
		requestAnimationFrame(frame);
	})`)
	t.Logf("%.1f MB, first paint after %s ms, %s frames per second", float64(out.Len())/1e6,
		p.eval(`Math.round(performance.getEntriesByName("first-contentful-paint")[0].startTime)`), frames)
}
