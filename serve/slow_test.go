package serve

import (
	"bufio"
	"io"
	"net"
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

// A body that is announced as too long is refused before it arrives. Caught when planted: a server that waits for it.
func TestLongBodyIsNotAwaited(t *testing.T) {
	s, _ := opened(t, Options{MaxBody: 4000})
	web := httptest.NewServer(s.Handler())
	defer web.Close()
	connection, err := net.Dial("tcp", web.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	if err := connection.SetDeadline(time.Now().Add(20 * time.Second)); err != nil { // a server that waits for the body never answers
		t.Fatal(err)
	}
	if _, err := io.WriteString(connection, "POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4001\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	if response.StatusCode != http.StatusRequestEntityTooLarge || wrong(t, string(text)) != "the body has more than 4000 bytes" {
		t.Errorf("a body of 4001 bytes that does not arrive: %d %s", response.StatusCode, text)
	}
}
