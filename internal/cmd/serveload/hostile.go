//go:build unix

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// attacks lists what is sent, by name: text as it goes over the connection, and the statuses that may answer it. 0 means that the
// connection may end without an answer.
var attacks = []struct {
	name     string
	text     func(rng *rand.Rand) string
	statuses []int
}{
	{"broken JSON", func(rng *rand.Rand) string { return posted(broken(rng)) }, []int{400, 200, 404}}, // what is broken may be a field that is not read
	{"wrong values", func(rng *rand.Rand) string { return posted(wrongValue(rng)) }, []int{400, 404, 200}},
	{"deep JSON", func(rng *rand.Rand) string {
		return posted(`{"prompt": ` + strings.Repeat(`[`, 1+rng.IntN(200_000)))
	}, []int{400}},
	{"no UTF-8", func(rng *rand.Rand) string {
		return posted(`{"prompt": "12` + string([]byte{0xff, byte(rng.IntN(256))}) + `"}`)
	}, []int{400}},
	{"script tags", func(rng *rand.Rand) string {
		return posted(`{"prompt": "<script>alert(1)</script>", "model": "<script>` + fmt.Sprint(rng.IntN(9)) + `</script>"}`)
	}, []int{404}},
	{"names of other hosts", func(rng *rand.Rand) string {
		return "GET /v1/models HTTP/1.1\r\nHost: " + pick(rng, "example.org", "localhost.example.org", "10.0.0.1", "example.org:8080") + "\r\n\r\n"
	}, []int{403}},
	{"script tags in the path", func(*rand.Rand) string { return "GET /<script>alert(1)</script> HTTP/1.1\r\nHost: localhost\r\n\r\n" }, []int{404}},
	{"other paths", func(rng *rand.Rand) string {
		return "GET " + pick(rng, "/../../../etc/passwd", "/..%2f..%2f..%2fetc%2fpasswd", "/page/../../etc/passwd", "//etc/passwd", "/%00", "/v1/models/../../etc/passwd", `/..\..\etc\passwd`, "/page.js/../main.go") +
			" HTTP/1.1\r\nHost: localhost\r\n\r\n"
	}, []int{404}},
	{"paths in models", func(rng *rand.Rand) string {
		return posted(`{"prompt": "1", "model": "` + pick(rng, "../../etc/passwd", "/etc/passwd", "reverse/../reverse", "file:///etc/passwd", "\\u0000") + `"}`)
	}, []int{404}},
	{"large bodies", func(rng *rand.Rand) string {
		return posted(`{"prompt": "` + strings.Repeat("7", 1<<20+rng.IntN(1<<20)) + `"}`)
	}, []int{413, 0}},
	{"promised bodies", func(*rand.Rand) string {
		return "POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999999999999\r\n\r\n" + strings.Repeat("a", 2<<20)
	}, []int{413, 0}},
	{"endless headers", func(*rand.Rand) string {
		return "GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + strings.Repeat("X-More: "+strings.Repeat("a", 1000)+"\r\n", 200)
	}, []int{431, 0}},
	{"endless line", func(*rand.Rand) string { return "GET /" + strings.Repeat("a", 300_000) }, []int{431, 414, 400, 0}},
	{"no HTTP", func(rng *rand.Rand) string {
		return pick(rng, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\r\n\r\n", "hello\r\n\r\n", "\r\n\r\n\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
	}, []int{400, 404, 405, 505, 0}},
	{"two lengths", func(*rand.Rand) string {
		return "POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n{}aa"
	}, []int{400}},
	{"bad chunks", func(*rand.Rand) string {
		return "POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n"
	}, []int{400}},
	{"other methods", func(rng *rand.Rand) string {
		return pick(rng, "DELETE", "PUT", "TRACE", "OPTIONS", "GET") + " /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"
	}, []int{405}},
	{"another origin", func(*rand.Rand) string {
		return strings.Replace(posted(`{"prompt": "1"}`), "Host: localhost\r\n", "Host: localhost\r\nOrigin: http://example.org\r\nSec-Fetch-Site: cross-site\r\n", 1)
	}, []int{403}},
	{"half a body", func(*rand.Rand) string {
		return "POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{\"prompt\": " // and then the end
	}, []int{400, 0}},
}

func pick(rng *rand.Rand, list ...string) string { return list[rng.IntN(len(list))] }

// posted is a request with a body.
func posted(body string) string {
	return fmt.Sprintf("POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}

// broken is a body that is cut off or damaged.
func broken(rng *rand.Rand) string {
	body := []byte(`{"prompt": "12", "max_tokens": 3, "temperature": 0.5, "seed": 1, "stop": ["1"]}`)
	if rng.IntN(2) == 0 {
		return string(body[:rng.IntN(len(body))])
	}
	body[rng.IntN(len(body))] = byte(rng.IntN(128))
	return string(body)
}

// wrongValue is a body with a field of another type or out of range.
func wrongValue(rng *rand.Rand) string {
	value := pick(rng, `-1`, `1e400`, `99999999999999999999`, `[]`, `{}`, `[[]]`, `true`, `"\u0000"`, `"\ud800"`, `"<script>"`, `[1, null]`, `0.5`, `"`+strings.Repeat("9", 3000)+`"`)
	return fmt.Sprintf(`{"prompt": "12", "max_tokens": 3, %q: %s}`, pick(rng, "prompt", "model", "n", "max_tokens", "temperature", "top_p", "stop", "stream", "stream_options", "seed"), value)
}

// outcomes counts what hostile requests got.
type outcomes struct {
	mu       sync.Mutex
	statuses map[int]int // 0: the connection ended
	wrong    []string
	elapsed  time.Duration
}

// attack sends so many hostile requests, 32 at a time, each on a connection of its own, and checks that each gets one clear error. With slow,
// 64 clients meanwhile send a byte and wait.
func attack(ctx context.Context, address string, n int, slow bool) *outcomes {
	o, began := &outcomes{statuses: map[int]int{}}, time.Now()
	var all sync.WaitGroup
	if slow {
		for i := range 64 {
			text := []string{"P", "POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{"}[i%2]
			all.Go(func() { o.send(ctx, address, "slow", text, false, []int{408, 400}) })
		}
	}
	for worker := range 32 {
		all.Go(func() {
			for i := worker; i < n && ctx.Err() == nil; i += 32 {
				rng := rand.New(rand.NewPCG(1, uint64(i)))
				a := attacks[rng.IntN(len(attacks))]
				o.send(ctx, address, a.name, a.text(rng), a.name == "half a body", a.statuses)
			}
		})
	}
	all.Wait()
	o.elapsed = time.Since(began)
	return o
}

// patience is how long a request may take: longer than the server waits for slow clients.
const patience = 50 * time.Second

// send sends a text on a connection of its own, and checks the answer. With closing, the client then sends no more.
func (o *outcomes) send(ctx context.Context, address, name, text string, closing bool, statuses []int) {
	connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		o.count(0, name, err)
		return
	}
	defer connection.Close()
	_ = connection.SetDeadline(time.Now().Add(patience))
	go func() {
		_, _ = io.WriteString(connection, text) // the server may answer before it has read all of it
		if tcp, ok := connection.(*net.TCPConn); ok && closing {
			_ = tcp.CloseWrite()
		}
	}()
	status, err := answered(connection)
	if err == nil && !slices.Contains(statuses, status) {
		err = fmt.Errorf("status %d, want one of %v", status, statuses)
	}
	if ctx.Err() == nil {
		o.count(status, name, err)
	}
}

// answered reads an answer, and returns an error unless it is a result or one clear error. Status 0 means that there is none.
func answered(connection net.Conn) (status int, err error) {
	response, err := http.ReadResponse(bufio.NewReader(connection), nil)
	var late net.Error
	switch {
	case errors.As(err, &late) && late.Timeout():
		return 0, fmt.Errorf("no answer within %v", patience)
	case err != nil:
		return 0, nil //nolint:nilerr // the connection has ended
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	text := string(body)
	switch {
	case err != nil && response.StatusCode < 400:
		return response.StatusCode, err
	case strings.Contains(text, "<script") || strings.Contains(text, "root:") || strings.Contains(text, "goroutine "):
		return response.StatusCode, fmt.Errorf("the answer has what it must not: %.200q", text)
	case response.StatusCode >= 500 && response.StatusCode != http.StatusHTTPVersionNotSupported:
		return response.StatusCode, fmt.Errorf("%.200q", text)
	case response.StatusCode < 400 || !strings.HasPrefix(response.Header.Get("Content-Type"), "application/json"): // the protocol's errors are plain text
		return response.StatusCode, nil
	}
	var e struct{ Error struct{ Message string } }
	if err := json.Unmarshal(body, &e); err != nil {
		return response.StatusCode, fmt.Errorf("no clear error: %.200q: %w", text, err)
	}
	if e.Error.Message == "" || strings.Contains(e.Error.Message, "\n") {
		return response.StatusCode, fmt.Errorf("no clear error: %.200q: it must have a message of one line", text)
	}
	return response.StatusCode, nil
}

func (o *outcomes) count(status int, name string, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.statuses[status]++
	if err != nil {
		o.wrong = append(o.wrong, fmt.Sprintf("%s: %v", name, err))
	}
}

func (o *outcomes) String() string {
	var parts []string
	n := 0
	for _, status := range slices.Sorted(maps.Keys(o.statuses)) {
		parts, n = append(parts, fmt.Sprintf("%d %d times", status, o.statuses[status])), n+o.statuses[status]
	}
	return fmt.Sprintf("%d hostile requests in %.0f s: status %s (0: no answer); wrong: %d", n, o.elapsed.Seconds(), strings.Join(parts, ", "), len(o.wrong))
}

func (o *outcomes) err() error {
	if len(o.wrong) == 0 {
		return nil
	}
	kinds := slices.Compact(slices.Sorted(slices.Values(o.wrong)))
	return fmt.Errorf("%d hostile requests: %s", len(o.wrong), strings.Join(kinds[:min(10, len(kinds))], "; "))
}
