package serve

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"universal-transformer/engine/enginetest"
	"universal-transformer/pipeline"
)

// copier is a run whose model copies up to four digits.
const copier = "../pipeline/testdata/copier"

// opened serves run directories, copier if none is given.
func opened(t testing.TB, o Options, dirs ...string) (*Server, *httptest.Server) {
	t.Helper()
	if len(dirs) == 0 {
		dirs = []string{copier}
	}
	s, err := Open(dirs, enginetest.Backend(t), o)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s.Handler())
	t.Cleanup(func() { web.Close(); s.Close() })
	return s, web
}

// send sends a request and returns the status and body of the answer.
func send(t testing.TB, web *httptest.Server, method, path, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, web.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := web.Client().Do(r)
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Error(err)
	}
	return response.StatusCode, string(text)
}

// post sends a request that must succeed and reads its answer.
func post[T any](t testing.TB, web *httptest.Server, path, body string) (answer T) {
	t.Helper()
	status, text := send(t, web, http.MethodPost, path, body)
	if status != http.StatusOK {
		t.Errorf("%s %s: status %d: %s", path, body, status, text)
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		t.Errorf("%s %s: %v: %s", path, body, err, text)
	}
	return answer
}

// texts returns the texts of an answer, with the reasons why they end.
func (c completion) texts() (list []string) {
	for _, one := range c.Choices {
		list = append(list, fmt.Sprint(one.Text, " ", *one.Finish))
	}
	return list
}

// streamed returns the texts of a stream, as texts does, and its last event with the usage.
func streamed(t testing.TB, web *httptest.Server, body string, choices int) ([]string, *usage) {
	t.Helper()
	status, text := send(t, web, http.MethodPost, "/v1/completions", body)
	events := strings.Split(strings.TrimSuffix(text, "\n\n"), "\n\n")
	if status != http.StatusOK || events[len(events)-1] != "data: [DONE]" {
		t.Fatalf("%s: status %d: %q", body, status, text)
	}
	joined, reasons := make([]string, choices), make([]string, choices)
	var last *usage
	for _, event := range events[:len(events)-1] {
		var c completion
		if err := json.Unmarshal([]byte(strings.TrimPrefix(event, "data: ")), &c); err != nil {
			t.Fatalf("%q: %v", event, err)
		}
		last = c.Usage
		for _, one := range c.Choices {
			joined[one.Index] += one.Text
			if one.Finish != nil {
				reasons[one.Index] += *one.Finish
			}
		}
	}
	for i := range joined {
		joined[i] += " " + reasons[i]
	}
	return joined, last
}

