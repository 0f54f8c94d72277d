package serve

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"universal-transformer/engine/enginetest"
	"universal-transformer/internal/longtest"
	"universal-transformer/pipeline"
	"universal-transformer/runlog"
	"universal-transformer/training"
)

// wrong is the message of an answer that must be an error in the form of the OpenAI API.
func wrong(t testing.TB, text string) string {
	t.Helper()
	var e errorJSON
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil || e.Error.Message == "" || e.Error.Type == "" || strings.Contains(e.Error.Message, "\n") {
		t.Errorf("%q is no error: %v", text, err)
	}
	return e.Error.Message
}

// A number that JSON does not have, as of a model with damaged weights, is an error and not an empty answer.
// Caught when planted: status 200 without a body.
func TestNumberThatIsNotFinite(t *testing.T) {
	recorded, nan := httptest.NewRecorder(), math.NaN()
	writeJSON(recorded, http.StatusOK, results[scoreJSON]{Data: []scoreJSON{{LogProb: &nan}}})
	if message := wrong(t, recorded.Body.String()); recorded.Code != http.StatusInternalServerError || !strings.Contains(message, "NaN") {
		t.Errorf("status %d, %q", recorded.Code, message)
	}
}

// Weights that are no numbers are a fault of the server. Caught when planted: status 400 of a trace.
func TestWeightsThatAreNoNumbers(t *testing.T) {
	intact, err := pipeline.Load(copier, enginetest.Backend(t))
	if err != nil {
		t.Fatal(err)
	}
	defer intact.Close()
	log, err := runlog.Open(copier)
	if err != nil {
		t.Fatal(err)
	}
	last, _, err := log.Latest()
	if err != nil {
		t.Fatal(err)
	}
	parameters := training.Parameters(last.Tensors)
	for _, p := range parameters {
		for at := 0; at < len(p.Data); at += 4 {
			binary.LittleEndian.PutUint32(p.Data[at:], 0x7fc00000) // NaN
		}
	}
	dir := filepath.Join(t.TempDir(), "damaged")
	if err := pipeline.WriteWeights(dir, enginetest.Backend(t), intact.Run, intact.Vocabularies, parameters, 1); err != nil {
		t.Fatal(err)
	}
	_, web := opened(t, Options{}, dir)
	if status, text := send(t, web, http.MethodPost, "/v1/trace", `{"input": "12"}`); status != http.StatusInternalServerError || !strings.Contains(wrong(t, text), "weights are damaged") {
		t.Errorf("status %d, %s", status, text)
	}
}

