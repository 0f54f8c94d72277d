package serve

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics are what /metrics shows. They have a registry of their own.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec   // by endpoint and status
	seconds  *prometheus.HistogramVec // by endpoint
	tokens   *prometheus.CounterVec   // by model and kind, "prompt" or "completion"
	batches  prometheus.Histogram
}

// newMetrics returns metrics without values. waiting returns how many requests wait or are computed.
func newMetrics(waiting func() float64) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "ut_requests_total", Help: "Requests, by endpoint and status."}, []string{"endpoint", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "ut_request_seconds", Help: "Time from the header of a request to the end of its answer, by endpoint.", Buckets: prometheus.ExponentialBuckets(0.001, 2, 17),
		}, []string{"endpoint"}),
		tokens: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "ut_tokens_total", Help: "Tokens, by model and kind: prompt or completion."}, []string{"model", "kind"}),
		batches: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "ut_batch_size", Help: "Prompts that are decoded together.", Buckets: prometheus.ExponentialBuckets(1, 2, 7),
		}),
	}
	length := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "ut_queue_length", Help: "Requests that wait or are computed."}, waiting)
	m.registry.MustRegister(m.requests, m.seconds, m.tokens, m.batches, length, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

func (m *metrics) batch(prompts int) { m.batches.Observe(float64(prompts)) }

// answered counts a request.
func (m *metrics) answered(endpoint string, status int, took time.Duration) {
	m.requests.WithLabelValues(endpoint, strconv.Itoa(status)).Inc()
	m.seconds.WithLabelValues(endpoint).Observe(took.Seconds())
}

// count counts tokens.
func (m *metrics) count(model string, u usage) {
	m.tokens.WithLabelValues(model, "prompt").Add(float64(u.PromptTokens))
	m.tokens.WithLabelValues(model, "completion").Add(float64(u.CompletionTokens))
}
