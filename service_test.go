package ut_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	ut "universal-transformer"
)

func load(t *testing.T) *ut.Model {
	m, err := ut.Load(copier, ut.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// post is what a service answers to a request: its status and its text.
func post(t *testing.T, server *httptest.Server, body string) string {
	response, err := server.Client().Post(server.URL, "text/plain", strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return ""
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Error(err)
	}
	return fmt.Sprintf("%d %s", response.StatusCode, text)
}

// 64 clients of a service that has answered nothing yet get what each would get alone, also those that ask wrongly. Run it with -race.
// Caught when planted: a decoder made without the turn; answers handed to another request; the mistake of one request given to all.
func TestService(t *testing.T) {
	const clients = 64
	bodies, want, got := make([]string, clients), make([]string, clients), make([]string, clients)
	alone := httptest.NewServer(service(load(t)))
	defer alone.Close()
	for i := range bodies {
		bodies[i] = fmt.Sprintf("%d\n%d\n", 37*i, 2026-i)
		if i%16 == 5 {
			bodies[i] = fmt.Sprintf("%d\nx\n", i)
		}
		want[i] = post(t, alone, bodies[i])
	}
	if right := fmt.Sprintf("%d %s", http.StatusOK, bodies[7]); want[7] != right {
		t.Fatalf("alone: %q, want %q", want[7], right)
	}
	if wrong := want[5]; !strings.HasPrefix(wrong, "422 line 2: ") {
		t.Fatalf("alone: %q, want an error of line 2", wrong)
	}
	together := httptest.NewServer(service(load(t)))
	defer together.Close()
	var all sync.WaitGroup
	start := make(chan struct{})
	for i := range got {
		all.Go(func() { <-start; got[i] = post(t, together, bodies[i]) })
	}
	close(start)
	all.Wait()
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("client %d gets %q, alone %q", i, got[i], want[i])
		}
	}
}