// decoded returns what the model answers without a server, in the same form.
func decoded(t testing.TB, lines []string, o pipeline.DecodeOptions) (list []string) {
	t.Helper()
	m, err := pipeline.Load(copier, enginetest.Backend(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	answers, err := m.Decode(t.Context(), lines, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range answers {
		list = append(list, a.Text+" "+*reason(a))
	}
	return list
}

// Answers are those of the model itself, complete and streamed: greedy, sampled, several to a prompt, cut off, ended by a text.
// Caught when planted: streamed pieces of another choice; a stop that is shown; prompts counted n times; a seed that is ignored; answers that
// are numbered from 0.
func TestCompletions(t *testing.T) {
	_, web := opened(t, Options{})
	sampling := pipeline.DecodeOptions{MaxLength: 5}
	sampling.Sampling.Temperature, sampling.Sampling.TopP, sampling.Seed, sampling.First = 8, 0.95, 7, 1
	thrice := decoded(t, []string{"31", "31", "31", "2026", "2026", "2026"}, sampling)
	if thrice[0] == thrice[1] && thrice[1] == thrice[2] {
		t.Fatalf("samples %q are all the same: this shows nothing", thrice)
	}
	drawn := len(strings.NewReplacer(" stop", "", " length", "").Replace(strings.Join(thrice, ""))) // digits
	for _, test := range []struct {
		fields string
		want   []string
		prompt int // tokens
		answer int // tokens, without ends
	}{
		{`"model": "copier", "prompt": "2026"`, []string{"2026 stop"}, 4, 4},
		{`"prompt": ["31", "2026"], "suffix": null, "logit_bias": {}`, decoded(t, []string{"31", "2026"}, pipeline.DecodeOptions{}), 6, 6},
		{`"prompt": ["31", "2026"], "max_tokens": 2`, []string{"31 length", "20 length"}, 6, 4},
		{`"prompt": ["31", "2026"], "n": 3, "temperature": 8, "top_p": 0.95, "seed": 7, "max_tokens": 5`, thrice, 6, drawn},
		{`"prompt": "2026", "n": 2, "best_of": 2, "stop": ["26", "x"]`, []string{"20 stop", "20 stop"}, 4, 4},
		{`"prompt": ["2026", "7"], "stop": ["2", "02"]`, []string{" stop", "7 stop"}, 5, 1},
		{`"prompt": ["2026", "1"], "stop": "2027"`, []string{"2026 stop", "1 stop"}, 5, 5},
	} {
		got := post[completion](t, web, "/v1/completions", "{"+test.fields+"}")
		if fmt.Sprint(got.texts()) != fmt.Sprint(test.want) || got.Model != "copier" || got.Object != "text_completion" {
			t.Errorf("%s: %q, want %q", test.fields, got.texts(), test.want)
		}
		pieces, u := streamed(t, web, "{"+test.fields+`, "stream": true, "stream_options": {"include_usage": true}}`, len(test.want))
		if fmt.Sprint(pieces) != fmt.Sprint(test.want) {
			t.Errorf("%s: streamed %q, want %q", test.fields, pieces, test.want)
		}
		if got.Usage == nil || u == nil || *got.Usage != *u || u.PromptTokens != test.prompt || u.CompletionTokens != test.answer || u.TotalTokens != u.PromptTokens+u.CompletionTokens {
			t.Errorf("%s: usage %+v, streamed %+v, want %d tokens of prompts and %d of answers", test.fields, got.Usage, u, test.prompt, test.answer)
		}
	}
	if got := post[completion](t, web, "/v1/completions", `{"prompt": ["31", "2026"]}`); got.Usage.CompletionTokens != 6 {
		t.Errorf("the answers 31 and 2026 have %d tokens", got.Usage.CompletionTokens)
	}
	if status, text := send(t, web, http.MethodGet, "/v1/models", ""); status != http.StatusOK || !strings.Contains(text, `"id":"copier"`) || !strings.Contains(text, `"step":1200`) {
		t.Errorf("models: %d %s", status, text)
	}
}

// The first piece arrives before the answer is complete, also through a proxy that holds answers back unless it is told not to.
// Caught when planted: no X-Accel-Buffering.
func TestPiecesArriveAtOnce(t *testing.T) {
	_, web := opened(t, Options{})
	response, err := web.Client().Post(web.URL+"/v1/completions", "application/json", strings.NewReader(`{"prompt": "2026", "stream": true}`))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	lines, pieces := bufio.NewScanner(response.Body), 0
	for lines.Scan() {
		if strings.Contains(lines.Text(), `"finish_reason":null`) {
			pieces++
		}
	}
	if h := response.Header; pieces != 4 || h.Get("Content-Type") != "text/event-stream" || h.Get("X-Accel-Buffering") != "no" {
		t.Errorf("4 digits come in %d pieces with %v", pieces, h)
	}
}

// 32 clients at once get what each gets alone.
func TestClients(t *testing.T) {
	s, web := opened(t, Options{})
	const clients = 32
	bodies, want, got := make([]string, clients), make([][]string, clients), make([][]string, clients)
	for i := range bodies {
		bodies[i] = fmt.Sprintf(`{"prompt": ["%d", "%d"], "max_tokens": %d, "temperature": %d, "seed": %d`, 37*i, 9999-i, 3+i%4, i%3, i%2)
		want[i] = post[completion](t, web, "/v1/completions", bodies[i]+"}").texts()
	}
	var all sync.WaitGroup
	start := make(chan struct{})
	for i := range got {
		all.Go(func() {
			<-start
			if i%2 == 0 {
				got[i] = post[completion](t, web, "/v1/completions", bodies[i]+"}").texts()
			} else {
				got[i], _ = streamed(t, web, bodies[i]+`, "stream": true}`, 2)
			}
		})
	}
	close(start)
	all.Wait()
	for i := range want {
		if fmt.Sprint(got[i]) != fmt.Sprint(want[i]) {
			t.Errorf("client %d gets %q, alone %q", i, got[i], want[i])
		}
	}
	web.Close() // waits until all requests are counted, which happens after their clients have the answers
	metrics := httptest.NewRecorder()
	s.Handler().ServeHTTP(metrics, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if text := metrics.Body.String(); !strings.Contains(text, `ut_requests_total{endpoint="/v1/completions",status="200"} 64`) ||
		!strings.Contains(text, "ut_queue_length 0\n") || !strings.Contains(text, "go_goroutines ") || strings.Contains(text, "ut_batch_size_sum 0\n") {
		t.Errorf("metrics: %s", text)
	}
}

// A pair is scored as by the model, and one that cannot be read has an error of its own; a trace is that of the model.
func TestScoreAndTrace(t *testing.T) {
	_, web := opened(t, Options{MaxSource: 5})
	m, err := pipeline.Load(copier, enginetest.Backend(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	want, err := m.Score(t.Context(), []pipeline.Pair{{Source: "12", Target: "13"}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	got := post[results[scoreJSON]](t, web, "/v1/score", `{"pairs": [{"source": "x", "target": "1"}, {"source": "12", "target": "13"}, {"source": "123456", "target": "1"}]}`).Data
	if len(got) != 3 || !strings.Contains(got[0].Error, `unknown token "x"`) || !strings.Contains(got[2].Error, "6 tokens are more than the limit, 5") || got[0].LogProb != nil {
		t.Fatalf("scores %+v", got)
	}
	if fmt.Sprint(got[1].LogProbs) != fmt.Sprint(want[0].LogProbs) || *got[1].LogProb != want[0].LogProbs[0]+want[0].LogProbs[1]+want[0].LogProbs[2] {
		t.Errorf("score %+v, want %+v", got[1], want[0])
	}
	trace, err := m.Trace(t.Context(), "12")
	if err != nil {
		t.Fatal(err)
	}
	expected, err := json.Marshal(trace)
	if err != nil {
		t.Fatal(err)
	}
	if status, text := send(t, web, http.MethodPost, "/v1/trace", `{"input": "12"}`); status != http.StatusOK || strings.TrimSpace(text) != string(expected) {
		t.Errorf("trace: %d %s", status, text)
	}
}

// copied returns a copy of the copier's run directory with the given name.
func copied(t testing.TB, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.CopyFS(dir, os.DirFS(copier)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A choice has the tokens of its prompt that the model does not know, also in a stream, and a score those of its target and of its source; fields that ask for nothing change nothing.
// Caught when planted: no unknown tokens in a stream, those of another choice.
func TestUnknownTokens(t *testing.T) {
	_, web := opened(t, Options{}, "../pipeline/testdata/version-0.2/pairs")
	const idle = `, "logprobs": null, "echo": false, "best_of": 1, "suffix": "", "logit_bias": {}, "frequency_penalty": 0.0, "presence_penalty": 0, "user": "me"}`
	for i, c := range post[completion](t, web, "/v1/completions", `{"prompt": ["30", "3☃"]`+idle).Choices {
		if want := []string{"[]", "[☃]"}[i]; fmt.Sprint(c.Unknown) != want {
			t.Errorf("choice %d: unknown %q, want %s", i, c.Unknown, want)
		}
	}
	if _, text := send(t, web, http.MethodPost, "/v1/completions", `{"prompt": ["30", "3☃"], "stream": true`+idle); !strings.Contains(text, `"unknown":["☃"]`) ||
		strings.Count(text, "unknown") != 1 || strings.Index(text, "unknown") < strings.LastIndex(text, `"index":1,"logprobs":null,"finish_reason":"`) {
		t.Errorf("stream: %s", text)
	}
	scores := post[results[scoreJSON]](t, web, "/v1/score", `{"pairs": [{"source": "3☃", "target": "1☂"}, {"source": "30", "target": "1"}]}`).Data
	if s := scores[0]; fmt.Sprint(s.Unknown, s.UnknownSource, s.UnknownCount) != "[☂] [☃] 1" {
		t.Errorf("score %+v", s)
	}
	if s := scores[1]; s.Unknown != nil || s.UnknownSource != nil || s.UnknownCount != 0 {
		t.Errorf("score %+v", s)
	}
}
