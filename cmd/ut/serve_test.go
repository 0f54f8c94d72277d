//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
)

// dates is a file of pairs of dates.
func dates(t *testing.T) string {
	var rows strings.Builder
	for i := range 300 {
		fmt.Fprintf(&rows, "%d %s %d\t%d-%02d-%02d\n", 1+i%28, []string{"Mar", "May", "Sep"}[i%3], 2000+i%20, 2000+i%20, []int{3, 5, 9}[i%3], 1+i%28)
	}
	return write(t, "pairs.tsv", rows.String())
}

// ask sends a request and returns its answer, which must be a success.
func ask(t *testing.T, address, path, body string) []byte {
	t.Helper()
	method := http.MethodPost
	if body == "" {
		method = http.MethodGet
	}
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+address+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Errorf("%s %s: %d %s, %v", path, body, response.StatusCode, text, err)
	}
	return text
}

// The server answers as ut decode, classify and tag do; the requests of the documentation succeed; SIGTERM ends it with exit code 0.
func TestServe(t *testing.T) {
	pairs, labels := quickRun(t, "pairs", "own-pairs", "task.path="+dates(t)), quickRun(t, "reviews", "own-labels", "task.path="+reviews(t), "task.text_column=review", "task.label_column=stars", "task.tokenizer_size=300")
	tags := quickRun(t, "names", "own-tags", "task.path="+names(t))
	address, end := serving(t, pairs, labels, tags)
	var completed struct{ Choices []struct{ Text string } }
	read(t, ask(t, address, "/v1/completions", `{"model": "pairs", "prompt": ["5 Mar 2015", "1 May 2001"]}`), &completed)
	if want := utReading(t, "5 Mar 2015\n1 May 2001\n", "decode", pairs).stdout; len(completed.Choices) != 2 || completed.Choices[0].Text+"\n"+completed.Choices[1].Text+"\n" != want {
		t.Errorf("completions %+v, ut decode writes %q", completed, want)
	}
	var classified struct{ Data []classifiedJSON }
	read(t, ask(t, address, "/v1/classify", `{"model": "reviews", "input": ["number 3, \"good\"", "", "a bad one"]}`), &classified)
	for i, line := range map[int]string{0: `number 3, "good"`, 2: "a bad one"} {
		var want classifiedJSON
		read(t, []byte(utReading(t, line+"\n", "classify", labels, "--json").stdout), &want)
		if got := classified.Data[i]; fmt.Sprint(got) != fmt.Sprint(want) || len(got.Probabilities) != 2 {
			t.Errorf("%s: %+v, ut classify writes %+v", line, got, want)
		}
	}
	var tagged struct{ Data []taggedJSON }
	read(t, ask(t, address, "/v1/classify", `{"model": "names", "input": "Book Number7 by Aab Mbb ."}`), &tagged)
	var want taggedJSON
	read(t, []byte(utReading(t, "Book Number7 by Aab Mbb .\n", "tag", tags, "--json").stdout), &want)
	for i, w := range want.Words {
		if got := tagged.Data[0].Words[i]; got.Word != w.Word || got.Tag != w.Tag || got.Probability != w.Probability {
			t.Errorf("word %d: %+v, ut tag writes %+v", i, got, w)
		}
	}
	if got := tagged.Data[0]; len(got.Words) != 6 || fmt.Sprint(got.Spans) != fmt.Sprint(want.Spans) {
		t.Errorf("tags %+v, ut tag writes %+v", got, want)
	}
	documented(t, address)
	if code := end(); code != 0 {
		t.Errorf("exit code %d after SIGTERM", code)
	}
}

func read(t *testing.T, data []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%v: %s", err, data)
	}
}

// documented sends the requests of docs/serving.md.
func documented(t *testing.T, address string) {
	text, err := os.ReadFile("../../docs/serving.md")
	if err != nil {
		t.Fatal(err)
	}
	requests := regexp.MustCompile(`(?m)^curl localhost:8080(\S+)(?: --json '(.*)')?$`).FindAllStringSubmatch(string(text), -1)
	if len(requests) != 8 {
		t.Errorf("the documentation has %d requests", len(requests))
	}
	for _, r := range requests {
		if answer := ask(t, address, r[1], r[2]); strings.Contains(string(answer), `"error"`) {
			t.Errorf("%s %s: %s", r[1], r[2], answer)
		}
	}
}

// A token in the environment is checked like one in a file, in whose presence it is not read. One that is empty is no token, but a mistake.
// Caught when planted: no check; one that is made although there is a file; an empty one that is ignored; characters that no header has.
func TestServeToken(t *testing.T) {
	taken, err := net.Listen("tcp", "localhost:0") // what is accepted ends with another error
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	file := func(content string) []string { return []string{"--token-file", write(t, "token", content)} }
	const environment, inFile = "UT_TOKEN must contain a token, one word of ASCII characters", "token must contain a token, one word of ASCII characters"
	for _, test := range []struct {
		environment string
		args        []string
		want        string
	}{
		{"two words", nil, environment}, {"", nil, environment}, {" \t", nil, environment}, {"schlüssel", nil, environment}, {"a\x7fb", nil, environment},
		{"", file("two words"), inFile}, {"good", file("\ufeffmarked"), inFile}, {"good", file(" \n"), inFile},
		{"good", nil, "is in use"}, {" good\n", nil, "is in use"}, {"two words", file("good\n"), "is in use"},
	} {
		t.Setenv("UT_TOKEN", test.environment)
		r := ut(t, append([]string{"serve", trained(t), "--address", taken.Addr().String()}, test.args...)...)
		if strings.Count(r.stderr, "\n") != 1 || !strings.Contains(r.stderr, test.want) {
			t.Errorf("UT_TOKEN=%q %v: %q, want %q", test.environment, test.args, r.stderr, test.want)
		}
	}
}

// What is wrong with the command line is one line that names the flag.
func TestServeMistakes(t *testing.T) {
	run := trained(t)
	taken, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for want, test := range map[string]struct {
		args []string
		code int
	}{
		"RUN is missing":                                      {nil, 2},
		"give a token with --token-file":                      {[]string{run, "--address", ":0"}, 2},
		"choose another --address":                            {[]string{run, "--address", taken.Addr().String()}, 1},
		`--address is "nonsense"`:                             {[]string{run, "--address", "nonsense"}, 2},
		"must contain a token, one word":                      {[]string{run, "--token-file", write(t, "token", "two words\n")}, 2},
		"nowhere.txt":                                         {[]string{run, "--token-file", "nowhere.txt"}, 1},
		`--host: the host "a.example:80" is not valid`:        {[]string{run, "--host", "a.example:80"}, 2},
		"--max-queue is 0: it must be at least 1":             {[]string{run, "--max-queue", "0"}, 2},
		"--max-tokens is 1000001: it must be at most 1000000": {[]string{run, "--max-tokens", "1000001"}, 2},
		"--timeout is 0s: it must be positive":                {[]string{run, "--timeout", "0"}, 2},
		"--max-body is 0: it must be from 1 to 1073741824":    {[]string{run, "--max-body", "0"}, 2},
		"nowhere": {[]string{"nowhere", "--address", "localhost:0"}, 1},
	} {
		r := ut(t, append([]string{"serve"}, test.args...)...)
		if r.code != test.code || strings.Count(r.stderr, "\n") != 1 || !strings.Contains(r.stderr, want) {
			t.Errorf("%v: exit code %d, %q, want %d, %q", test.args, r.code, r.stderr, test.code, want)
		}
	}
}