// Each mistake has its status and one message that names the field.
func TestMistakes(t *testing.T) {
	_, web := opened(t, Options{MaxBody: 4000, MaxPrompts: 3, MaxSource: 5, MaxTokens: 9})
	for _, test := range []struct {
		path, body string
		status     int
		message    string
	}{
		{"completions", ``, 400, "the body is empty"},
		{"completions", `{`, 400, "not valid JSON"},
		{"completions", `{} {}`, 400, "continues after"},
		{"completions", `[]`, 400, "the body is an array: it must be an object"},
		{"completions", "{\"prompt\": \"\xff\"}", 400, "not UTF-8"},
		{"completions", "\ufeff{\"prompt\": \"1\"}", 400, "the body begins with a byte order mark: send UTF-8 without one"},
		{"score", "\xff\xfe{\x00}\x00", 400, "the body begins with a byte order mark"},
		{"trace", "\xfe\xff\x00{\x00}", 400, "the body begins with a byte order mark"},
		{"completions", `{"prompt": "` + strings.Repeat("1", 4000) + `"}`, 413, "more than 4000 bytes"},
		{"completions", `{}`, 400, "prompt is missing or empty"},
		{"completions", `{"prompt": "1", "Prompt": "2"}`, 400, "Prompt is given twice"},
		{"score", `{"pairs": [{"source": "1", "target": "1"}, {"source": "1", "target": "1", "Source": "2"}]}`, 400, "pairs[1].Source is given twice"},
		{"trace", `{"input": "1", "exit": {"rule": "x", "setting": 1, "setting": 2}}`, 400, "exit.setting is given twice"},
		{"trace", `{"input": "1", "exit": {"rule": "fixed"}}`, 400, "exit.setting is missing: give a number of steps or a threshold"},
		{"trace", `{"input": "1", "exit": {"rule": "fixed", "setting": null}}`, 400, "exit.setting is missing"},
		{"trace", `{"input": "1", "exit": {"setting": 1}}`, 400, "exit.rule is missing: /v1/models lists the rules"},
		{"trace", `{"input": "1", "exit": null, "exit": {"rule": "x", "setting": 1}}`, 400, "exit is given twice"},
		{"completions", `{"prompt": "1", "exit": {"rule": "fixed", "setting": 1}}`, 400, "exit is not supported here"},
		{"score", `{"pairs": [["1", "1"]], "exit": {"rule": "fixed", "setting": 1}}`, 400, "exit is not supported here"},
		{"completions", `{"prompt": []}`, 400, "prompt is missing or empty"},
		{"completions", `{"prompt": [1, 2]}`, 400, "prompt must be a string or an array of strings"},
		{"completions", `{"prompt": ["1", null]}`, 400, "prompt must be a string or an array of strings"},
		{"completions", `{"prompt": ["1", "2", "3", "4"]}`, 400, "4 texts are more than 3"},
		{"completions", `{"prompt": ["1", "2"], "n": 2}`, 400, "n is 2 for 2 prompts: 4 answers are more than 3"},
		{"completions", `{"prompt": "1", "logprobs": 1}`, 400, "logprobs is not supported"},
		{"completions", `{"prompt": "1", "logprobs": true, "stream": true}`, 400, "logprobs is not supported"},
		{"completions", `{"prompt": "1", "echo": true}`, 400, "echo is not supported"},
		{"completions", `{"prompt": "1", "best_of": 2}`, 400, "best_of is not supported"},
		{"completions", `{"prompt": "1", "logprobs": 0}`, 400, "logprobs is not supported"},
		{"completions", `{"prompt": "1", "n": 2, "best_of": 3}`, 400, "best_of is not supported"},
		{"completions", `{"prompt": "1", "n": 3, "best_of": 2}`, 400, "best_of is not supported"},
		{"completions", `{"prompt": "1", "echo": 1}`, 400, "echo is not supported"},
		{"completions", `{"prompt": "1", "Best_Of": 4}`, 400, "Best_Of is not supported"},
		{"completions", `{"prompt": "1", "suffix": "2"}`, 400, "suffix is not supported"},
		{"completions", `{"prompt": "1", "logit_bias": {"50256": -100}}`, 400, "logit_bias is not supported"},
		{"completions", `{"prompt": "1", "presence_penalty": 0.5}`, 400, "presence_penalty is not supported"},
		{"completions", `{"prompt": "1", "best_of": 1e999}`, 400, "best_of is not supported"},
		{"completions", `{"prompt": "1", "logit_bias": {"50256": 1e999}}`, 400, "logit_bias is not supported"},
		{"completions", `{"prompt": "x", "of_another_server": 1e999}`, 400, `unknown token "x"`},
		{"completions", `{"prompt": "1", "n": 9223372036854775807}`, 400, "it must be 1 to 3"},
		{"completions", `{"prompt": "123456"}`, 400, "prompt 1: 6 tokens are more than 5"},
		{"completions", `{"prompt": ["1", "x"]}`, 400, `prompt 2: unknown token "x"`},
		{"completions", `{"prompt": "1", "max_tokens": 10}`, 400, "max_tokens is 10: it must be 1 to 9"},
		{"completions", `{"prompt": "1", "max_tokens": "2"}`, 400, "max_tokens is a string: it must be a whole number"},
		{"completions", `{"prompt": "1", "max_tokens": 2.5}`, 400, "max_tokens is 2.5: it must be a whole number"},
		{"completions", `{"prompt": "1", "temperature": 1e-9}`, 400, "temperature is 1e-09: it must be 0, or 0.01 to 10"},
		{"completions", `{"prompt": "1", "temperature": 1e999}`, 400, "temperature is +Inf: it must be 0, or 0.01 to 10"},
		{"completions", `{"prompt": "1", "top_p": 0}`, 400, "top_p is 0: it must be above 0 and at most 1"},
		{"completions", `{"prompt": "1", "stream": "yes"}`, 400, "stream is a string: it must be true or false"},
		{"completions", `{"prompt": "1", "stream_options": {"include_usage": 1}}`, 400, "stream_options.include_usage is"},
		{"completions", `{"prompt": "1", "stop": [""]}`, 400, "stop has an empty text"},
		{"completions", `{"prompt": "1", "stop": 3}`, 400, "stop must be a string or an array of strings"},
		{"completions", `{"prompt": "1", "model": "../../etc"}`, 404, `model is "../../etc": choose one of copier`},
		{"completions", `{"prompt": "1", "model": ""}`, 404, `model is "": choose one of copier`},
		{"completions", `{"prompt": "1", "model": 1}`, 400, "model is a number: it must be a string"},
		{"completions", strings.Repeat("[", 3000), 400, "not valid JSON"},
		{"score", `{}`, 400, "pairs is missing or empty"},
		{"score", `{"pairs": [{"source": 1}]}`, 400, "it must be a string"},
		{"score", `{"pairs": [{"source": "3"}]}`, 400, "pairs[0].target is missing"},
		{"score", `{"pairs": [{"source": "3", "target": "3"}, {"source": "3", "tarjet": "3"}]}`, 400, "pairs[1].target is missing"},
		{"score", `{"pairs": [{"source": "3", "target": null}]}`, 400, "pairs[0].target is missing"},
		{"score", `{"pairs": [{"soruce": "3", "target": "3"}]}`, 400, "pairs[0].source is missing"},
		{"classify", `{"input": "1"}`, 400, "copier does not answer here: use /v1/completions"},
		{"trace", `{"input": ["1", "2"]}`, 400, "input has 2 texts"},
		{"trace", `{"input": "x"}`, 400, `unknown token "x"`},
	} {
		status, text := send(t, web, http.MethodPost, "/v1/"+test.path, test.body)
		if message := wrong(t, text); status != test.status || !strings.Contains(message, test.message) {
			t.Errorf("%s %.80s: %d %s, want %d %s", test.path, test.body, status, message, test.status, test.message)
		}
	}
	for path, want := range map[string]int{"/": 200, "/page": 404, "/page/": 404, "/page/main.js": 404, "/v1/models/copier": 200, "/v1/models/other": 404, "/v1/models/": 404, "/v1/models/copier/": 404, "/v1/models/x/copier": 404, "/v1/../healthz": 404, "//healthz": 404, "/%2e%2e/etc/passwd": 404, "/healthz": 200, "/v1/score": 405} {
		if status, text := send(t, web, http.MethodGet, path, ""); status != want {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
}

// Without the token, only /healthz answers. Pages of other origins are never answered.
// Caught when planted: a token that is a prefix; a path that is free.
func TestToken(t *testing.T) {
	s, web := opened(t, Options{Token: "secret"})
	for header, want := range map[string]int{"": 401, "Bearer": 401, "Bearer secre": 401, "Bearer secrets": 401, "Basic secret": 401, "Bearer secret": 200, "bearer secret": 200} {
		for _, e := range s.endpoints() {
			r, err := http.NewRequestWithContext(t.Context(), e.method, web.URL+strings.Replace(e.path, "{model}", "copier", 1), strings.NewReader(`{"prompt": "1", "input": "1", "pairs": [{"target": "1"}]}`))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", header)
			response, err := web.Client().Do(r)
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			expected := want
			if e.public {
				expected = http.StatusOK
			}
			if got := response.StatusCode; (expected == 401) != (got == 401) || e.method == http.MethodGet && got != expected {
				t.Errorf("%s with %q: status %d, want %d", e.path, header, got, expected)
			}
		}
	}
	_, open := opened(t, Options{})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, open.URL+"/v1/completions", strings.NewReader(`{"prompt": "1"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	if response, err := open.Client().Do(r); err != nil || response.StatusCode != http.StatusForbidden {
		t.Errorf("a page of another origin: %v, %v", response, err)
	}
}

// With all places taken, a request gets status 429 and is told when to come again; a place that becomes free is used.
func TestQueueIsFull(t *testing.T) {
	s, web := opened(t, Options{MaxQueue: 2})
	s.requests.places <- struct{}{}
	s.requests.places <- struct{}{}
	response, err := web.Client().Post(web.URL+"/v1/completions", "application/json", strings.NewReader(`{"prompt": "1"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if message := wrong(t, string(text)); err != nil || response.StatusCode != 429 || response.Header.Get("Retry-After") != "1" || !strings.Contains(message, "2 requests") {
		t.Errorf("a full queue: %d %s", response.StatusCode, text)
	}
	if _, text := send(t, web, http.MethodGet, "/metrics", ""); !strings.Contains(text, "ut_queue_length 2\n") || !strings.Contains(text, `status="429"} 1`) {
		t.Errorf("metrics of a full queue: %s", text)
	}
	<-s.requests.places
	if status, text := send(t, web, http.MethodPost, "/v1/completions", `{"prompt": "1"}`); status != http.StatusOK {
		t.Errorf("a free place: %d %s", status, text)
	}
}

// A request that takes too long gets status 504, one whose client has gone ends, and both leave nothing behind.
func TestRequestsEnd(t *testing.T) {
	s, web := opened(t, Options{Timeout: 1})
	for path, body := range map[string]string{"completions": `{"prompt": "1"}`, "score": `{"pairs": [{"source": "1", "target": "1"}]}`, "trace": `{"input": "1"}`} {
		if status, text := send(t, web, http.MethodPost, "/v1/"+path, body); status != http.StatusGatewayTimeout || !strings.Contains(wrong(t, text), "no answer within 1ns") {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
	patient, _ := opened(t, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, body := range []string{`{"prompt": "1"}`, `{"prompt": "1", "stream": true}`} {
		recorded := httptest.NewRecorder()
		patient.Handler().ServeHTTP(recorded, httptest.NewRequestWithContext(ctx, http.MethodPost, "/v1/completions", strings.NewReader(body)))
		if recorded.Code != statusClientClosed {
			t.Errorf("a client that has gone: %d %s", recorded.Code, recorded.Body)
		}
	}
	if len(s.requests.places)+len(s.traces.places)+len(patient.requests.places) != 0 {
		t.Error("places stay taken")
	}
}

// A panic while answering is one error and one line of the log, and the server goes on.
// Caught when planted: no line.
func TestPanic(t *testing.T) {
	var log []string
	s, web := opened(t, Options{Log: logged(&log)})
	broken := s.models[0].current
	s.models[0].current = nil
	if status, text := send(t, web, http.MethodPost, "/v1/completions", `{"prompt": "1"}`); status != 500 || wrong(t, text) != "internal error" {
		t.Errorf("a panic: %d %s", status, text)
	}
	const want = "internal error: /v1/completions: runtime error: invalid memory address or nil pointer dereference"
	if len(log) != 1 || log[0] != want {
		t.Errorf("log %q, want %q", log, want)
	}
	s.models[0].current = broken
	if status, text := send(t, web, http.MethodPost, "/v1/completions", `{"prompt": "1"}`); status != 200 || len(s.requests.places) != 0 {
		t.Errorf("after a panic: %d %s", status, text)
	}
}

// The server ends when its context does, after the request in progress, and says before that it waits for it.
// Caught when planted: no line; a count of requests that have ended.
func TestShutdown(t *testing.T) {
	waiting := make(chan string, 1)
	s, web := opened(t, Options{Timeout: 77 * time.Second, Log: func(line string) {
		if strings.HasPrefix(line, "ending: ") {
			waiting <- line
		}
	}})
	send(t, web, http.MethodGet, "/healthz", "")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, listener) }()
	body, writer := io.Pipe()
	answered := make(chan string, 1)
	go func() {
		transport := &http.Transport{ExpectContinueTimeout: time.Minute}
		defer transport.CloseIdleConnections()
		r, err := http.NewRequest(http.MethodPost, "http://"+listener.Addr().String()+"/v1/completions", body)
		if err != nil {
			answered <- err.Error()
			return
		}
		r.Header.Set("Expect", "100-continue") // the body is read once the server asks for it
		response, err := transport.RoundTrip(r)
		if err != nil {
			answered <- err.Error()
			return
		}
		defer response.Body.Close()
		text, _ := io.ReadAll(response.Body)
		answered <- string(text)
	}()
	if _, err := io.WriteString(writer, `{"prompt": `); err != nil {
		t.Fatal(err)
	}
	cancel()
	select {
	case line := <-waiting:
		if line != "ending: requests in progress: 1, waiting for them at most 1m17s" {
			t.Error(line)
		}
	case <-time.After(20 * time.Second): // a body may stall for longer
		t.Error("the server does not say that it waits")
	}
	if _, err := io.WriteString(writer, `"2026"}`); err != nil {
		t.Fatal(err)
	}
	writer.Close()
	if text := <-answered; !strings.Contains(text, `"text":"2026"`) {
		t.Errorf("the request in progress is answered %q", text)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// hostile returns a request that nobody should send.
func hostile(rng *rand.Rand) (method, path, body string) {
	pick := func(list ...string) string { return list[rng.IntN(len(list))] }
	path = pick("/v1/completions", "/v1/score", "/v1/classify", "/v1/trace", "/v1/completions", "/v1/models", "/metrics", "/v1/../../etc/passwd", "/..%2f..%2fetc%2fpasswd", "/%00")
	value := pick(`"1"`, `"\u0000"`, `"\ud800"`, `"<script>alert(1)</script>"`, `"../../../etc/passwd"`, `null`, `true`, `-1`, `1e400`, `99999999999999999999`, `[]`, `{}`, `[[]]`,
		`["1", "x"]`, `"`+strings.Repeat("9", rng.IntN(9000))+`"`, `[`+strings.Repeat(`"1",`, rng.IntN(400))+`"1"]`, strings.Repeat("[", rng.IntN(20000)), "\"\xff\xfe\"", `"\`, `{"source": 1}`, `[{"source": "1", "target": "1"}]`)
	field := pick("prompt", "model", "input", "pairs", "n", "max_tokens", "temperature", "top_p", "stop", "stream", "stream_options", "seed", "<script>", "")
	body = fmt.Sprintf(`{"prompt": "12", "input": "12", "pairs": [{"source": "1", "target": "1"}], "max_tokens": 3, %q: %s}`, field, value)
	switch rng.IntN(6) {
	case 0:
		body = body[:rng.IntN(len(body))]
	case 1:
		damaged := []byte(body)
		damaged[rng.IntN(len(damaged))] = byte(rng.IntN(256))
		body = string(damaged)
	}
	return pick("POST", "POST", "POST", "POST", "GET", "DELETE", "HEAD"), path, body
}

// Whatever a request says, its answer is JSON or one error, scripts are escaped, and no goroutine stays.
func TestHostileRequests(t *testing.T) {
	s, _ := opened(t, Options{MaxBody: 16000})
	handler, rng := s.Handler(), rand.New(rand.NewPCG(1, 2))
	statuses := map[int]int{}
	before := runtime.NumGoroutine()
	for range longtest.Of(300, 10_000) {
		method, path, body := hostile(rng)
		r := httptest.NewRequestWithContext(t.Context(), method, "/", strings.NewReader(body))
		r.URL.Path = path
		checkAnswer(t, handler, r, body, statuses)
	}
	for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before && time.Now().Before(deadline); {
		runtime.Gosched()
	}
	if after := runtime.NumGoroutine(); after > before || len(s.requests.places)+len(s.traces.places) > 0 {
		t.Errorf("%d goroutines before, %d after; %d places are taken", before, after, len(s.requests.places)+len(s.traces.places))
	}
	for _, status := range []int{200, 400, 404, 405, 413} {
		if statuses[status] == 0 {
			t.Errorf("statuses %v: %d is missing", statuses, status)
		}
	}
}

func checkAnswer(t testing.TB, handler http.Handler, r *http.Request, body string, statuses map[int]int) {
	t.Helper()
	recorded := httptest.NewRecorder()
	handler.ServeHTTP(recorded, r)
	statuses[recorded.Code]++
	text := recorded.Body.String()
	if recorded.Code >= 500 || recorded.Code < 200 || strings.Contains(text, "<script") {
		t.Errorf("%s %s %.200q: %d %.200s", r.Method, r.URL.Path, body, recorded.Code, text)
	}
	if recorded.Code >= 400 {
		wrong(t, text)
	}
}

// Headers that are too long and slow ones end the connection.
func TestHeaders(t *testing.T) {
	s, _ := opened(t, Options{})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, listener) }()
	client, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	go func() {
		_, _ = io.WriteString(client, "GET /healthz HTTP/1.1\r\nHost: x\r\n")
		for { // endless
			if _, err := io.WriteString(client, "X-More: "+strings.Repeat("a", 1000)+"\r\n"); err != nil {
				return
			}
		}
	}()
	answer := make([]byte, 12)
	if _, err := io.ReadFull(client, answer); err != nil || !bytes.Equal(answer, []byte("HTTP/1.1 431")) {
		t.Errorf("endless headers: %q, %v", answer, err)
	}
	client.Close()
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
