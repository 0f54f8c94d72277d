package serve

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"universal-transformer/internal/browsertest"
)

// A tab is the page of a server in the browser.
type tab struct {
	*browsertest.Tab
	t *testing.T
}

// visit opens the page of a server in a window of a width, light or dark.
func visit(t *testing.T, browser context.Context, web *httptest.Server, width int64, scheme string) tab {
	t.Helper()
	return tab{browsertest.Visit(t, browser, web.URL+"/", width, scheme), t}
}

// text is what a reader sees in the element with an ID.
func text(id string) string { return fmt.Sprintf("document.getElementById(%q).innerText.trim()", id) }

// chooses selects an option by its text or value.
func (p tab) chooses(id, option string) {
	p.t.Helper()
	p.Eval(fmt.Sprintf(`(() => { const s = document.getElementById(%q); s.value = [...s.options].find(o => o.text === %q || o.value === %[2]q).value;
		s.dispatchEvent(new Event("change")); return s.value; })()`, id, option))
}

// asks replaces the input by a text, as if it was typed, and waits for the answer and its trace.
func (p tab) asks(input string) {
	p.t.Helper()
	before := p.count("answered")
	p.Do(chromedp.SetValue(chromedp.ID("input"), input))
	p.Eval(`document.getElementById("input").dispatchEvent(new Event("input"))`)
	p.Becomes(`Number(document.documentElement.dataset.answered || 0) > `+strconv.Itoa(before), "true")
}

// count returns how many answers or traces the page has shown.
func (p tab) count(what string) int {
	p.t.Helper()
	n, err := strconv.Atoi(p.Eval(fmt.Sprintf("document.documentElement.dataset.%s || 0", what)))
	if err != nil {
		p.t.Fatal(err)
	}
	return n
}

// agrees checks, after the next frames, that the texts beside the figures are those of the trace that is shown.
func (p tab) agrees() {
	p.t.Helper()
	p.Await(`new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(""))))`)
	const shown = `document.getElementById("step-name").textContent + document.querySelector("#details h3").textContent`
	if got, want := p.Eval(shown), p.Eval(`(a => `+"`step ${a.step + 1} of ${a.state.stack.steps}Position ${a.position + 1}: ${a.state.stack.tokens[a.position]}`"+`)(window.tracePage)`); got != want {
		p.t.Errorf("the texts are %q, those of the trace %q", got, want)
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
				p.Becomes(`document.documentElement.dataset.ready`, "true")
				for _, one := range []struct{ model, input, answer string }{
					{"reverse", "31415", "51413"}, {"program", "(123+456)+789", "1368"}, {"translation", "Two dogs are playing in the snow.", "Zwei Hunde spielen im Schnee."},
					{"babi", "Mary moved to the bathroom.\nJohn went to the hallway.\nWhere is Mary?", "bathroom"},
				} {
					p.chooses("model", one.model)
					p.asks(one.input)
					p.Becomes(text("answer"), one.answer)
					p.agrees()
					p.Fits(fmt.Sprintf("page %s %d %s", one.model, width, scheme))
				}
				p.exits()
				p.keyboard()
				p.Fits(fmt.Sprintf("page %d %s", width, scheme))
			})
		}
	}
}

// exits moves the sliders of reverse: the trace is that of the model with this exit.
func (p tab) exits() {
	p.chooses("model", "reverse")
	p.asks("31415")
	p.Becomes(`[...document.querySelectorAll("#ponder .n")].map(n => n.textContent)`, p.Eval(`window.tracePage.data.stacks[1].updates`)) // what was streamed is what is traced
	p.Becomes(text("changed"), "That is the right answer.")
	p.chooses("rule", "fixed")
	p.Becomes(text("setting-name"), "5 steps")
	p.Becomes(`document.querySelector("#step-name").textContent`, "step 5 of 5")
	p.Eval(`(() => { const s = document.getElementById("setting"); s.value = 0; s.dispatchEvent(new Event("input")); })()`)
	p.Becomes(`document.querySelector("#step-name").textContent`, "step 1 of 1")
	p.Becomes(`document.getElementById("changed").textContent.includes("With 1 fixed step, the model answers")`, "true")
	before := p.count("traced")
	p.chooses("rule", "")
	p.Becomes(`document.documentElement.dataset.traced > `+strconv.Itoa(before), "true")
	p.Becomes(text("changed"), "That is the right answer.")
}

