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
