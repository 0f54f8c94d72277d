// Package serve answers HTTP requests with trained models: completions in the format of the OpenAI API, scores, classes and tags, and
// traces, with metrics for Prometheus. openapi.json describes every endpoint.
//
// Requests that arrive together are decoded together, and each gets the answer that it would get alone, up to rounding (see package
// decoding). A request names one of the models that were loaded at the start; nothing in a request is used as a path.
package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gomlx/compute"
	"universal-transformer/experiment"
	"universal-transformer/pipeline"
)

// Options are the limits of a server. Zero values mean the defaults, except for Token.
type Options struct {
	Timeout    time.Duration         // for computing the answer to a request; default 1 minute
	MaxBody    int64                 // bytes of the body of a request; default 1 MiB
	MaxPrompts int                   // prompts or texts of a request, times its n; default 128
	MaxSource  int                   // tokens of a prompt or text; default 2000
	MaxTokens  int                   // tokens of an answer; default 2000
	MaxQueue   int                   // requests that wait or are computed at a time, without traces; more get status 429; default 128
	Token      string                // that clients must send as bearer token, one word of visible ASCII characters; "": none
	Extensions experiment.Extensions // types of the models that other modules define
	// Hosts are the names, without ports, that requests may have in the header Host, besides localhost and loopback addresses; "*" stands for any.
	// It keeps pages from reaching the server by a name that leads to it for them alone (DNS rebinding). Default: none for connections to a loopback
	// address if there is no Token, and otherwise any.
	Hosts []string
	// Log is called with one line when a model is reloaded or cannot be, when another checkpoint than the best one is served, at an internal error,
	// and when Serve waits for requests, also by several goroutines at once. It may be nil.
	Log func(string)
}

func (o Options) withDefaults() Options {
	o.Timeout = cmp.Or(o.Timeout, time.Minute)
	o.MaxBody = cmp.Or(o.MaxBody, 1<<20)
	o.MaxPrompts = cmp.Or(o.MaxPrompts, 128)
	o.MaxSource = cmp.Or(o.MaxSource, 2000)
	o.MaxTokens = cmp.Or(o.MaxTokens, 2000)
	o.MaxQueue = cmp.Or(o.MaxQueue, 128)
	if o.Log == nil {
		o.Log = func(string) {}
	}
	return o
}

// Upper bounds of options. That of MaxSource and MaxTokens is [pipeline.MaxTokens].
const (
	MaxBody    = 1 << 30
	MaxPrompts = 1 << 20
	MaxQueue   = 1 << 20
)

// Validate returns an error that names the first option out of range.
func (o Options) Validate() error {
	o = o.withDefaults()
	for _, field := range []struct {
		name  string
		value int64
		limit int64
	}{
		{"MaxBody", o.MaxBody, MaxBody}, {"MaxPrompts", int64(o.MaxPrompts), MaxPrompts}, {"MaxSource", int64(o.MaxSource), pipeline.MaxTokens},
		{"MaxTokens", int64(o.MaxTokens), pipeline.MaxTokens}, {"MaxQueue", int64(o.MaxQueue), MaxQueue},
	} {
		if field.value < 1 || field.value > field.limit {
			return fmt.Errorf("%s is %d: it must be 1 to %d", field.name, field.value, field.limit)
		}
	}
	if o.Timeout < 0 {
		return fmt.Errorf("Options.Timeout is %v: it must be positive", o.Timeout)
	}
	if !wellFormed(o.Token) {
		return errors.New("Options.Token must be one word of visible ASCII characters: clients cannot send others in a header")
	}
	return checkHosts(o.Hosts)
}

// wellFormed reports whether a header can have a token.
func wellFormed(token string) bool {
	return !strings.ContainsFunc(token, func(c rune) bool { return c <= ' ' || c > '~' })
}

// Server answers requests with the models of some run directories. The caller must close it.
type Server struct {
	options Options
	models  []*entry
	metrics *metrics
	active  atomic.Int64 // requests in progress
	outbox  outbox

	requests, traces queue
	tracing          chan struct{} // one for the trace that is computed and encoded
}

// Open loads the best checkpoint of each run directory. A model's name is the last element of its directory.
func Open(dirs []string, backend compute.Backend, o Options) (*Server, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	s := &Server{options: o, outbox: outbox{limit: maxUnsent}, tracing: make(chan struct{}, 1)}
	s.requests, s.traces = newQueue("requests", o.MaxQueue), newQueue("traces", maxTraces)
	s.metrics = newMetrics(s.requests.length, s.traces.length)
	if err := s.open(dirs, backend); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Server) open(dirs []string, backend compute.Backend) error {
	if len(dirs) == 0 {
		return errors.New("no run directories: name at least one")
	}
	if err := distinct(dirs); err != nil {
		return err
	}
	for _, dir := range dirs {
		e, err := newEntry(dir, backend, s)
		if err != nil {
			return err
		}
		s.models = append(s.models, e)
	}
	return nil
}

// distinct returns an error if two directories have models of the same name.
func distinct(dirs []string) error {
	seen := map[string]string{} // by name
	for _, dir := range dirs {
		name, err := nameOf(dir)
		if err != nil {
			return err
		}
		other, known := seen[name]
		if known && same(dir, other) {
			return fmt.Errorf("%s is named twice: leave one out", dir)
		}
		if known {
			return fmt.Errorf("%s and %s are both named %s: rename one of the directories", other, dir, name)
		}
		seen[name] = dir
	}
	return nil
}

// same reports whether two paths lead to the same directory.
func same(a, b string) bool {
	first, errFirst := os.Stat(a)
	second, errSecond := os.Stat(b)
	return errFirst == nil && errSecond == nil && os.SameFile(first, second)
}

// Close frees the models, after the requests that use them. Requests that come later are answered with status 503, and [Server.Follow]
// ends.
func (s *Server) Close() {
	for _, e := range s.models {
		e.close()
	}
}

// Names returns the names of the models.
func (s *Server) Names() (names []string) {
	for _, e := range s.models {
		names = append(names, e.name)
	}
	return names
}

// Limits of connections.
const (
	headerTimeout  = 10 * time.Second // until the header of a request has arrived
	bodyTimeout    = 30 * time.Second // until the whole request has arrived
	idleTimeout    = 2 * time.Minute  // between requests of a connection
	maxHeaderBytes = 1 << 16
)

// Serve answers requests until ctx ends, and then logs how many are in progress, and waits until they have their answers, but not longer
// than for computing one. It closes the listener.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	server := &http.Server{
		Handler: s.Handler(), ErrorLog: log.New(io.Discard, "", 0),
		ReadHeaderTimeout: headerTimeout, ReadTimeout: bodyTimeout, WriteTimeout: bodyTimeout + s.options.Timeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeaderBytes,
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	if n := s.active.Load(); n > 0 {
		s.options.Log(fmt.Sprintf("ending: requests in progress: %d, waiting for them at most %v", n, s.options.Timeout))
	}
	patience, cancel := context.WithTimeout(context.Background(), s.options.Timeout)
	defer cancel()
	if err := server.Shutdown(patience); err != nil {
		return errors.Join(fmt.Errorf("some requests did not end within %v", s.options.Timeout), server.Close())
	}
	return nil
}
