package serve

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// What /metrics shows after known requests: counts, sums, quantiles, and labels with characters that the format escapes.
func TestMetrics(t *testing.T) {
	m := newMetrics(func() float64 { return 3 }, func() float64 { return 5 })
	m.batch(3)
	m.batch(64)
	m.answered("/v1/score", 200, 3*time.Millisecond)
	m.answered("/v1/score", 200, time.Hour)
	m.answered("/v1/score", 429, 0)
	m.tokens("a \"b\" \\ c\nd", readTokens).Add(5)
	m.tokens("a \"b\" \\ c\nd", decodedTokens).Add(7)
	w := httptest.NewRecorder()
	m.handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for _, line := range []string{
		"ut_queue_length 3", "ut_trace_queue_length 5", `ut_batch_size{quantile="1"} 64`, "ut_batch_size_sum 67", "ut_batch_size_count 2",
		`ut_requests_total{endpoint="/v1/score",status="200"} 2`, `ut_requests_total{endpoint="/v1/score",status="429"} 1`,
		`ut_request_seconds{endpoint="/v1/score",quantile="0.5"} 0.003`, `ut_request_seconds{endpoint="/v1/score",quantile="1"} 3600`,
		`ut_request_seconds_sum{endpoint="/v1/score"} 3600.003`, `ut_request_seconds_count{endpoint="/v1/score"} 3`,
		`ut_tokens_total{model="a \"b\" \\ c\nd",kind="prompt"} 5`, `ut_tokens_total{model="a \"b\" \\ c\nd",kind="completion"} 7`,
	} {
		if !strings.Contains("\n"+w.Body.String(), "\n"+line+"\n") {
			t.Errorf("no line %s in\n%s", line, w.Body)
		}
	}
	if !strings.Contains(w.Body.String(), "\ngo_goroutines ") {
		t.Error("no metrics of Go")
	}
}

// Requests with the method HEAD are counted with the status that they get. Caught when planted: status 0 of the page.
func TestMetricsOfHead(t *testing.T) {
	_, web := opened(t, Options{})
	for _, path := range []string{"/", "/page.css", "/page.js", "/healthz", "/v1/models", "/openapi.json"} {
		if status, text := send(t, web, http.MethodHead, path, ""); status != http.StatusOK || text != "" {
			t.Errorf("HEAD %s: %d %q", path, status, text)
		}
		line := fmt.Sprintf("\nut_requests_total{endpoint=%q,status=\"200\"} 1\n", path)
		if _, text := send(t, web, http.MethodGet, "/metrics", ""); !strings.Contains(text, line) {
			t.Errorf("no line %s in\n%s", line, text)
		}
	}
}
