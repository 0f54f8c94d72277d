package serve

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// A trace grows with the square of the length. One that is too large is refused, and a smaller one is not.
// Caught when planted: no limit; a limit that counts one head; an error of the server.
func TestLargeTrace(t *testing.T) {
	_, web := opened(t, Options{}, "../models/reverse")
	for length, want := range map[int]int{100: http.StatusOK, 900: http.StatusBadRequest} {
		status, text := send(t, web, http.MethodPost, "/v1/trace", fmt.Sprintf(`{"input": %q}`, strings.Repeat("1", length)))
		if status != want || want != http.StatusOK && !strings.Contains(wrong(t, text), "of which attention has the square of the length in each step and head, exceeds the limit, 8388608") {
			t.Errorf("%d tokens: %d %.300s", length, status, text)
		}
	}
}

// Traces are computed one after the other; one that waits too long is told what it waited for.
// Caught when planted: two at a time; the advice of other requests.
func TestTracesWait(t *testing.T) {
	s, web := opened(t, Options{Timeout: 1}, "../models/reverse")
	s.tracing <- struct{}{}
	if status, text := send(t, web, http.MethodPost, "/v1/trace", `{"input": "12"}`); status != http.StatusGatewayTimeout ||
		wrong(t, text) != "no answer within 1ns: other traces are being computed, try again later" {
		t.Errorf("beside another one: %d %.300s", status, text)
	}
	<-s.tracing
	s.options.Timeout = time.Minute
	for range 2 {
		if status, text := send(t, web, http.MethodPost, "/v1/trace", `{"input": "12"}`); status != http.StatusOK {
			t.Errorf("%d %.300s", status, text)
		}
	}
}

// Traces that wait have a queue of their own: with all of its places taken, other requests are answered, and the other way round.
// Caught when planted: one queue for both; traces without a limit.
func TestTracesTakeNoOtherPlaces(t *testing.T) {
	s, web := opened(t, Options{MaxQueue: 2}, "../models/reverse")
	const trace, completion = `{"input": "12"}`, `{"prompt": "12"}`
	for _, test := range []struct {
		full                 *queue
		message              string
		refused, refusedBody string
		other, otherBody     string // is answered
		metrics              string // a line
	}{
		{&s.traces, "16 traces are waiting already: try again later", "/v1/trace", trace, "/v1/completions", completion, "\nut_trace_queue_length 16\n"},
		{&s.requests, "2 requests are waiting already: try again later", "/v1/completions", completion, "/v1/trace", trace, "\nut_queue_length 2\n"},
	} {
		for range cap(test.full.places) {
			test.full.places <- struct{}{}
		}
		if status, text := send(t, web, http.MethodPost, test.refused, test.refusedBody); status != http.StatusTooManyRequests || wrong(t, text) != test.message {
			t.Errorf("%s with a full queue: %d %.300s", test.refused, status, text)
		}
		if status, text := send(t, web, http.MethodPost, test.other, test.otherBody); status != http.StatusOK {
			t.Errorf("%s with the other queue full: %d %.300s", test.other, status, text)
		}
		if _, text := send(t, web, http.MethodGet, "/metrics", ""); !strings.Contains(text, test.metrics) {
			t.Errorf("no %q in the metrics", test.metrics)
		}
		for range cap(test.full.places) {
			test.full.leave()
		}
	}
}
