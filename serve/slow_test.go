package serve

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// A body that does not arrive within the time for requests is status 408.
func TestSlowBody(t *testing.T) {
	s, _ := opened(t, Options{})
	web := httptest.NewUnstartedServer(s.Handler())
	web.Config.ReadTimeout = 50 * time.Millisecond
	web.Start()
	defer web.Close()
	body, writer := io.Pipe()
	defer writer.Close()
	go func() { _, _ = io.WriteString(writer, `{"prompt": `) }()
	response, err := web.Client().Post(web.URL+"/v1/completions", "application/json", body)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	if response.StatusCode != http.StatusRequestTimeout || wrong(t, string(text)) != "the body did not arrive in time" || len(s.requests.places) != 0 {
		t.Errorf("a slow body: %d %s", response.StatusCode, text)
	}
}
