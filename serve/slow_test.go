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

// A body that no answer depends on is not awaited. Caught when planted, for each request: a server that waits for its body.
func TestBodyIsNotAwaited(t *testing.T) {
	s, _ := opened(t, Options{MaxBody: 4000, Token: "secret"})
	web := httptest.NewServer(s.Handler())
	defer web.Close()
	for _, c := range []struct {
		name, request string
		status        int
		says          string // message of the error
	}{
		{"too long", "POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer secret\r\nContent-Length: 4001", http.StatusRequestEntityTooLarge, "the body has more than 4000 bytes"},
		{"no token", "POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3", http.StatusUnauthorized, "the bearer token is missing or wrong: send the header Authorization: Bearer TOKEN"},
		{"unknown path", "POST /v1/complete HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer secret\r\nTransfer-Encoding: chunked", http.StatusNotFound, "no such path: /openapi.json lists all"},
		{"wrong method", "PUT /v1/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer secret\r\nContent-Length: 3", http.StatusMethodNotAllowed, "/v1/completions needs the method POST"},
		{"other origin", "POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer secret\r\nOrigin: http://example.com\r\nContent-Length: 3", http.StatusForbidden, "requests from pages of other origins are not answered"},
		{"compressed", "POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer secret\r\nContent-Encoding: gzip\r\nContent-Length: 3", http.StatusUnsupportedMediaType, "Content-Encoding is \"gzip\": send the body as it is, without this header"},
		{"body of GET", "GET /v1/models HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer secret\r\nContent-Length: 3", http.StatusOK, ""},
	} {
		connection, err := net.Dial("tcp", web.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer connection.Close()
		if err := connection.SetDeadline(time.Now().Add(20 * time.Second)); err != nil { // a server that waits for the body never answers
			t.Fatal(err)
		}
		if _, err := io.WriteString(connection, c.request+"\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		response, err := http.ReadResponse(bufio.NewReader(connection), nil)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if response.StatusCode != c.status || err != nil {
			t.Errorf("%s: %d %s (%v), want %d", c.name, response.StatusCode, text, err, c.status)
		}
		if c.status != http.StatusOK && wrong(t, string(text)) != c.says {
			t.Errorf("%s: %s, want %q", c.name, text, c.says)
		}
	}
}
