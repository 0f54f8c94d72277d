package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every question of a story is answered, with the facts that were attended to. The story continues after a question and ends with an empty
// line. An unreadable line is reported in one line with its number.
func TestAnswerAndReport(t *testing.T) {
	data, out := stories(t), t.TempDir()
	succeeds(t, gridded(data, out)...)
	run := filepath.Join(out, "runs", "babi-1k-single-adaptive", "task01-seed1")
	rooms := "kitchen garden office"
	story := "Mary went to the garden.\nJohn went to the kitchen.\nWhere is Mary?\nJohn went to the office. Where is Mary?\n\n1 Mary went to the kitchen.\n2 Where is Mary?\tkitchen\t1\n"
	r := utReading(t, story, "answer", run)
	var answers, facts []string
	for line := range strings.Lines(r.stdout) {
		if strings.HasPrefix(line, "  ") {
			facts = append(facts, line)
		} else {
			answers = append(answers, strings.Fields(line)[0])
		}
	}
	if r.code != 0 || len(answers) != 3 || len(facts) != 2+3+1 || r.stderr != "" {
		t.Fatalf("exit code %d, answers %q, facts %q, %s", r.code, answers, facts, r.stderr)
	}
	for _, a := range answers {
		if !strings.Contains(rooms, a) {
			t.Errorf("the answer is %q", a)
		}
	}
	if r := utReading(t, "Mary flew to the moon.\nWhere is Mary?", "answer", run, "--facts", "0"); r.code != 0 || !strings.Contains(r.stderr, "line 2: 2 unknown tokens are read as <unknown>: \"flew\", \"moon\"") ||
		strings.Count(r.stdout, "\n") != 1 {
		t.Errorf("unknown words: %+v", r)
	}
	if r := utReading(t, "Mary w\xffent to the garden.\nMary went to the kitchen.\nWhere is M\xffary?\nWhere is Mary?", "answer", run, "--facts", "0"); r.code != 1 || strings.Count(r.stdout, "\n") != 2 ||
		!strings.Contains(r.stderr, "line 1: not valid UTF-8 at byte 7") || !strings.Contains(r.stderr, "line 3: not valid UTF-8 at byte 11") || strings.Contains(r.stdout+r.stderr, "\ufffd") {
		t.Errorf("bytes that are not text: %+v", r)
	}
	if r := utReading(t, "", "answer", run); r.code != 1 || r.stderr != "ut: no story on the standard input: see ut answer --help\n" {
		t.Errorf("nothing: %+v", r)
	}
	const good = "Mary went to the garden.\nWhere is Mary?\n"
	for input, c := range map[string]struct {
		says    string
		answers string // of its lines: + one, or - none
	}{
		"Mary went to the garden.":                       {"line 1: the story ends without a question", ""},
		good + "John went to the garden.\n":              {"line 3: the story ends without a question", "+"},
		"Mary went to the garden.\n\n" + good:            {"line 1: the story ends without a question", "+"},
		"Where is Mary?\n" + good:                        {"line 1: a story needs at least one fact", "-+"},
		"Mary is.\nWhere? Where is Mary\n\n" + good:      {"line 2: sentence 2, \"Where?\", is a question, but more follows", "-+"},
		good + strings.Repeat("a", maxLineSize+9) + "\n": {"line 3: longer than", "+"},
	} {
		r := utReading(t, input, "answer", run, "--facts", "0")
		answers := ""
		for line := range strings.Lines(r.stdout) {
			answers += map[bool]string{true: "-", false: "+"}[line == "\n"]
		}
		if said := strings.Split(r.stderr, "\n"); r.code != 1 || answers != c.answers || len(said) != 3 || !strings.HasPrefix(said[0], "ut: "+c.says) || !strings.HasPrefix(said[1], "ut: 1 of ") {
			t.Errorf("%.50q: %+v, want %+v", input, r, c)
		}
	}
	storiesAsJSON(t, run)
	if r := utReading(t, "12\n", "decode", run); r.code != 1 || !strings.Contains(r.stderr, "use ut answer") {
		t.Errorf("decode: %+v", r)
	}
	if got := succeeds(t, "eval", run); !strings.Contains(got, "60 examples, classification") {
		t.Errorf("eval says %s", got)
	}
	if page := strings.TrimSpace(succeeds(t, "trace", run, "--input", "Mary went to the garden. Where is Mary?")); filepath.Ext(page) != ".html" {
		t.Errorf("trace says %q", page)
	}
	if svg := succeeds(t, "trace", run, "--input", "Mary went to the garden. Where is Mary?", "--svg", "--out", "-"); !strings.Contains(svg, "to mary went to the garden .</title>") {
		t.Errorf("trace --svg says %q", svg)
	}
	if r := ut(t, "trace", run, "--figure", "8"); r.code != 1 || !strings.Contains(r.stderr, "--figure: a sentence has more than 6 words") {
		t.Errorf("a story too long for a model: %+v", r)
	}
	for want, args := range map[string][]string{"figures 5 to 8": {"--figure", "4"}, "both given": {"--figure", "5", "--input", "x"}} {
		if r := ut(t, append([]string{"trace", run}, args...)...); r.code != 2 || !strings.Contains(r.stderr, want) {
			t.Errorf("%q: %+v", args, r)
		}
	}
	page := filepath.Join(out, "runs", "RESULTS.md")
	asRecipes(t, filepath.Join(out, "runs", "results"))
	if got := succeeds(t, "table", "report", "--results", filepath.Join(out, "runs", "results")); !strings.HasSuffix(got, "results, from 2 results\n") {
		t.Errorf("report says %q", got)
	}
	for file, want := range map[string]string{page: "](results/table1.md)", filepath.Join(out, "runs", "results", "table1.md"): "](babi-1k-single-adaptive/ponder.svg)"} {
		if content, err := os.ReadFile(file); err != nil || !strings.Contains(string(content), want) {
			t.Errorf("%s lacks %q (%v): %s", file, want, err, content)
		}
	}
	if r := ut(t, "table", "report", "--results", filepath.Join(out, "gone")); r.code != 1 || !strings.Contains(r.stderr, "ut table run writes results") {
		t.Errorf("no results: %+v", r)
	}
}

