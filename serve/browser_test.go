package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"universal-transformer/internal/browsertest"
)

// A tab is the page in the browser. It collects what the console shows, and uncaught exceptions.
type tab struct {
	t        *testing.T
	ctx      context.Context
	mu       sync.Mutex
	problems []string
}

type action = chromedp.Action[chromedp.Void]

// visit opens the page of a server in a window of a width, light or dark.
func visit(t *testing.T, browser context.Context, web *httptest.Server, width int64, scheme string) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 2*time.Minute) // a page that hangs; nothing else takes as long
	t.Cleanup(cancel)
	p := &tab{t: t, ctx: ctx}
	p.do(chromedp.EmulateViewport(width, 900), chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}
		_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features})
		return err
	}))
	messages := chromedp.Console(ctx)
	go p.listen(messages)
	p.do(chromedp.Navigate(web.URL+"/"), chromedp.WaitReady(chromedp.CSS("main")))
	return p
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

// eval returns the value of an expression as text.
func (p *tab) eval(expression string) string {
	p.t.Helper()
	value, err := chromedp.Run(p.ctx, chromedp.Evaluate[string](fmt.Sprintf("String(%s)", expression)))
	if err != nil {
		p.t.Fatal(err)
	}
	return value
}

// becomes waits until an expression has a value.
func (p *tab) becomes(expression, want string) {
	p.t.Helper()
	quoted, _ := json.Marshal(want) // a string of JavaScript
	_, err := chromedp.Run(p.ctx, chromedp.Poll[bool](fmt.Sprintf("String(%s) === %s", expression, quoted), chromedp.WithPollingTimeout(time.Minute)))
	if err != nil {
		p.t.Fatalf("%s is %q, want %q (%v)", expression, p.eval(expression), want, err)
	}
}

// text is what a reader sees in the element with an ID.
func text(id string) string { return fmt.Sprintf("document.getElementById(%q).innerText.trim()", id) }

// chooses selects an option by its text or value.
func (p *tab) chooses(id, option string) {
	p.t.Helper()
	p.eval(fmt.Sprintf(`(() => { const s = document.getElementById(%q); s.value = [...s.options].find(o => o.text === %q || o.value === %[2]q).value;
		s.dispatchEvent(new Event("change")); return s.value; })()`, id, option))
}

// asks replaces the input by a text, as if it was typed, and waits for the answer and its trace.
func (p *tab) asks(input string) {
	p.t.Helper()
	before := p.count("answered")
	p.do(chromedp.SetValue(chromedp.ID("input"), input))
	p.eval(`document.getElementById("input").dispatchEvent(new Event("input"))`)
	p.becomes(`Number(document.documentElement.dataset.answered || 0) > `+strconv.Itoa(before), "true")
}

// count returns how many answers or traces the page has shown.
func (p *tab) count(what string) int {
	p.t.Helper()
	n, err := strconv.Atoi(p.eval(fmt.Sprintf("document.documentElement.dataset.%s || 0", what)))
	if err != nil {
		p.t.Fatal(err)
	}
	return n
}

