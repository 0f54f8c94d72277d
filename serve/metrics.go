package serve

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	victoria "github.com/VictoriaMetrics/metrics"
)

// metrics are what /metrics shows, in Prometheus' text format. They have a set of their own.
//
// The library is not Prometheus' client_golang because that links protobuf, which opens a file before main begins: with few open files
// allowed, the program would end with a stack trace instead of a message. Later versions of this one open files before main, too.
type metrics struct {
	set     *victoria.Set
	batches *victoria.Summary
}

// newMetrics returns metrics without values. requests and traces return how many of them wait or are computed.
func newMetrics(requests, traces func() float64) *metrics {
	set := victoria.NewSet()
	set.NewGauge("ut_queue_length", requests)
	set.NewGauge("ut_trace_queue_length", traces)
	return &metrics{set: set, batches: set.NewSummary("ut_batch_size")}
}

// labelled returns the name of a metric with labels, given as pairs of a name and a value.
func labelled(metric string, labels ...string) string {
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
	pairs := make([]string, len(labels)/2)
	for i := range pairs {
		pairs[i] = labels[2*i] + `="` + escape.Replace(labels[2*i+1]) + `"`
	}
	return metric + "{" + strings.Join(pairs, ",") + "}"
}

func (m *metrics) handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		m.set.WritePrometheus(w)
		victoria.WriteProcessMetrics(w) // of Go and of the process
	})
}

func (m *metrics) batch(prompts int) { m.batches.Update(float64(prompts)) }

// answered counts a request, and the time from its header to the end of its answer.
func (m *metrics) answered(endpoint string, status int, took time.Duration) {
	m.set.GetOrCreateCounter(labelled("ut_requests_total", "endpoint", endpoint, "status", fmt.Sprint(status))).Inc()
	m.set.GetOrCreateSummary(labelled("ut_request_seconds", "endpoint", endpoint)).Update(took.Seconds())
}

// Kinds of tokens.
const (
	readTokens    = "prompt"     // of prompts, texts and pairs whose computation begins
	decodedTokens = "completion" // also of requests that fail later
)

// tokens returns the counter of a model's tokens of a kind.
func (m *metrics) tokens(model, kind string) *victoria.Counter {
	return m.set.GetOrCreateCounter(labelled("ut_tokens_total", "model", model, "kind", kind))
}
