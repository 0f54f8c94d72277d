package serve

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"

	"universal-transformer/viewer"
)

// With include_steps, a stream has every token with its steps, which are those of the trace, beside the texts that it has without.
// Caught when planted: tokens of another choice; steps that are left out.
func TestStreamOfSteps(t *testing.T) {
	_, web := opened(t, Options{}, "../models/reverse")
	const fields = `"prompt": ["31415", "2"], "stream": true, "stream_options": {"include_usage": true, "include_steps": `
	plain, usage := streamed(t, web, "{"+fields+"false}}", 2)
	counted, again := streamed(t, web, "{"+fields+"true}}", 2)
	if fmt.Sprint(plain) != fmt.Sprint(counted) || fmt.Sprint(plain) != "[51413 stop 2 stop]" || *usage != *again {
		t.Errorf("%q with steps, %q without", counted, plain)
	}
	_, text := send(t, web, http.MethodPost, "/v1/completions", "{"+fields+"true}}")
	var tokens [2]string
	var steps [2][]float64
	for event := range strings.SplitSeq(text, "\n\n") {
		var c completion
		if json.Unmarshal([]byte(strings.TrimPrefix(event, "data: ")), &c) != nil {
			continue // the end
		}
		for _, one := range c.Choices {
			if one.Token != nil && one.Steps != nil && one.Text == "" {
				tokens[one.Index] += *one.Token
				steps[one.Index] = append(steps[one.Index], float64(*one.Steps))
			}
		}
	}
	for i, input := range []string{"31415", "2"} {
		trace := post[viewer.Trace](t, web, "/v1/trace", fmt.Sprintf(`{"input": %q}`, input))
		if tokens[i] != strings.Fields(plain[i])[0] || !slices.Equal(steps[i], trace.Decoder.Updates) {
			t.Errorf("%s: tokens %q with steps %v, the trace says %v", input, tokens[i], steps[i], trace.Decoder.Updates)
		}
	}
}

// The models are described so that a page can offer inputs and exits, and every exit that is offered is accepted.
func TestProfiles(t *testing.T) {
	_, web := opened(t, Options{}, served...)
	status, text := send(t, web, http.MethodGet, "/v1/models", "")
	var list struct{ Data []modelJSON }
	if err := json.Unmarshal([]byte(text), &list); err != nil || status != http.StatusOK {
		t.Fatalf("%d %s", status, text)
	}
	for i, want := range []string{"reverse line 5 true", "program program 5 true", "translation sentence 0 true", "babi story 0 true"} {
		m := list.Data[i]
		if got := fmt.Sprint(m.ID, " ", m.Reads, " ", len(m.Examples), " ", m.Traces); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		rules := ""
		for _, e := range m.Exits {
			rules += e.Rule + " "
			if !slices.IsSortedFunc(e.Settings, func(a, b float64) int {
				return int(math.Copysign(1, a-b)) * map[bool]int{true: -1, false: 1}[e.Rule == "divergence"]
			}) {
				t.Errorf("%s: settings of %s are %v", m.ID, e.Rule, e.Settings)
			}
		}
		if rules != "fixed limit threshold confidence unchanged divergence " {
			t.Errorf("%s: rules %s", m.ID, rules)
		}
	}
	for _, e := range list.Data[0].Exits {
		setting := e.Settings[len(e.Settings)/2]
		body := fmt.Sprintf(`{"model": "reverse", "input": %q, "format": "view", "exit": {"rule": %q, "setting": %v}}`, list.Data[0].Examples[0], e.Rule, setting)
		if v := post[map[string]any](t, web, "/v1/trace", body); v["answer"] == "" || v["exit"] == "" || !strings.Contains(fmt.Sprint(v["html"]), `id="steps"`) {
			t.Errorf("%s: %v", body, v)
		}
	}
	for body, want := range map[string]string{
		`"exit": {"rule": "fixed", "setting": 101}`:    "setting is 101: it must be at most 100 steps",
		`"exit": {"rule": "fixed", "setting": 100000}`: "setting is 100000: it must be at most 100 steps",
		`"exit": {"rule": "limit", "setting": 1e300}`:  "at most 100 steps",
		`"exit": {"rule": "limit", "setting": 0}`:      "needs a number of steps",
		`"exit": {"rule": "speed", "setting": 1}`:      `rule \"speed\" is unknown`,
		`"exit": {}`: "exit.rule is missing",
		`"exit": {"rule": "threshold", "setting": 2}`: "it must be below 0.99",
		`"exit": "fixed"`:  "exit is a string: it must be an object",
		`"format": "html"`: "choose trace or view",
	} {
		status, text := send(t, web, http.MethodPost, "/v1/trace", `{"model": "reverse", "input": "12", `+body+`}`)
		if wrong(t, text); status != http.StatusBadRequest || !strings.Contains(text, want) {
			t.Errorf("%s: %d %s, want %s", body, status, text, want)
		}
		if field := strings.Split(body, `"`)[1]; !strings.Contains(text, `"param":"`+field+`"`) {
			t.Errorf("%s: %s, want the field %s", body, text, field)
		}
	}
}

// The page holds nothing from elsewhere, and a browser is told to load nothing from there.
func TestPageFiles(t *testing.T) {
	_, web := opened(t, Options{Token: "secret"})
	for path, kind := range map[string]string{"/": "text/html", "/page.css": "text/css", "/page.js": "text/javascript"} {
		response, err := web.Client().Get(web.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		policy := response.Header.Get("Content-Security-Policy")
		if response.StatusCode != 200 || response.Header.Get("Content-Type") != kind+"; charset=utf-8" || !strings.HasPrefix(policy, "default-src 'none'; script-src 'self'; style-src 'self';") {
			t.Errorf("%s: %d %v", path, response.StatusCode, response.Header)
		}
		_, text := send(t, web, http.MethodGet, path, "")
		text = strings.ReplaceAll(text, "http://www.w3.org/2000/svg", "") // the name of a format
		for _, bad := range []string{"http:", "https:", "//www", "@import", "url(", " style=", "onclick", "copier", "secret"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s contains %q", path, bad)
			}
		}
		if status, text := send(t, web, http.MethodHead, path, ""); status != 200 || text != "" {
			t.Errorf("HEAD %s: %d %q", path, status, text)
		}
	}
}
