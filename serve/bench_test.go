package serve

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// BenchmarkCompletions measures completions over HTTP, every second one as a stream, to clients that keep their connections and ask again
// at once. An operation is an answer.
func BenchmarkCompletions(b *testing.B) {
	_, web := opened(b, Options{}, "../models/reverse")
	for _, clients := range []int{1, 32} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			transport := http.Transport{MaxIdleConnsPerHost: clients}
			defer transport.CloseIdleConnections()
			client := http.Client{Transport: &transport}
			var asked atomic.Int64
			var all sync.WaitGroup
			for range clients {
				all.Go(func() {
					for n := asked.Add(1); n <= int64(b.N); n = asked.Add(1) {
						body := fmt.Sprintf(`{"prompt": "%010d", "stream": %v}`, n*7919, n/int64(clients)%2 == 0)
						response, err := client.Post(web.URL+"/v1/completions", "application/json", strings.NewReader(body))
						if err != nil {
							b.Error(err)
							return
						}
						if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode != http.StatusOK {
							b.Errorf("status %d, %v", response.StatusCode, err)
						}
						_ = response.Body.Close()
					}
				})
			}
			all.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "answers/s")
		})
	}
}