// Existing data are checked. Missing data are downloaded completely or not at all, and errors say what to do.
func TestDataBabi(t *testing.T) {
	data := stories(t)
	r := ut(t, "data", "babi", "--dir", data)
	if r.code != 1 || !strings.Contains(r.stdout, "0 files with") && !strings.Contains(r.stdout, "files with 240 questions") || !strings.Contains(r.stderr, "en-10k/qa1_train.txt is missing") {
		t.Errorf("incomplete: %+v", r)
	}
	archive := filepath.Join(t.TempDir(), "a.tar.gz")
	files := map[string]string{}
	for name, content := range contents(t, filepath.Join(data, "en")) {
		files["en/"+name] = content
	}
	writeTar(t, archive, files)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/good":
			http.ServeFile(w, r, archive)
		case "/page":
			_, _ = w.Write([]byte("<html>sorry</html>"))
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	dir := filepath.Join(t.TempDir(), "new")
	for path, want := range map[string]string{"/gone": "404", "/page": "neither gzip nor xz"} {
		if r := ut(t, "data", "babi", "--dir", dir, "--from", server.URL+path); r.code != 1 || !strings.Contains(r.stderr, want) || !strings.Contains(r.stderr, "could not be downloaded: get tasks_1-20_v1-2.tar.gz") {
			t.Errorf("%s: %+v", path, r)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	if r := ut(t, "data", "babi", "--dir", dir, "--from", server.URL+"/good"); !strings.Contains(r.stdout, "files with 240 questions") {
		t.Errorf("fetched: %+v", r)
	}
	if r := ut(t, "data", "babi", "--dir", dir); !strings.HasPrefix(r.stdout, dir+": ") || strings.Contains(r.stderr, "downloading") {
		t.Errorf("fetched again: %+v", r)
	}
}
