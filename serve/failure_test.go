package serve

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// interrupted is a request whose first piece of an answer makes something happen: the end of its context with an error, or of its connection.
type interrupted struct {
	context.Context
	*httptest.ResponseRecorder
	done  chan struct{}
	after []func() // see AfterFunc
	err   error    // of the context, at the first piece
	gone  error    // of writing
	flush error    // of flushing
}

func (i *interrupted) Done() <-chan struct{} { return i.done }

func (i *interrupted) Err() error {
	select {
	case <-i.done:
		return i.err
	default:
		return nil
	}
}

// AfterFunc makes contexts that are derived from this one end together with it, and not a little later.
func (i *interrupted) AfterFunc(f func()) (stop func() bool) {
	i.after = append(i.after, f)
	return func() bool { return true }
}

func (i *interrupted) FlushError() error { return i.flush }

func (i *interrupted) Write(data []byte) (int, error) {
	if i.err != nil && i.Err() == nil {
		close(i.done)
		for _, f := range i.after {
			f()
		}
	}
	if i.gone != nil {
		return 0, i.gone
	}
	return i.ResponseRecorder.Write(data)
}

// An answer that fails after it has begun is counted with the status of what went wrong; the client got 200 before. Only a stream ends with an
// error event. Caught when planted: status 200 for each of them; an event in a trace; a client that has gone counted as an error of the server.
func TestStatusOfWhatFailsLater(t *testing.T) {
	broken := errors.New("broken pipe")
	digits := strings.Repeat("1", 100)
	for _, test := range []struct {
		name, path, body string
		err, gone, flush error
		status           string // that is counted
		event            string
	}{
		{"a stream", "/v1/completions", `{"prompt": "12", "stream": true}`, nil, nil, nil, "200", "[DONE]"},
		{"a stream that takes too long", "/v1/completions", `{"prompt": "` + digits + `", "stream": true}`, context.DeadlineExceeded, nil, nil, "504", `"code":"timeout"`},
		{"a stream whose client has gone", "/v1/completions", `{"prompt": "` + digits + `", "stream": true}`, context.Canceled, nil, nil, "499", `"message":"the client has closed the request"`},
		{"a stream that cannot be written", "/v1/completions", `{"prompt": "12", "stream": true}`, nil, broken, nil, "499", ""},
		{"a stream that cannot be flushed", "/v1/completions", `{"prompt": "12", "stream": true}`, nil, nil, broken, "499", ""},
		{"a trace that cannot be written", "/v1/trace", `{"input": "12"}`, nil, broken, nil, "499", ""},
		{"a completion that cannot be written", "/v1/completions", `{"prompt": "12"}`, nil, broken, nil, "499", ""},
		{"an error that cannot be written", "/v1/completions", `{"prompt": "?"}`, nil, broken, nil, "499", ""},
	} {
		s, web := opened(t, Options{}, "../models/reverse")
		i := &interrupted{Context: t.Context(), ResponseRecorder: httptest.NewRecorder(), done: make(chan struct{}), err: test.err, gone: test.gone, flush: test.flush}
		s.Handler().ServeHTTP(i, httptest.NewRequestWithContext(i, http.MethodPost, test.path, strings.NewReader(test.body)))
		_, text := send(t, web, http.MethodGet, "/metrics", "")
		if want := `ut_requests_total{endpoint="` + test.path + `",status="` + test.status + `"} 1`; !strings.Contains(text, want) {
			t.Errorf("%s: no %s in\n%.600s", test.name, want, text)
		}
		if body := i.Body.String(); !strings.Contains(body[strings.LastIndex(body, "data: ")+1:], test.event) {
			t.Errorf("%s: ends with %q, want %q", test.name, body, test.event)
		}
	}
}

// A panic after an answer has begun is counted as an error of the server, and adds nothing to an answer that is no stream.
// Caught when planted: status 200; an event behind the JSON.
func TestPanicWhileSending(t *testing.T) {
	recorded := httptest.NewRecorder()
	r := &response{ResponseWriter: recorded}
	writeJSON(r, http.StatusOK, 1)
	r.fail(failure{status: http.StatusInternalServerError, message: "internal error"})
	r.fail(failure{status: http.StatusGatewayTimeout, message: "a second one"})
	if r.outcome() != http.StatusInternalServerError || recorded.Body.String() != "1\n" {
		t.Errorf("counted as %d, sent %q", r.outcome(), recorded.Body)
	}
}

// A compressed body is refused by the name of its coding. Caught when planted: a body that is read as it is; one coding of two that is looked at.
func TestContentEncoding(t *testing.T) {
	s, _ := opened(t, Options{})
	for _, test := range []struct {
		codings []string
		status  int
		name    string
	}{
		{nil, 200, ""}, {[]string{"identity"}, 200, ""}, {[]string{"Identity"}, 200, ""}, {[]string{"gzip"}, 415, `"gzip"`}, {[]string{"br, gzip"}, 415, `"br, gzip"`}, {[]string{"identity", "zstd"}, 415, `"zstd"`},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/completions", strings.NewReader(`{"prompt": "1"}`))
		r.Header["Content-Encoding"] = test.codings
		recorded := httptest.NewRecorder()
		s.Handler().ServeHTTP(recorded, r)
		if recorded.Code != test.status || test.status == 415 && (wrong(t, recorded.Body.String()) != "Content-Encoding is "+test.name+": send the body as it is, without this header" || recorded.Header().Get("Accept-Encoding") != "identity") {
			t.Errorf("%q: %d %v %s", test.codings, recorded.Code, recorded.Header(), recorded.Body)
		}
	}
}
