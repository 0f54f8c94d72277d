package serve

import (
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// A server that is closed while requests come answers each: as usual, or with status 503. Close waits for those that use a model, and what
// comes later gets 503 everywhere. Run it with -race. Caught when planted: Close that does not wait.
func TestClose(t *testing.T) {
	s, web := opened(t, Options{})
	held, err := s.models[0].use()
	if err != nil {
		t.Fatal(err)
	}
	var clients, closes sync.WaitGroup
	begun := make(chan struct{}, 8)
	for range cap(begun) {
		clients.Go(func() {
			for i := 0; ; i++ {
				if i == 3000 {
					t.Error("no request is refused")
					return
				}
				status, text := send(t, web, http.MethodPost, "/v1/completions", `{"prompt": "2026"}`)
				if i == 0 {
					begun <- struct{}{}
				}
				if status == http.StatusServiceUnavailable {
					if message := wrong(t, text); message != "the server is ending: try again later" {
						t.Error(message)
					}
					return
				}
				if status != http.StatusOK || !strings.Contains(text, `"text":"2026"`) {
					t.Errorf("status %d, %s", status, text)
					return
				}
			}
		})
	}
	for range cap(begun) {
		<-begun
	}
	closed := make(chan struct{}, 2)
	for range cap(closed) {
		closes.Go(func() { s.Close(); closed <- struct{}{} })
	}
	clients.Wait()
	select {
	case <-closed:
		t.Error("Close does not wait for a request that uses the model")
	default:
	}
	held.users.Done()
	closes.Wait()
	for path, body := range map[string]string{
		"/v1/completions": `{"prompt": "1"}`, "/v1/score": `{"pairs": [{"source": "1", "target": "1"}]}`, "/v1/classify": `{"input": "1"}`, "/v1/trace": `{"input": "1"}`, "/v1/models": "", "/v1/models/copier": "", "/healthz": "",
	} {
		method := http.MethodPost
		if body == "" {
			method = http.MethodGet
		}
		if status, text := send(t, web, method, path, body); status != http.StatusServiceUnavailable {
			t.Errorf("%s after Close: %d %s", path, status, text)
		}
	}
	if err := s.Reload(); !errors.Is(err, errClosed) {
		t.Errorf("Reload after Close: %v", err)
	}
	s.Follow(t.Context(), time.Millisecond) // returns: the context does not end
}
