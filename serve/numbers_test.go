package serve

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"universal-transformer/engine/enginetest"
	"universal-transformer/experiment"
	"universal-transformer/pipeline"
	texts "universal-transformer/task/text"
)

// Whole numbers may be written in any form, and one out of range is not called one of the wrong type; an element of a list has its index.
// Caught when planted: forms that are refused; a message without an index.
func TestNumbers(t *testing.T) {
	_, web := opened(t, Options{})
	for path, cases := range map[string]map[string]string{
		"/v1/completions": {
			`{"prompt": "1", "n": 2.0, "max_tokens": 1e2, "seed": 1e1e}`:                                       "not valid JSON",
			`{"prompt": "1", "n": 2.0, "max_tokens": 1e2, "seed": -3.00}`:                                      "",
			`{"prompt": "1", "n": 20e-1, "seed": -9223372036854775808}`:                                        "",
			`{"prompt": "1", "n": null, "max_tokens": null, "seed": null, "temperature": null, "top_p": null}`: "",
			`{"prompt": "1", "n": 2.5}`:                            "n is 2.5: it must be a whole number",
			`{"prompt": "1", "n": 0.0}`:                            "n is 0.0: it must be 1 to 128",
			`{"prompt": "1", "n": -1}`:                             "n is -1: it must be 1 to 128",
			`{"prompt": "1", "n": 1e400}`:                          "n is 1e400: it must be 1 to 128",
			`{"prompt": "1", "n": true}`:                           "n is true or false: it must be a whole number",
			`{"prompt": "1", "n": [1]}`:                            "n is an array: it must be a whole number",
			`{"prompt": "1", "max_tokens": 99999999999999999999}`:  "max_tokens is 99999999999999999999: it must be 1 to 2000",
			`{"prompt": "1", "max_tokens": -99999999999999999999}`: "max_tokens is -99999999999999999999: it must be 1 to 2000",
			`{"prompt": "1", "max_tokens": {}}`:                    "max_tokens is an object: it must be a whole number",
			`{"prompt": "1", "seed": 9223372036854775808}`:         "seed is 9223372036854775808: it must be -9223372036854775808 to 9223372036854775807",
			`{"prompt": "1", "seed": -1e19}`:                       "seed is -1e19: it must be -9223372036854775808 to 9223372036854775807",
			`{"prompt": "1", "temperature": 1e400}`:                "temperature is +Inf: it must be 0, or 0.01 to 10",
			`{"prompt": "1", "temperature": "1"}`:                  "temperature is a string: it must be a number",
			`{"prompt": "1", "top_p": -1e400}`:                     "top_p is -Inf: it must be above 0 and at most 1",
		},
		"/v1/score": {
			`{"pairs": [{"source": "1", "target": "1"}, 3]}`:             "pairs[1] is a number: it must be an object",
			`{"pairs": [{"source": "1", "target": "1"}, {"source": 1}]}`: "pairs[1].source is a number: it must be a string",
			`{"pairs": [{"source": "1", "target": ["1"]}]}`:              "pairs[0].target is an array: it must be a string",
			`{"pairs": [null]}`:          "pairs[0].source is missing",
			`{"pairs": {"source": "1"}}`: "pairs is an object: it must be an array",
			`{"pairs": 3}`:               "pairs is a number: it must be an array",
		},
		"/v1/trace": {
			`{"input": "1", "exit": {"rule": "confidence", "setting": 1e400}}`: "exit: setting is too large",
			`{"input": "1", "exit": {"rule": "fixed", "setting": "2"}}`:        "exit.setting is a string: it must be a number",
			`{"input": "1", "exit": 3}`:                                        "exit is a number: it must be an object",
		},
	} {
		for body, want := range cases {
			status, answer := send(t, web, http.MethodPost, path, body)
			if want == "" && status != http.StatusOK || want != "" && (status != http.StatusBadRequest || !strings.Contains(wrong(t, answer), want)) {
				t.Errorf("%s: %d %s, want %q", body, status, answer, want)
			}
		}
	}
	var w struct{ N whole }
	for text, want := range map[string]int64{"9223372036854775807": 1<<63 - 1, "-9223372036854775808": -1 << 63, "9007199254740993": 1<<53 + 1, "4.5e1": 45, "-0.0": 0, "9007199254740992.0": 1 << 53} {
		if err := json.Unmarshal(fmt.Appendf(nil, `{"n": %s}`, text), &w); err != nil || w.N.value != want || w.N.beyond {
			t.Errorf("%s is read as %+v, %v", text, w.N, err)
		}
	}
}

// The tokens of a stream with include_steps, one after the other, are its text: a line break that the model writes is a space in both.
// Caught when planted: tokens with line breaks.
func TestTokensAreTheText(t *testing.T) {
	path, dir := filepath.Join(t.TempDir(), "text"), filepath.Join(t.TempDir(), "run")
	if err := os.WriteFile(path, []byte(strings.Repeat("ab \nb", 200)), 0o600); err != nil {
		t.Fatal(err)
	}
	r := experiment.Defaults()
	r.Task = experiment.Task{Value: texts.Text{Path: path, Length: 8, HeldOut: 0.3}}
	r.Model.Value = experiment.LanguageModel(r.Model.Value.(experiment.EncoderDecoder))
	r.Training.BestByAccuracy = false
	r, err := r.Set("model.width=8", "model.heads=2", "training.steps=1", "training.evaluate_every=1", "training.validation=4", "training.batch.rows=2")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pipeline.Train(t.Context(), enginetest.Backend(t), r, dir, pipeline.Callbacks{}); err != nil {
		t.Fatal(err)
	}
	s, web := opened(t, Options{}, dir)
	lines, o, raw := make([]string, 40), pipeline.DecodeOptions{MaxLength: 12}, ""
	o.Sampling.Temperature, o.Sampling.TopP, o.Seed, o.First = 1, 1, 3, 1
	for i := range lines {
		lines[i] = "a"
	}
	if _, err := s.models[0].current.StreamTokens(t.Context(), io.Discard, lines, o, func(_ int, token pipeline.Token) { raw += token.Text }); err != nil || !strings.Contains(raw, "\n") {
		t.Fatalf("the model writes %q, %v: this shows nothing", raw, err)
	}
	status, answer := send(t, web, http.MethodPost, "/v1/completions", `{"prompt": "a", "n": 40, "max_tokens": 12, "temperature": 1, "seed": 3, "stream": true, "stream_options": {"include_steps": true}}`)
	shown, tokens := make([]string, len(lines)), make([]string, len(lines))
	for event := range strings.SplitSeq(answer, "\n\n") {
		var c completion
		if json.Unmarshal([]byte(strings.TrimPrefix(event, "data: ")), &c) != nil {
			continue // the end
		}
		for _, one := range c.Choices {
			shown[one.Index] += one.Text
			if one.Token != nil {
				tokens[one.Index] += *one.Token
			}
		}
	}
	if status != http.StatusOK || len(strings.Join(shown, "")) < 20 || fmt.Sprintf("%q", tokens) != fmt.Sprintf("%q", shown) {
		t.Errorf("status %d, tokens %q, texts %q", status, tokens, shown)
	}
}
