package serve

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	victoria "github.com/VictoriaMetrics/metrics"
)

// metrics are what /metrics shows, in Prometheus' text format. Each family has a set of its own, before which its help and type are written:
// the library writes no help, and a type that Prometheus rejects for a summary with labels.
//
// The library is not Prometheus' client_golang because that links protobuf, which opens a file before main begins: with few open files
// allowed, the program would end with a stack trace instead of a message. Later versions of this one open files before main, too.
type metrics struct {
	families []family
	answers  *victoria.Set // counter
	seconds  *victoria.Set // summary
	totals   *victoria.Set // counter, of tokens
	batches  *victoria.Summary
}

// family is a metric with all of its labels.
type family struct {
	name, kind, help string
	set              *victoria.Set
}

// Summaries are over this time, with these quantiles.
var (
	window    = 5 * time.Minute
	quantiles = []float64{0.5, 0.9, 0.97, 0.99, 1}
)

// newMetrics returns metrics without values. requests and traces return how many of them wait or are computed.
func newMetrics(requests, traces func() float64) *metrics {
	m := &metrics{}
	m.batches = m.add("ut_batch_size", "summary", "Prompts that are decoded together.").NewSummaryExt("ut_batch_size", window, quantiles)
	m.add("ut_queue_length", "gauge", "Requests that wait or are computed, without traces.").NewGauge("ut_queue_length", requests)
	m.seconds = m.add("ut_request_seconds", "summary", "Time from the header of a request to the end of its answer.")
	m.answers = m.add("ut_requests_total", "counter", "Requests by endpoint and status.")
	m.totals = m.add("ut_tokens_total", "counter", "Tokens by model and kind: prompt for those that are read, completion for those that are decoded.")
	m.add("ut_trace_queue_length", "gauge", "Traces that wait or are computed.").NewGauge("ut_trace_queue_length", traces)
	return m
}

// add adds a family without values and returns its set.
func (m *metrics) add(name, kind, help string) *victoria.Set {
	set := victoria.NewSet()
	m.families = append(m.families, family{name, kind, help, set})
	return set
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
		for _, f := range m.families {
			fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", f.name, f.help, f.name, f.kind)
			f.set.WritePrometheus(w)
		}
		victoria.WriteProcessMetrics(w) // of Go and of the process
	})
}

func (m *metrics) batch(prompts int) { m.batches.Update(float64(prompts)) }

// answered counts a request, and the time from its header to the end of its answer.
func (m *metrics) answered(endpoint string, status int, took time.Duration) {
	m.answers.GetOrCreateCounter(labelled("ut_requests_total", "endpoint", endpoint, "status", fmt.Sprint(status))).Inc()
	m.seconds.GetOrCreateSummaryExt(labelled("ut_request_seconds", "endpoint", endpoint), window, quantiles).Update(took.Seconds())
}

// Kinds of tokens.
const (
	readTokens    = "prompt"     // of prompts, texts and pairs whose computation begins
	decodedTokens = "completion" // also of requests that fail later
)

// tokens returns the counter of a model's tokens of a kind.
func (m *metrics) tokens(model, kind string) *victoria.Counter {
	return m.totals.GetOrCreateCounter(labelled("ut_tokens_total", "model", model, "kind", kind))
}
