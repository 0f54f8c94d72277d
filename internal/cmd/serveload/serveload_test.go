//go:build unix

package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"universal-transformer/engine/enginetest"
	"universal-transformer/internal/longtest"
	"universal-transformer/pipeline"
	"universal-transformer/serve"
)

const reverse = "../../../models/reverse"

// served runs a server, and returns its address and what its model answers without it.
func served(t *testing.T) (address string, expected map[string]string) {
	t.Helper()
	backend := enginetest.Backend(t)
	m, err := pipeline.Load(reverse, backend)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	prompts := numbers(40)
	found, err := m.Decode(t.Context(), prompts, pipeline.DecodeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	expected = map[string]string{}
	for i, a := range found {
		expected[prompts[i]] = a.Text
	}
	s, err := serve.Open([]string{reverse}, backend, serve.Options{})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		s.Close()
	})
	return listener.Addr().String(), expected
}

// A short form of the whole: 32 clients get the answers of the model, hostile requests get one clear error each, and nothing stays.
func TestLoad(t *testing.T) {
	address, expected := served(t)
	before, err := sampled(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	many := ask(t.Context(), address, 32, time.Second, expected)
	if err := many.err(); err != nil || many.busy > 0 {
		t.Errorf("%v: %v", many, err)
	}
	trouble := attack(t.Context(), address, longtest.Of(300, 10_000), longtest.Enabled())
	if err := trouble.err(); err != nil || len(trouble.statuses) < 6 {
		t.Errorf("%v: %v", trouble, err)
	}
	if err := settles(t.Context(), address, before); err != nil {
		t.Error(err)
	}
	if err := ask(t.Context(), address, 1, 100*time.Millisecond, expected).err(); err != nil {
		t.Error(err)
	}
}

// Wrong answers, errors that are not clear, and what grows are noticed.
func TestFaultsAreNoticed(t *testing.T) {
	address, expected := served(t)
	for prompt := range expected { // of all, as a busy machine may ask for few
		expected[prompt] += "1"
	}
	if a := ask(t.Context(), address, 4, time.Second, expected); a.err() == nil || !strings.Contains(a.err().Error(), "is answered") {
		t.Errorf("a wrong answer: %v", a)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	answer := make(chan string, 1)
	go func() {
		for text := range answer {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			if _, err := http.ReadRequest(bufio.NewReader(connection)); err == nil { // what is left unread resets the connection
				_, _ = connection.Write([]byte(text))
			}
			connection.Close()
		}
	}()
	for text, want := range map[string]string{
		"HTTP/1.0 500 no\r\n\r\nbroken":                                                                  "broken",
		"HTTP/1.0 200 OK\r\n\r\n<script>":                                                                "must not",
		"HTTP/1.0 400 no\r\nContent-Type: application/json\r\n\r\n{}":                                    "no clear error",
		"HTTP/1.0 400 no\r\nContent-Type: application/json\r\n\r\n{\"error\": {\"message\": \"a\\nb\"}}": "no clear error",
		"HTTP/1.0 403 no\r\n\r\n":                                                                        "status 403, want one of [400]",
		"":                                                                                               "status 0, want one of [400]",
	} {
		answer <- text
		o := &outcomes{statuses: map[int]int{}}
		if o.send(t.Context(), listener.Addr().String(), "test", "GET / HTTP/1.0\r\n\r\n", false, []int{400}); o.err() == nil || !strings.Contains(o.err().Error(), want) {
			t.Errorf("%q: %v, want %s", text, o.err(), want)
		}
	}
	close(answer)
	list := make(samples, 40)
	for i := range list {
		list[i] = sample{memory: 1e6, goroutines: 10}
	}
	if err := list.verdict(); err != nil {
		t.Error(err)
	}
	for i := range list {
		list[i].memory += 1e4 * float64(i)
	}
	if err := list.verdict(); err == nil {
		t.Error("memory that grows is not noticed")
	}
}

// Answers that are not those of the API are errors that say what is wrong.
// Caught when planted: an error that wraps none, for a stream that ends early and for an answer without a choice.
func TestUnexpectedAnswers(t *testing.T) {
	const piece = "data: {\"choices\": [{\"text\": \"ab\"}]}\n\n"
	for body, want := range map[string]string{
		piece + piece + "data: [DONE]\n":       "",
		piece:                                  "the stream ends early: unexpected EOF",
		"data: {\"choices\": []}\n":            `0 choices in "{\"choices\": []}", want 1`,
		"data: {\n":                            `"{": unexpected end of JSON input`,
		"data: " + strings.Repeat("x", 70_000): "the stream ends early: bufio.Scanner: token too long",
	} {
		text, err := joined(strings.NewReader(body))
		if want == "" && (err != nil || text != "abab") || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%.60q: %q, %v, want %q", body, text, err, want)
		}
	}
	for body, want := range map[string]string{
		`{"error": {}}`: `no clear error: "{\"error\": {}}": it must have a message of one line`,
		`{`:             `no clear error: "{": unexpected end of JSON input`,
	} {
		ours, theirs := net.Pipe()
		go func() {
			_, _ = fmt.Fprintf(theirs, "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
			_ = theirs.Close()
		}()
		if _, err := answered(ours); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", body, err, want)
		}
	}
}
