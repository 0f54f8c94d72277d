// Package watch serves a page with the curves of runs while they are trained. The page needs nothing but this server, which only reads the run
// directories that it was given.
package watch

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"universal-transformer/internal/charts"
	"universal-transformer/internal/curves"
	"universal-transformer/runlog"
)

//go:embed page
var pageFiles embed.FS

// maxRows is the largest number of rows of a split that an update has. More points cannot be told apart; only the first update of a long
// run has more.
const maxRows = 2000

// A Server shows runs.
type Server struct {
	Runs  []Run
	Every time.Duration // between two looks at the files
}

// A Run is one that is shown.
type Run struct {
	Name  string `json:"name"`
	Dir   string `json:"-"`
	Steps int64  `json:"steps"` // updates of its configuration
	// Status returns what it is if no process is writing it: "finished", "interrupted" and so on; "" if that cannot be read.
	Status func() string `json:"-"`
}

// An update is what the page gets about a run: the rows since the last one, and whether a process is writing the run.
type update struct {
	Run     int          `json:"run"`
	Rows    []curves.Row `json:"rows"`
	Again   bool         `json:"again"` // the rows are all that the run has
	Running bool         `json:"running"`
	Status  string       `json:"status"`  // if it is not running
	Problem string       `json:"problem"` // why the run cannot be read; "" if it can
}

// Serve answers requests until ctx ends.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	server := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second, BaseContext: func(net.Listener) context.Context { return ctx }}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Handler returns the handler of all requests.
func (s *Server) Handler() http.Handler {
	script := "(() => {\n\"use strict\";\n" + charts.Script() + file("main.js") + "})();\n"
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", fixed("text/html", file("page.html")))
	mux.HandleFunc("GET /page.css", fixed("text/css", charts.Style()+file("watch.css")))
	mux.HandleFunc("GET /page.js", fixed("text/javascript", script))
	mux.HandleFunc("GET /events", s.events)
	return local(mux)
}

func file(name string) string {
	text, err := pageFiles.ReadFile("page/" + name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(text)
}

// local rejects requests for names other than those of this machine. A page of another site may send such requests, through a name of its own that
// leads here.
func local(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		if r.ContentLength != 0 { // no handler reads a body, which the server would wait for unless the connection ends with the answer
			w.Header().Set("Connection", "close")
		}
		address, err := netip.ParseAddr(strings.Trim(host, "[]"))
		if host != "localhost" && (err != nil || !address.IsLoopback()) {
			http.Error(w, "only for this machine: use localhost", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// fixed answers with a text. The page may load what this server sends, and nothing else.
func fixed(kind, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", kind+"; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		w.Header().Set("Cache-Control", "no-cache")
		_, _ = w.Write([]byte(text))
	}
}

// events streams the runs and their updates as server-sent events: "runs" once, with all runs, and then "update".
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	send := func(event string, v any) error {
		data, err := json.Marshal(v)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event, data); err != nil {
			return err
		}
		return http.NewResponseController(w).Flush()
	}
	if send("runs", s.Runs) != nil {
		return
	}
	watched := make([]watched, len(s.Runs))
	ticker := time.NewTicker(s.Every)
	defer ticker.Stop()
	for {
		for i := range watched {
			u, changed := watched[i].look(s.Runs[i].Dir)
			if u.Run = i; changed && !u.Running {
				u.Status = s.Runs[i].Status()
			}
			if changed && send("update", u) != nil {
				return
			}
		}
		select {
		case <-r.Context().Done():
			return
		case <-ticker.C:
		}
	}
}

// watched is a run as one page knows it.
type watched struct {
	follower *curves.Follower
	sent     bool
	last     update
}

// look returns what has changed since the last look.
func (w *watched) look(dir string) (u update, changed bool) {
	var err error
	if w.follower == nil {
		if w.follower, err = curves.Follow(dir); err == nil {
			u.Again = true
		}
	}
	if err == nil {
		var again bool
		u.Rows, again, err = w.follower.Next()
		u.Again = u.Again || again
		u.Running = w.follower.InUse()
	}
	if err != nil {
		u.Problem = err.Error()
		if errors.Is(err, runlog.ErrNotRun) { // it was removed, and may come back
			w.follower = nil
		}
	}
	u.Rows = append([]curves.Row{}, curves.Thin(u.Rows, maxRows)...)
	changed = !w.sent || len(u.Rows) > 0 || u.Again || u.Running != w.last.Running || u.Problem != w.last.Problem
	w.sent, w.last = true, u
	return u, changed
}