// agrees checks, after the next frames, that the texts beside the figures are those of the trace that is shown.
func (p *tab) agrees() {
	p.t.Helper()
	_, err := chromedp.Run(p.ctx, chromedp.Evaluate[string](`new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(""))))`, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatal(err)
	}
	const shown = `document.getElementById("step-name").textContent + document.querySelector("#details h3").textContent`
	if got, want := p.eval(shown), p.eval(`(a => `+"`step ${a.step + 1} of ${a.state.stack.steps}Position ${a.position + 1}: ${a.state.stack.tokens[a.position]}`"+`)(window.tracePage)`); got != want {
		p.t.Errorf("the texts are %q, those of the trace %q", got, want)
	}
}

// fits checks that nothing is wider than the window, and that the console is empty.
func (p *tab) fits(name string) {
	p.t.Helper()
	if wide := p.eval(`document.documentElement.scrollWidth - window.innerWidth`); wide != "0" {
		p.t.Errorf("%s: the page is %s pixels wider than the window", name, wide)
	}
	if *browsertest.Pictures != "" {
		png, err := chromedp.Run(p.ctx, chromedp.FullScreenshot(100))
		if err == nil {
			err = os.WriteFile(filepath.Join(*browsertest.Pictures, strings.ReplaceAll(name, " ", "-")+".png"), png, 0o644)
		}
		if err != nil {
			p.t.Error(err)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, problem := range p.problems {
		p.t.Errorf("%s: %s", name, problem)
	}
}

// served are runs of several kinds: characters, a language of programs, sentences of subwords, stories.
var served = []string{"../models/reverse", "../models/program", "../models/translation", "../models/babi"}

// What is typed is answered, with the steps of each token and the trace, by models of every kind; the sliders change the trace; the keyboard
// suffices; windows small and large, light and dark; nothing on the console.
// Caught when planted: steps of the token before; an exit that is not sent; a slider that does nothing; a second answer added to the first.
func TestPage(t *testing.T) {
	browser := browsertest.Start(t)
	_, web := opened(t, Options{}, served...)
	for _, width := range []int64{1280, 400} {
		for _, scheme := range []string{"light", "dark"} {
			t.Run(fmt.Sprintf("%d %s", width, scheme), func(t *testing.T) {
				t.Parallel() // most of the time is waiting for pauses while somebody types
				p := visit(t, browser, web, width, scheme)
				p.becomes(`document.documentElement.dataset.ready`, "true")
				for _, one := range []struct{ model, input, answer string }{
					{"reverse", "31415", "51413"}, {"program", "(123+456)+789", "1368"}, {"translation", "Two dogs are playing in the snow.", "Zwei Hunde spielen im Schnee."},
					{"babi", "Mary moved to the bathroom.\nJohn went to the hallway.\nWhere is Mary?", "bathroom"},
				} {
					p.chooses("model", one.model)
					p.asks(one.input)
					p.becomes(text("answer"), one.answer)
					p.agrees()
					p.fits(fmt.Sprintf("page %s %d %s", one.model, width, scheme))
				}
				p.exits(t)
				p.keyboard(t)
				p.fits(fmt.Sprintf("page %d %s", width, scheme))
			})
		}
	}
}

// exits moves the sliders of reverse: the trace is that of the model with this exit.
func (p *tab) exits(t *testing.T) {
	p.chooses("model", "reverse")
	p.asks("31415")
	p.becomes(`[...document.querySelectorAll("#ponder .n")].map(n => n.textContent)`, p.eval(`window.tracePage.data.stacks[1].updates`)) // what was streamed is what is traced
	p.becomes(text("changed"), "That is the right answer.")
	p.chooses("rule", "fixed")
	p.becomes(text("setting-name"), "5 steps")
	p.becomes(`document.querySelector("#step-name").textContent`, "step 5 of 5")
	p.eval(`(() => { const s = document.getElementById("setting"); s.value = 0; s.dispatchEvent(new Event("input")); })()`)
	p.becomes(`document.querySelector("#step-name").textContent`, "step 1 of 1")
	p.becomes(`document.getElementById("changed").textContent.includes("With 1 fixed steps, the model answers")`, "true")
	before := p.count("traced")
	p.chooses("rule", "")
	p.becomes(`document.documentElement.dataset.traced > `+strconv.Itoa(before), "true")
	p.becomes(text("changed"), "That is the right answer.")
}

// keyboard types an input, answers with Enter, goes to the slider, and to the figures.
func (p *tab) keyboard(t *testing.T) {
	before := p.count("answered")
	p.eval(`document.getElementById("typing").click()`) // off: only Enter answers
	p.eval(`document.getElementById("input").value = ""`)
	p.do(chromedp.Focus(chromedp.ID("input")), chromedp.KeyEvent("27"), chromedp.KeyEvent(kb.Enter))
	p.becomes(`document.documentElement.dataset.answered > `+strconv.Itoa(before), "true")
	p.becomes(text("answer"), "72")
	p.chooses("rule", "limit")
	p.do(chromedp.Focus(chromedp.ID("setting")), chromedp.KeyEvent(kb.Home))
	p.becomes(text("setting-name"), "1 step")
	p.becomes(`document.querySelector("#step-name").textContent`, "step 1 of 1")
	p.do(chromedp.Focus(chromedp.CSS("#steps .pane")), chromedp.KeyEvent(kb.Home), chromedp.KeyEvent(kb.ArrowRight))
	p.becomes(`document.querySelector("#details h3").textContent`, "Position 2: 2")
	p.chooses("rule", "")
	p.eval(`document.getElementById("typing").click()`)
}

// Hostile inputs are shown as text, mistakes are said, and what is wrong with an input disappears with the next one.
func TestPageMistakes(t *testing.T) {
	browser := browsertest.Start(t)
	_, web := opened(t, Options{}, served...)
	p := visit(t, browser, web, 400, "light")
	p.becomes(`document.documentElement.dataset.ready`, "true")
	p.asks("12<script>alert(1)</script>")
	p.becomes(text("status")+`.includes("unknown token")`, "true")
	p.becomes(`document.getElementById("why").hidden`, "true")
	p.chooses("model", "translation")
	p.asks(`<img src=x onerror="document.title='broken'"> a "dog" & </b>`)
	p.becomes(`document.getElementById("why").hidden`, "false")
	p.becomes(`document.title + document.querySelectorAll("main img, main script").length`, "ut serve0")
	p.chooses("model", "babi")
	p.asks("Mary went home.")
	p.becomes(text("status")+`.includes("question")`, "true")
	p.chooses("model", "program")
	p.do(chromedp.Click(chromedp.ID("example")))
	p.becomes(text("changed"), "That is the right answer.")
	p.mu.Lock()
	for _, problem := range p.problems {
		if !strings.Contains(problem, "400 (Bad Request)") { // the browser reports every status
			t.Error(problem)
		}
	}
	p.mu.Unlock()
}

// With a token, the page asks for it, and keeps it.
func TestPageAsksForToken(t *testing.T) {
	browser := browsertest.Start(t)
	_, web := opened(t, Options{Token: "secret"}, served[0])
	p := visit(t, browser, web, 1280, "dark")
	p.do(chromedp.WaitVisible(chromedp.ID("token")))
	for _, token := range []string{"wrong", "secret"} {
		p.do(chromedp.SetValue(chromedp.ID("token"), token), chromedp.Focus(chromedp.ID("token")), chromedp.KeyEvent(kb.Enter))
	}
	p.becomes(`document.documentElement.dataset.ready`, "true")
	p.asks("123")
	p.becomes(text("answer"), "321")
	p.do(chromedp.Reload(), chromedp.WaitVisible(chromedp.ID("input")))
}
