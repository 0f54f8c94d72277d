package ut_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	ut "universal-transformer"
)

// BenchmarkService measures the answers of a service over HTTP to clients that keep their connections and ask again at once, one line of
// ten digits each. An operation is an answer.
func BenchmarkService(b *testing.B) {
	model, err := ut.Load("models/reverse", ut.LoadOptions{})
	if err != nil {
		b.Fatal(err)
	}
	defer model.Close()
	server := httptest.NewServer(service(model))
	defer server.Close()
	for _, clients := range []int{1, 8, 32} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			transport := http.Transport{MaxIdleConnsPerHost: clients}
			defer transport.CloseIdleConnections()
			client := http.Client{Transport: &transport}
			var asked atomic.Int64
			var all sync.WaitGroup
			for range clients {
				all.Go(func() {
					for n := asked.Add(1); n <= int64(b.N); n = asked.Add(1) {
						response, err := client.Post(server.URL, "text/plain", strings.NewReader(fmt.Sprintf("%010d\n", n*7919)))
						if err != nil {
							b.Error(err)
							return
						}
						if response.StatusCode != 200 {
							b.Errorf("status %d", response.StatusCode)
						}
						_, _ = io.Copy(io.Discard, response.Body)
						_ = response.Body.Close()
					}
				})
			}
			all.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "answers/s")
		})
	}
}
