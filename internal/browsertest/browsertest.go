// Package browsertest opens pages in a headless browser, for tests. A test is skipped, by name, where no browser is installed.
package browsertest

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"iter"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// Pictures is the flag -pictures.
var Pictures = flag.String("pictures", "", "`folder` for screenshots of the pages that are tested")

// browsers lists the names of Chromium.
var browsers = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "headless-shell"}

// Start returns the context of a running browser.
func Start(t testing.TB) context.Context {
	t.Helper()
	for _, name := range browsers {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU)
		ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
		t.Cleanup(cancel)
		ctx, cancel = chromedp.NewContext(ctx)
		t.Cleanup(cancel)
		if err := chromedp.Do(ctx); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		return ctx
	}
	t.Skipf("no browser: none of %s is installed", strings.Join(browsers, ", "))
	return nil
}

// A Tab is a page in the browser. It collects what the console shows, and uncaught exceptions.
type Tab struct {
	t        testing.TB
	ctx      context.Context
	mu       sync.Mutex
	problems []string
}

// An Action is one of chromedp without a value.
type Action = chromedp.Action[chromedp.Void]

// Open loads a page as [Visit] does, and waits until its root has data-ready=true.
func Open(t testing.TB, browser context.Context, url string, width int64, scheme string) *Tab {
	t.Helper()
	p := Visit(t, browser, url, width, scheme)
	p.Do(chromedp.WaitReady(chromedp.CSS("html[data-ready=true]")))
	return p
}

// OpenFile opens a page that is a file, at a fragment such as "#step=2", or "".
func OpenFile(t testing.TB, browser context.Context, path, fragment string, width int64, scheme string) *Tab {
	t.Helper()
	return Open(t, browser, (&url.URL{Scheme: "file", Path: path}).String()+fragment, width, scheme)
}

// Visit loads a page in a window of a width, in the color scheme "light" or "dark".
func Visit(t testing.TB, browser context.Context, url string, width int64, scheme string) *Tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 2*time.Minute) // a page that hangs; nothing else takes as long
	t.Cleanup(cancel)
	p := &Tab{t: t, ctx: ctx}
	p.Do(chromedp.EmulateViewport(width, 900), scheming(scheme))
	messages := chromedp.Console(ctx)
	go p.listen(messages)
	p.Do(chromedp.Navigate(url))
	return p
}

// scheming makes the page light or dark.
func scheming(scheme string) Action {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}
		_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features})
		return err
	})
}

// listen collects messages until the page is closed.
func (p *Tab) listen(messages iter.Seq2[chromedp.ConsoleMessage, error]) {
	for message, err := range messages {
		if err != nil {
			return
		}
		p.mu.Lock()
		p.problems = append(p.problems, message.String())
		p.mu.Unlock()
	}
}

// Problems returns what the console has shown so far, and uncaught exceptions.
func (p *Tab) Problems() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.problems)
}

// Do does actions.
func (p *Tab) Do(actions ...Action) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, actions...); err != nil {
		p.t.Fatal(err)
	}
}

// Value returns the value of an action.
func Value[T any](p *Tab, a chromedp.Action[T]) T {
	p.t.Helper()
	value, err := chromedp.Run(p.ctx, a)
	if err != nil {
		p.t.Fatal(err)
	}
	return value
}

// Eval returns the value of an expression of JavaScript as text.
func (p *Tab) Eval(expression string) string {
	p.t.Helper()
	return Value(p, chromedp.Evaluate[string](fmt.Sprintf("String(%s)", expression)))
}

// Await returns the text that a promise of JavaScript gives.
func (p *Tab) Await(promise string) string {
	p.t.Helper()
	return Value(p, chromedp.Evaluate[string](promise, chromedp.EvalAwaitPromise))
}

// Becomes waits until an expression has a value. The test ends if it does not.
func (p *Tab) Becomes(expression, want string) {
	p.t.Helper()
	quoted, _ := json.Marshal(want) // a string of JavaScript
	_, err := chromedp.Run(p.ctx, chromedp.Poll[bool](fmt.Sprintf("String(%s) === %s", expression, quoted), chromedp.WithPollingTimeout(time.Minute)))
	if err != nil {
		p.t.Fatalf("%s is %q, want %q (%v)", expression, p.Eval(expression), want, err)
	}
}

// Text returns what a reader sees in an element.
func (p *Tab) Text(selector string) string {
	p.t.Helper()
	return strings.Join(strings.Fields(p.Eval(fmt.Sprintf("document.querySelector(%q).innerText", selector))), " ")
}

// Fits checks that nothing is wider than the window and that the console is empty, and takes a screenshot if -pictures names a folder.
func (p *Tab) Fits(name string) {
	p.t.Helper()
	if wide := p.Eval(`document.documentElement.scrollWidth - window.innerWidth`); wide != "0" {
		p.t.Errorf("%s: the page is %s pixels wider than the window", name, wide)
	}
	for _, problem := range p.Problems() {
		p.t.Errorf("%s: %s", name, problem)
	}
	if *Pictures != "" {
		png := Value(p, chromedp.FullScreenshot(100))
		if err := os.WriteFile(filepath.Join(*Pictures, strings.ReplaceAll(name, " ", "-")+".png"), png, 0o644); err != nil {
			p.t.Error(err)
		}
	}
}
