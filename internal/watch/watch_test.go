package watch_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"universal-transformer/internal/browsertest"
	"universal-transformer/internal/tensorboard"
	"universal-transformer/internal/watch"
	"universal-transformer/runlog"
)

// write writes rows of training and validation.
func write(log *runlog.Run, from, to int64) error {
	for step := from; step <= to; step++ {
		for _, split := range []string{"training", "validation"} {
			row := map[string]any{"step": step, "split": split, "loss": 4 / float64(step), "token_accuracy": 1 - 1/float64(step), "tokens": 100, "encoder_ponder": 0, "decoder_ponder": 2.5}
			if err := log.AppendMetrics(row); err != nil {
				return err
			}
			e := tensorboard.Event{Step: step, Scalars: []tensorboard.Scalar{{Tag: split + "/loss", Value: 1}, {Tag: runlog.SecondsTag, Value: 60 * float32(step)}}}
			if err := log.AppendEvent(e); err != nil {
				return err
			}
		}
	}
	return nil
}

func unfinished() string { return "interrupted" }

// writer writes rows in a process of its own and then waits to be killed.
func writer(t *testing.T, dir, rows string) *exec.Cmd {
	t.Helper()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), "WATCH_WRITE="+dir, "WATCH_ROWS="+rows)
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := command.StdinPipe(); err != nil { // open as long as this process
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	if _, err := io.ReadFull(out, make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	return command
}

// TestMain runs the tests or, as the process of writer, writes rows.
func TestMain(m *testing.M) {
	dir := os.Getenv("WATCH_WRITE")
	if dir == "" {
		os.Exit(m.Run())
	}
	if err := writeRows(dir, os.Getenv("WATCH_ROWS")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Stdout.WriteString("done\n")
	_, _ = io.Copy(io.Discard, os.Stdin) // until it is killed; a select without cases would end a process without cgo, as a deadlock
}

// writeRows writes the rows from one step to another, "1 5", to a run, which it continues before the first of them if there is one.
func writeRows(dir, rows string) error {
	var from, to int64
	if _, err := fmt.Sscan(rows, &from, &to); err != nil {
		return err
	}
	log, err := runlog.Create(dir, map[string]int{"a": 1})
	if err != nil {
		if log, err = runlog.Resume(dir); err != nil {
			return err
		}
		if err := log.Truncate(from - 1); err != nil {
			return err
		}
	}
	return write(log, from, to)
}

// The page shows new rows of several runs as they are written, follows a run that is killed and resumed from an earlier step, shows curves over
// updates and time, and can be used with the keyboard, in small and large windows, light and dark, without a message on the console.
// Caught when planted: rows of the other run, rows before a reset that stay, the time of updates in place of seconds, the value of the update before.
func TestPageInBrowser(t *testing.T) {
	browser := browsertest.Start(t)
	for _, width := range []int64{1280, 400} {
		for _, scheme := range []string{"light", "dark"} {
			t.Run(fmt.Sprintf("%d %s", width, scheme), func(t *testing.T) {
				first, second := filepath.Join(t.TempDir(), "first"), filepath.Join(t.TempDir(), "a <b>second</b> run")
				killed := writer(t, first, "1 5")
				server := httptest.NewServer((&watch.Server{Every: 20 * time.Millisecond, Runs: []watch.Run{{"first", first, 8, unfinished}, {"<b>second</b>", second, 9, unfinished}}}).Handler())
				t.Cleanup(server.Close)
				p := browsertest.Open(t, browser, server.URL, width, scheme)
				const drawn = `document.querySelector("#charts").dataset.drawn`
				p.Becomes(drawn, "10 0")
				p.Becomes(`document.querySelector("#problem").hidden`, "false") // the second run does not exist yet
				if got := p.Text("#problem"); !strings.Contains(got, "a <b>second</b> run is not a run directory") {
					t.Errorf("problem %q", got)
				}
				writer(t, second, "1 3")
				p.Becomes(drawn, "10 6")
				p.Becomes(`document.querySelector("#problem").hidden`, "true")
				_ = killed.Process.Kill()
				_ = killed.Wait()
				p.Becomes(`document.querySelector("#runs li:first-child small").innerText`, "interrupted, update 5 of 8")
				writer(t, first, "4 8") // from the checkpoint of update 3
				p.Becomes(drawn, "16 6")
				p.Becomes(`document.querySelector("#runs li:first-child small").innerText.replace("● ", "")`, "running, update 8 of 8")
				if got, want := p.Text("#runs"), "first ● running, update 8 of 8 <b>second</b> ● running, update 3 of 9"; strings.ReplaceAll(got, "● ", "") != strings.ReplaceAll(want, "● ", "") {
					t.Errorf("runs %q, want %q", got, want)
				}
				if got := p.Eval(`[...document.querySelectorAll(".chart h3")].map(h => h.textContent)`); got != "loss,token accuracy,decoder ponder, steps per position" {
					t.Errorf("charts %q", got)
				}
				p.Fits(fmt.Sprintf("watch %d %s", width, scheme))
				useCharts(t, p)
				p.Fits(fmt.Sprintf("watch %d %s, used", width, scheme))
			})
		}
	}
}

// Of damaged metrics the page shows what is before the damage, and names the file; a long name does not widen the page.
// Caught when planted: no rows of a damaged run.
func TestDamagedInBrowser(t *testing.T) {
	browser := browsertest.Start(t)
	dir, name := filepath.Join(t.TempDir(), "run"), strings.Repeat("x", 120)
	log, err := runlog.Create(dir, map[string]int{"a": 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(write(log, 1, 4), log.Close()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "metrics.jsonl")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.Replace(content, []byte(`"step":3`), []byte(`"step":4`), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer((&watch.Server{Every: 20 * time.Millisecond, Runs: []watch.Run{{name, dir, 4, func() string { return "finished" }}}}).Handler())
	t.Cleanup(server.Close)
	for _, width := range []int64{1280, 400} {
		p := browsertest.Open(t, browser, server.URL, width, "light")
		p.Becomes(`document.querySelector("#charts").dataset.drawn`, "4")
		p.Becomes(`document.querySelector("#problem").innerText.endsWith("metrics.jsonl:6: damaged: its content does not match its checksum")`, "true")
		p.Becomes(`document.querySelector("#runs small").innerText`, "finished, update 2 of 4")
		p.Fits(fmt.Sprintf("watch damaged %d", width))
	}
}

// useCharts uses the controls.
func useCharts(t *testing.T, p *browsertest.Tab) {
	t.Helper()
	const caption = `.chart figcaption`
	if got, want := p.Text(caption), "first training 0.5 first validation 0.5 <b>second</b> training 1.333 <b>second</b> validation 1.333"; got != want {
		t.Errorf("newest values %q, want %q", got, want)
	}
	p.Do(chromedp.Focus(chromedp.CSS(".chart svg")))
	for range 21 { // just beyond the middle, 4.675 updates; the loss of update 5 is 4/5
		p.Do(chromedp.KeyEvent(kb.ArrowRight))
	}
	if got, want := p.Text(caption), "update 5 first training 0.8 first validation 0.8 <b>second</b> training 1.333 (at update 3) <b>second</b> validation 1.333 (at update 3)"; got != want {
		t.Errorf("in the middle %q, want %q", got, want)
	}
	p.Do(chromedp.Focus(chromedp.CSS(`[data-axis="updates"]`)), chromedp.KeyEvent(kb.ArrowRight))
	p.Becomes(`document.querySelector("[data-axis=time]").getAttribute("aria-checked")`, "true")
	p.Becomes(`[...document.querySelectorAll(".chart:first-child text")].at(-1).textContent`, "8 min")
	p.Do(chromedp.Click(chromedp.CSS("#runs li:nth-child(2) button")))
	p.Becomes(`document.querySelector(".chart").dataset.points`, "16")
	p.Do(chromedp.Click(chromedp.CSS("#log")))
	p.Becomes(`document.querySelectorAll(".chart:nth-child(2) path").length`, "2")
	p.Becomes(`document.querySelector(".chart:nth-child(2)").dataset.points`, "14") // the accuracy of the first update is 0
	p.Do(chromedp.SetValue(chromedp.ID("smooth"), "0.5"))
	p.Eval(`document.getElementById("smooth").dispatchEvent(new Event("input"))`)
	p.Becomes(`document.querySelectorAll(".chart:first-child path.smooth").length`, "1")
}

// Only this machine's names are answered, and only what there is.
// Caught when planted: any name of a host.
func TestRequests(t *testing.T) {
	handler := (&watch.Server{Every: time.Second}).Handler()
	for _, c := range []struct {
		host, method, path string
		want               int
	}{
		{"localhost:8090", "GET", "/", 200}, {"127.0.0.1:1", "GET", "/page.css", 200}, {"[::1]:9", "GET", "/page.js", 200}, {"localhost", "GET", "/", 200},
		{"evil.example", "GET", "/", 403}, {"10.0.0.1:8090", "GET", "/", 403}, {"localhost.evil.example", "GET", "/", 403}, {"", "GET", "/", 403},
		{"localhost", "GET", "/../../etc/passwd", 404}, {"localhost", "GET", "/metrics.jsonl", 404}, {"localhost", "POST", "/", 405},
	} {
		r := httptest.NewRequest(c.method, "http://localhost"+c.path, nil)
		r.Host = c.host
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if code := w.Code; code != c.want && !(c.want == 404 && code >= 301 && code <= 308) {
			t.Errorf("%s %s of %q: %d, want %d", c.method, c.path, c.host, code, c.want)
		}
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest("GET", "http://localhost/", nil))
	if policy := w.Header().Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'; script-src 'self';") {
		t.Errorf("policy %q", policy)
	}
	if body := w.Body.String(); strings.Contains(body, "http://") || strings.Contains(body, "https://") {
		t.Error("the page names another server")
	}
}

// A request is answered although its body never arrives. Caught when planted: a server that waits for the body.
func TestBodyIsNotAwaited(t *testing.T) {
	web := httptest.NewServer((&watch.Server{Every: time.Second}).Handler())
	defer web.Close()
	for request, want := range map[string]int{"POST / HTTP/1.1\r\nHost: localhost": 405, "GET / HTTP/1.1\r\nHost: localhost": 200, "GET / HTTP/1.1\r\nHost: evil.example": 403} {
		connection, err := net.Dial("tcp", web.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer connection.Close()
		if err := connection.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(connection, request+"\r\nContent-Length: 3\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		response, err := http.ReadResponse(bufio.NewReader(connection), nil)
		if err != nil {
			t.Errorf("%q: %v", request, err)
			continue
		}
		response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("%q: %d, want %d", request, response.StatusCode, want)
		}
	}
}