// keyboard types an input, answers with Enter, goes to the slider, and to the figures.
func (p tab) keyboard() {
	before := p.count("answered")
	p.Eval(`document.getElementById("typing").click()`) // off: only Enter answers
	p.Eval(`document.getElementById("input").value = ""`)
	p.Do(chromedp.Focus(chromedp.ID("input")), chromedp.KeyEvent("27"), chromedp.KeyEvent(kb.Enter))
	p.Becomes(`document.documentElement.dataset.answered > `+strconv.Itoa(before), "true")
	p.Becomes(text("answer"), "72")
	p.chooses("rule", "limit")
	p.Do(chromedp.Focus(chromedp.ID("setting")), chromedp.KeyEvent(kb.Home))
	p.Becomes(text("setting-name"), "1 step")
	p.Becomes(`document.querySelector("#step-name").textContent`, "step 1 of 1")
	p.Do(chromedp.Focus(chromedp.CSS("#steps .pane")), chromedp.KeyEvent(kb.Home), chromedp.KeyEvent(kb.ArrowRight))
	p.Becomes(`document.querySelector("#details h3").textContent`, "Position 2: 2")
	p.chooses("rule", "")
	p.Eval(`document.getElementById("typing").click()`)
}

// Hostile inputs are shown as text, mistakes are said, and what is wrong with an input disappears with the next one.
func TestPageMistakes(t *testing.T) {
	browser := browsertest.Start(t)
	_, web := opened(t, Options{}, served...)
	p := visit(t, browser, web, 400, "light")
	p.Becomes(`document.documentElement.dataset.ready`, "true")
	p.asks("12<script>alert(1)</script>")
	p.Becomes(text("status")+`.includes("unknown token")`, "true")
	p.Becomes(`document.getElementById("why").hidden`, "true")
	p.chooses("model", "translation")
	p.asks(`<img src=x onerror="document.title='broken'"> a "dog" & </b>`)
	p.Becomes(`document.getElementById("why").hidden`, "false")
	p.Becomes(`document.title + document.querySelectorAll("main img, main script").length`, "ut serve0")
	p.chooses("model", "babi")
	p.asks("Mary went home.")
	p.Becomes(text("status")+`.includes("question")`, "true")
	p.chooses("model", "program")
	p.Do(chromedp.Click(chromedp.ID("example")))
	p.Becomes(text("changed"), "That is the right answer.")
	for _, problem := range p.Problems() {
		if !strings.Contains(problem, "400 (Bad Request)") { // the browser reports every status
			t.Error(problem)
		}
	}
}

// With a token, the page asks for it, refuses another one, and keeps it.
func TestPageAsksForToken(t *testing.T) {
	browser := browsertest.Start(t)
	_, web := opened(t, Options{Token: "secret"}, served[0])
	p := visit(t, browser, web, 1280, "dark")
	p.Do(chromedp.WaitVisible(chromedp.ID("token")))
	for _, token := range []string{"wrong", "secret"} {
		p.Becomes(text("refused"), "") // nothing was wrong yet
		p.Do(chromedp.SetValue(chromedp.ID("token"), token), chromedp.Focus(chromedp.ID("token")), chromedp.KeyEvent(kb.Enter))
		if token == "wrong" {
			p.Becomes(text("refused"), "That token is not accepted.")
			p.Eval(`document.getElementById("refused").textContent = ""`)
		}
	}
	p.Becomes(`document.documentElement.dataset.ready`, "true")
	p.asks("123")
	p.Becomes(text("answer"), "321")
	p.Becomes(text("status")+`.startsWith("3 tokens in ")`, "true") // as the usage of the API, which does not count the end
	p.Do(chromedp.Reload(), chromedp.WaitVisible(chromedp.ID("input")))
}
