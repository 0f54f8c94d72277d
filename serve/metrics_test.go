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

// Prometheus reads a family only if its help and its type, one that it knows, come once before its lines, and nothing in between.
// Caught when planted: no type; a summary that is called a counter; a family without help; lines of one family in another.
func TestMetadata(t *testing.T) {
	_, web := opened(t, Options{})
	for range 2 {
		send(t, web, http.MethodPost, "/v1/completions", `{"prompt": "1"}`)
		send(t, web, http.MethodGet, "/healthz", "")
	}
	_, text := send(t, web, http.MethodGet, "/metrics", "")
	kinds, family, helped := map[string]string{}, "", ""
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		switch name, _, _ := strings.Cut(fields[0], "{"); {
		case strings.HasPrefix(line, "# HELP "):
			if helped = fields[2]; len(fields) < 6 || !strings.HasSuffix(line, ".\n") {
				t.Errorf("no sentence: %s", line)
			}
		case strings.HasPrefix(line, "# TYPE "):
			if family = fields[2]; family != helped || kinds[family] != "" {
				t.Errorf("the type of %s comes after the help of %s, or twice", family, helped)
			}
			kinds[family] = fields[3]
		case strings.HasPrefix(name, "ut_"):
			if base := strings.TrimSuffix(strings.TrimSuffix(name, "_sum"), "_count"); base != family || base != name && kinds[base] != "summary" ||
				strings.Contains(line, "quantile=") && kinds[base] != "summary" {
				t.Errorf("in the family %s: %s", family, line)
			}
		}
	}
	const want = "map[ut_batch_size:summary ut_queue_length:gauge ut_request_seconds:summary ut_requests_total:counter ut_tokens_total:counter ut_trace_queue_length:gauge]"
	if fmt.Sprint(kinds) != want {
		t.Errorf("types %v, want %s", kinds, want)
	}
}
