package serve

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// fuzzed sends bodies to an endpoint: the answer is a result, or one error that is the client's.
func fuzzed(f *testing.F, path string, bodies ...string) {
	s, _ := opened(f, Options{MaxBody: 4000, MaxPrompts: 4, MaxSource: 20, MaxTokens: 20})
	handler := s.Handler()
	for _, body := range append(bodies, `{}`, `[]`, `null`, `{"model": "copier"}`, `{"model": null, "model": "x"}`, "{\"\xff\": 1}", `{"a": `, "") {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body))
		checkAnswer(t, handler, r, body, map[int]int{})
	})
}

func FuzzCompletions(f *testing.F) {
	fuzzed(f, "/v1/completions", `{"prompt": "12", "max_tokens": 3, "temperature": 1, "top_p": 0.5, "n": 2, "seed": -1, "stop": ["1", "2"]}`,
		`{"prompt": ["1", ""], "stream": true, "stream_options": {"include_usage": true, "include_steps": true}}`, `{"PROMPT": "1", "prompt": 1}`, `{"prompt": "\ud800\u0000"}`)
}

func FuzzScore(f *testing.F) {
	fuzzed(f, "/v1/score", `{"pairs": [{"source": "1", "target": "2"}, {"source": "x"}, null]}`, `{"pairs": [[]]}`, `{"pairs": {"source": "1"}}`)
}

func FuzzClassify(f *testing.F) {
	fuzzed(f, "/v1/classify", `{"input": "1"}`, `{"input": ["1", null]}`, `{"input": {"1": 2}}`)
}

func FuzzTrace(f *testing.F) {
	fuzzed(f, "/v1/trace", `{"input": "12"}`, `{"input": ["12"]}`, `{"input": ["1", "2"]}`, `{"input": ""}`,
		`{"input": "12", "exit": {"rule": "fixed", "setting": 2}, "format": "view"}`, `{"input": "12", "exit": {"rule": "confidence", "setting": 1e-300}}`,
		`{"input": "12", "exit": {"rule": "limit", "setting": 1e300}, "format": 1}`)
}
