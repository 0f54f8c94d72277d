package serve

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// stalled is the answer to a client that reads nothing: writing waits for the deadline, or for the end of the test.
type stalled struct {
	*httptest.ResponseRecorder
	writing, ended chan struct{} // closed when writing begins and when it fails
	begin, end     sync.Once
}

func newStalled(t *testing.T) *stalled {
	w := &stalled{ResponseRecorder: httptest.NewRecorder(), writing: make(chan struct{}), ended: make(chan struct{})}
	t.Cleanup(w.fail)
	return w
}

func (w *stalled) fail() { w.end.Do(func() { close(w.ended) }) }

func (w *stalled) Write([]byte) (int, error) {
	w.begin.Do(func() { close(w.writing) })
	<-w.ended
	return 0, os.ErrDeadlineExceeded
}

func (w *stalled) SetWriteDeadline(deadline time.Time) error {
	if !deadline.IsZero() && deadline.Before(time.Now()) {
		w.fail()
	}
	return nil
}

// cut reports whether writing has failed.
func (w *stalled) cut() bool {
	select {
	case <-w.ended:
		return true
	default:
		return false
	}
}

// neverRead sends a request, does not read its answer, and returns when the answer is being written.
func neverRead(t *testing.T, s *Server, path, body string) *stalled {
	t.Helper()
	w := newStalled(t)
	go s.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body)))
	<-w.writing
	return w
}

// Clients that do not read their answers hold up neither other traces nor the queue. When their answers take too much memory, the oldest
// ones are cut off. Caught when planted: a trace that keeps its turn while it is sent; a place in the queue that is kept; no limit; the
// newest one that is cut off.
func TestAnswersThatNobodyReads(t *testing.T) {
	s, web := opened(t, Options{MaxQueue: 1}, "../models/reverse")
	const trace, completion = `{"input": "12"}`, `{"prompt": "12"}`
	_, text := send(t, web, http.MethodPost, "/v1/trace", trace)
	s.outbox.limit = 2*len(text) + len(text)/2
	var slow []*stalled
	for range 2 {
		slow = append(slow, neverRead(t, s, "/v1/trace", trace))
	}
	if status, text := send(t, web, http.MethodPost, "/v1/completions", completion); status != http.StatusOK {
		t.Errorf("beside answers that are not read: %d %s", status, text)
	}
	if slow[0].cut() || slow[1].cut() {
		t.Error("an answer is cut off although there is room")
	}
	if status, text := send(t, web, http.MethodPost, "/v1/trace", trace); status != http.StatusOK {
		t.Errorf("a trace beside answers that are not read: %d %.300s", status, text)
	}
	if !slow[0].cut() || slow[1].cut() {
		t.Errorf("cut off: %v %v, want the oldest one only", slow[0].cut(), slow[1].cut())
	}
}

// parts records what is written and the deadlines before it.
type parts struct {
	*httptest.ResponseRecorder
	said  []string
	start time.Time
}

func (p *parts) Write(data []byte) (int, error) {
	p.said = append(p.said, fmt.Sprint(len(data)))
	return p.ResponseRecorder.Write(data)
}

func (p *parts) SetWriteDeadline(deadline time.Time) error {
	what := "never"
	if !deadline.IsZero() {
		what = fmt.Sprint(deadline.Sub(p.start) >= partTimeout)
	}
	p.said = append(p.said, what)
	return nil
}

// Each part of an answer has a time limit of its own, and the connection has none afterwards; an answer that is larger than all may be together
// is sent. Caught when planted: one time limit for the whole answer; one that stays; an answer that cuts itself off; bytes that are counted
// for ever.
func TestTimeLimitOfEachPart(t *testing.T) {
	box := outbox{limit: 1000}
	w := &parts{ResponseRecorder: httptest.NewRecorder(), start: time.Now()}
	box.send(w, []byte(strings.Repeat("1", 2*65536+7)))
	if got, want := strings.Join(w.said, " "), "true 65536 true 65536 true 7 never"; got != want {
		t.Errorf("parts and deadlines %s, want %s", got, want)
	}
	if w.Body.Len() != 131079 || w.Header().Get("Content-Length") != "131079" || box.bytes != 0 || len(box.list) != 0 {
		t.Errorf("%d bytes are sent, header %v; %d bytes stay", w.Body.Len(), w.Header(), box.bytes)
	}
}

// An answer that is cut off gets no more time, and counts no longer.
// Caught when planted: a deadline that the next part sets anew; bytes that are subtracted twice.
func TestCutOffStays(t *testing.T) {
	box := outbox{limit: 10}
	slow := newStalled(t)
	a := box.add(6, http.NewResponseController(slow))
	b := box.add(7, http.NewResponseController(newStalled(t)))
	deadlines := &parts{ResponseRecorder: httptest.NewRecorder(), start: time.Now()}
	a.control = http.NewResponseController(deadlines)
	box.extend(a)
	box.remove(a, false)
	if !slow.cut() || len(deadlines.said) > 0 || box.bytes != 7 {
		t.Errorf("cut off: %v, deadlines %v, %d bytes", slow.cut(), deadlines.said, box.bytes)
	}
	box.remove(b, true)
	if box.bytes != 0 {
		t.Errorf("%d bytes stay", box.bytes)
	}
}
