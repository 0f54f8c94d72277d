package serve

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"strings"
	"time"
	"unicode/utf8"
)

//go:embed openapi.json
var description []byte

// endpoint answers the requests of a path.
type endpoint struct {
	method, path string
	public       bool // needs no token
	show         http.HandlerFunc

	// compute is used instead of show by endpoints that run a model. It returns the encoded answer, or nil if it has written the answer.
	compute func(ctx context.Context, w http.ResponseWriter, body []byte) ([]byte, error)
	queue   *queue // for compute
}

func (s *Server) endpoints() []endpoint {
	return append(pageEndpoints(), []endpoint{
		{method: http.MethodGet, path: "/healthz", public: true, show: s.health},
		{method: http.MethodGet, path: "/metrics", show: s.metrics.handler().ServeHTTP},
		{method: http.MethodGet, path: "/openapi.json", show: func(w http.ResponseWriter, _ *http.Request) {
			writeJSON(w, http.StatusOK, json.RawMessage(description))
		}},
		{method: http.MethodGet, path: "/v1/models", show: s.list},
		{method: http.MethodGet, path: aModel, show: s.describe},
		{method: http.MethodPost, path: "/v1/completions", compute: s.complete, queue: &s.requests},
		{method: http.MethodPost, path: "/v1/score", compute: s.score, queue: &s.requests},
		{method: http.MethodPost, path: "/v1/classify", compute: s.classify, queue: &s.requests},
		{method: http.MethodPost, path: "/v1/trace", compute: s.trace, queue: &s.traces},
	}...)
}

// Handler answers requests. Paths are compared as they are: there are no redirects and no files.
func (s *Server) Handler() http.Handler {
	table := map[string]endpoint{}
	for _, e := range s.endpoints() {
		table[e.path] = e
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.active.Add(1)
		defer s.active.Add(-1)
		start, name := time.Now(), "other"
		answer := &response{ResponseWriter: w}
		e, known := table[r.URL.Path]
		if folder, name := path.Split(r.URL.Path); !known && name != "" && folder == path.Dir(aModel)+"/" {
			e, known = table[aModel]
		}
		if known {
			name = e.path
		}
		defer func() {
			if problem := recover(); problem != nil {
				line, _, _ := strings.Cut(fmt.Sprint(problem), "\n")
				s.options.Log(fmt.Sprintf("internal error: %s: %s", name, line))
				answer.fail(failure{status: http.StatusInternalServerError, message: "internal error"})
			}
			s.metrics.answered(name, answer.outcome(), time.Since(start))
		}()
		answer.Header().Set("X-Content-Type-Options", "nosniff")
		if err := s.admit(e, known, r); err != nil {
			leaveBody(answer, r)
			answer.fail(*err)
			return
		}
		if e.show != nil {
			leaveBody(answer, r)
			e.show(answer, r)
			return
		}
		if err := s.computed(e, answer, r); err != nil {
			answer.fail(failureOf(err))
		}
	})
}

// sameOrigin rejects requests that pages of other origins make in a browser.
var sameOrigin = http.NewCrossOriginProtection()

// admit returns why a request is rejected before its body is read, or nil.
func (s *Server) admit(e endpoint, known bool, r *http.Request) *failure {
	switch {
	case !s.hosted(r):
		return &failure{status: http.StatusForbidden, code: "host_not_allowed", message: fmt.Sprintf("the host %q is not one of this server: use localhost, 127.0.0.1 or [::1], or let the server be started with this name", shortened(hostName(r.Host)))}
	case s.options.Token != "" && !e.public && !s.authorized(r):
		return &failure{status: http.StatusUnauthorized, code: "invalid_api_key", message: "the bearer token is missing or wrong: send the header Authorization: Bearer TOKEN"}
	case !known:
		return &failure{status: http.StatusNotFound, message: "no such path: /openapi.json lists all"}
	case r.Method != e.method && !(r.Method == http.MethodHead && e.method == http.MethodGet):
		return &failure{status: http.StatusMethodNotAllowed, allow: e.method, message: fmt.Sprintf("%s needs the method %s", e.path, e.method)}
	case sameOrigin.Check(r) != nil:
		return &failure{status: http.StatusForbidden, message: "requests from pages of other origins are not answered"}
	}
	return nil
}

// leaveBody lets a request be answered whose body is not read: the connection is closed after the answer. Otherwise the server would first wait
// for up to 256 KiB of the body.
func leaveBody(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 { // -1: not known
		w.Header().Set("Connection", "close")
	}
}

// authorized compares digests, which takes the same time wherever tokens differ.
func (s *Server) authorized(r *http.Request) bool {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	got, want := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(s.options.Token))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

// computed reads the body and answers.
func (s *Server) computed(e endpoint, w http.ResponseWriter, r *http.Request) error {
	body, err := s.read(w, r)
	if err != nil {
		return err
	}
	data, err := s.queued(e, w, r, body)
	if err == nil && data != nil {
		s.outbox.send(w, data)
	}
	return err
}

// queued takes a place in the queue of an endpoint and computes an answer.
func (s *Server) queued(e endpoint, w http.ResponseWriter, r *http.Request, body []byte) ([]byte, error) {
	if err := e.queue.enter(); err != nil {
		return nil, err
	}
	defer e.queue.leave()
	ctx, cancel := context.WithTimeout(r.Context(), s.options.Timeout)
	defer cancel()
	data, err := e.compute(ctx, w, body)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, s.late("ask for less, or try again later")
	}
	return data, err
}

// late returns the failure of a request whose time is over, with what the client can do.
func (s *Server) late(advice string) failure {
	return failure{status: http.StatusGatewayTimeout, code: "timeout", message: fmt.Sprintf("no answer within %v: %s", s.options.Timeout, advice)}
}

// read returns the body of a request, which must be UTF-8, not compressed, and without a byte order mark.
func (s *Server) read(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	for _, coding := range r.Header.Values("Content-Encoding") {
		if !strings.EqualFold(coding, "identity") {
			leaveBody(w, r)
			return nil, failure{status: http.StatusUnsupportedMediaType, message: fmt.Sprintf("Content-Encoding is %q: send the body as it is, without this header", shortened(coding))}
		}
	}
	tooLong := failure{status: http.StatusRequestEntityTooLarge, message: fmt.Sprintf("the body has more than %d bytes", s.options.MaxBody)}
	if r.ContentLength > s.options.MaxBody {
		leaveBody(w, r)
		return nil, tooLong
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.options.MaxBody))
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		return nil, tooLong
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, failure{status: http.StatusRequestTimeout, message: "the body did not arrive in time"}
	case err != nil:
		return nil, failure{status: http.StatusBadRequest, message: "the body could not be read"}
	case bytes.HasPrefix(body, []byte("\ufeff")), bytes.HasPrefix(body, []byte("\xff\xfe")), bytes.HasPrefix(body, []byte("\xfe\xff")):
		return nil, failure{status: http.StatusBadRequest, message: "the body begins with a byte order mark: send UTF-8 without one"}
	case !utf8.Valid(body):
		return nil, failure{status: http.StatusBadRequest, message: "the body is not UTF-8"}
	}
	return body, nil
}
