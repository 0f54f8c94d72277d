package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"universal-transformer/viewer"
)

// counted returns how many tokens /metrics says that a model has read and decoded.
func counted(t *testing.T, web *httptest.Server, model string) (read, decoded int) {
	t.Helper()
	_, text := send(t, web, http.MethodGet, "/metrics", "")
	find := func(kind string) int {
		found := regexp.MustCompile(`(?m)^ut_tokens_total\{model="` + model + `",kind="` + kind + `"\} (\d+)$`).FindStringSubmatch(text)
		if found == nil {
			return 0
		}
		n, err := strconv.Atoi(found[1])
		if err != nil {
			t.Error(err)
		}
		return n
	}
	return find("prompt"), find("completion")
}

// The tokens of every endpoint are counted: those that are read, of texts without errors, and those that are decoded, up to the stop that ends
// an answer, for each of several answers. Caught when planted: no tokens of scores, classes, traces and traces with an exit; texts with errors;
// ends that are counted.
func TestTokensOfEndpoints(t *testing.T) {
	_, web := opened(t, Options{MaxSource: 20}, copier, "../models/babi")
	traced := func() int {
		var trace viewer.Trace
		_, text := send(t, web, http.MethodPost, "/v1/trace", `{"model": "copier", "input": "12", "exit": {"rule": "fixed", "setting": 1}}`)
		if err := json.Unmarshal([]byte(text), &trace); err != nil {
			t.Fatal(err)
		}
		return len(trace.Output)
	}
	ask := func(path, body string) func() int {
		return func() int {
			if status, text := send(t, web, http.MethodPost, path, body); status != http.StatusOK {
				t.Errorf("%s %s: %d %s", path, body, status, text)
			}
			return 0
		}
	}
	for _, test := range []struct {
		name          string
		do            func() int // returns how many tokens more are decoded
		model         string
		read, decoded int
	}{
		{"completions", ask("/v1/completions", `{"model": "copier", "prompt": ["31", "2026"]}`), "copier", 6, 6},
		{"a stream", ask("/v1/completions", `{"model": "copier", "prompt": ["31", "2026"], "stream": true}`), "copier", 6, 6},
		{"a stop, twice", ask("/v1/completions", `{"model": "copier", "prompt": "2026", "n": 2, "stop": "02"}`), "copier", 4, 6},
		{"scores", ask("/v1/score", `{"model": "copier", "pairs": [{"source": "12", "target": "134"}, {"source": "x", "target": "1"}, {"source": "7", "target": ""}]}`), "copier", 6, 0},
		{"a trace", ask("/v1/trace", `{"model": "copier", "input": "12"}`), "copier", 2, 2},
		{"a trace with an exit", traced, "copier", 2, 0},
		{"classes", ask("/v1/classify", `{"model": "babi", "input": ["Mary moved to the bathroom. Where is Mary?", ""]}`), "babi", 2, 0}, // it reads sentences
	} {
		read, decoded := counted(t, web, test.model)
		more := test.do()
		if test.name == "a trace with an exit" && more == 0 {
			t.Error("the trace with an exit has an empty answer: this shows nothing")
		}
		readNow, decodedNow := counted(t, web, test.model)
		if got, want := fmt.Sprint(readNow-read, decodedNow-decoded), fmt.Sprint(test.read, test.decoded+more); got != want {
			t.Errorf("%s: read and decoded %s tokens, want %s", test.name, got, want)
		}
	}
}

// The tokens of a stream that is given up are counted. Caught when planted: tokens that are counted at the end of an answer.
func TestTokensOfStreamThatIsGivenUp(t *testing.T) {
	for _, end := range []error{context.Canceled, context.DeadlineExceeded} {
		s, web := opened(t, Options{}, "../models/reverse")
		i := &interrupted{Context: t.Context(), ResponseRecorder: httptest.NewRecorder(), done: make(chan struct{}), err: end}
		body := fmt.Sprintf(`{"prompt": %q, "stream": true}`, strings.Repeat("1", 100))
		s.Handler().ServeHTTP(i, httptest.NewRequestWithContext(i, http.MethodPost, "/v1/completions", strings.NewReader(body)))
		if read, decoded := counted(t, web, "reverse"); read != 100 || decoded < 1 || strings.Contains(i.Body.String(), "[DONE]") {
			t.Errorf("%v: read %d tokens and decoded %d: %s", end, read, decoded, i.Body)
		}
	}
}
