package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A language model of a user's text is trained, evaluated, continued and traced; also on lines.
func TestOwnText(t *testing.T) {
	path := write(t, "t.txt", strings.Repeat("so much depends upon a red wheel barrow glazed with rain water beside the white chickens\n", 60))
	tiny := func(out string, more ...string) []string {
		args := []string{"train", "own-text", "--out", out}
		for _, set := range append([]string{
			"task.path=" + path, "model.width=16", "model.heads=2", "model.transition.filter=16", "model.halting.steps=2", "task.length=32",
			"training.steps=60", "training.evaluate_every=30", "training.batch.boundaries=[31]",
		}, more...) {
			args = append(args, "--set", set)
		}
		return args
	}
	run := filepath.Join(t.TempDir(), "run")
	r := ut(t, tiny(run)...)
	if r.code != 0 || !strings.Contains(r.stderr, "examples for training") || !strings.Contains(r.stderr, "validation at update 30") {
		t.Fatalf("exit code %d: %s", r.code, r.stderr)
	}
	got := succeeds(t, "eval", run)
	for _, want := range []string{"perplexity per token", "perplexity per word", "bits per token", "token accuracy", "teacher forcing"} {
		if !strings.Contains(got, want) {
			t.Errorf("eval does not say %q: %s", want, got)
		}
	}
	if of := succeeds(t, "eval", run, "--data", write(t, "other.txt", "so much depends upon rain")); !strings.Contains(of, "other.txt, 1 example,") {
		t.Errorf("eval --data says %s", of)
	}
	for name, args := range map[string][]string{"greedy": nil, "sampled": {"--sample", "--seed", "3"}, "beam": {"--beam", "2"}} {
		r := utReading(t, "so much\n\n", append([]string{"decode", run, "--max-length", "12"}, args...)...)
		if r.code != 0 || strings.Count(r.stdout, "\n") < 2 || len(r.stdout) < 12 {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if page := strings.TrimSpace(succeeds(t, "trace", run, "--input", "red")); filepath.Ext(page) != ".html" {
		t.Errorf("trace says %q", page)
	}
	if r := ut(t, "trace", run, "--input", "r\u20acd \u20ac7"); r.code != 0 || r.stderr != "ut: 3 unknown tokens are read as <unknown>: \"\u20ac\", \"7\"\n" {
		t.Errorf("a trace of unknown tokens says %+v", r)
	}
	lines, numbered := filepath.Join(t.TempDir(), "lines"), ""
	for i := range 60 {
		numbered += fmt.Sprintf("so much depends upon wheel barrow %d\n", i)
	}
	if r := ut(t, tiny(lines, "task.path="+write(t, "lines.txt", numbered), "task.lines=true", "task.tokenizer=whitespace", "task.held_out=0.3")...); r.code != 0 {
		t.Fatal(r.stderr)
	}
	if got := succeeds(t, "data", "sample", lines, "--count", "2", "--split", "test"); strings.Count(got, "so much depends upon") != 2 {
		t.Errorf("data sample says %s", got)
	}
	for want, args := range map[string][]string{
		"does not fit task.text":                {"train", "own-pairs", "--set", "task.text.path=" + path},
		"--errors: " + path + " is evaluated":   {"eval", run, "--errors", filepath.Join(t.TempDir(), "x")},
		"without a search":                      {"eval", run, "--beam", "2"},
		"it was trained on " + path + ": use u": {"answer", run},
	} {
		r := utReading(t, "a. b?\n", args...)
		if checkFailure(t, r, r.code, want); r.code == 0 {
			t.Errorf("%v succeeds", args)
		}
	}
}

// Several runs give one table; another file in the task's format is evaluated; wrong answers are written next to the right ones.
func TestEvalOfOtherThings(t *testing.T) {
	run := trained(t)
	table := succeeds(t, "eval", run, run, "--count", "4")
	lines := strings.Split(strings.TrimSpace(table), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[0], "run ") || !strings.Contains(lines[0], "sequence accuracy") || lines[1] != lines[2] || !strings.HasPrefix(lines[1], run) {
		t.Errorf("the table is\n%s", table)
	}
	if list := succeeds(t, "eval", run, run, "--count", "4", "--json"); !strings.HasPrefix(list, "[\n") {
		t.Errorf("the JSON is %s", list)
	}
	pairs, wrong := write(t, "pairs.tsv", "12\t21\nno pair\n34\t43\n5\t9\n"), filepath.Join(t.TempDir(), "wrong.tsv")
	r := ut(t, "eval", run, "--data", pairs, "--errors", wrong)
	if r.code != 0 || !strings.Contains(r.stdout, "of "+pairs+", 3 examples") || !strings.Contains(r.stderr, "4 lines, 3 usable, 1 malformed") {
		t.Fatalf("%+v", r)
	}
	content, err := os.ReadFile(wrong)
	if err != nil || !strings.Contains(string(content), "5\t9\t") {
		t.Errorf("errors are %q, %v", content, err)
	}
	for line := range strings.Lines(string(content)) {
		if columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t"); len(columns) != 3 || columns[1] == columns[2] {
			t.Errorf("%q is not wrong", line)
		}
	}
	for want, args := range map[string][]string{
		"--length and --data are both given":   {"eval", run, "--length", "3", "--data", pairs},
		"--errors is for one run":              {"eval", run, run, "--errors", wrong},
		"always computed when answers are dec": {"eval", run, "--compute-halted"},
		"unknown token":                        {"eval", run, "--data", write(t, "x.tsv", "1x\tx1\n")},
		"--split is \"all\"":                   {"data", "sample", run, "--split", "all"},
		"--count is 0":                         {"data", "sample", run, "--count", "0"},
		"did you mean \"algorithmic/reverse\"": {"data", "sample", "revers"},
	} {
		r := ut(t, args...)
		if checkFailure(t, r, r.code, want); r.code == 0 {
			t.Errorf("%v succeeds", args)
		}
	}
}

// data sample prints the first training examples, in the format of eval --data.
func TestDataSample(t *testing.T) {
	run := trained(t)
	for _, split := range []string{"training", "validation", "test"} {
		got := succeeds(t, "data", "sample", run, "--split", split, "--count", "6")
		for line := range strings.Lines(got) {
			source, target, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			if !ok || len(source) != len(target) || len(source) < 1 || source[0] != target[len(target)-1] {
				t.Errorf("%s: %q", split, line)
			}
		}
		if strings.Count(got, "\n") != 6 || got != succeeds(t, "data", "sample", run, "--split", split, "--count", "6") || got == succeeds(t, "data", "sample", run, "--split", split, "--count", "6", "--seed", "9") {
			t.Errorf("%s: %q", split, got)
		}
		if r := succeeds(t, "eval", run, "--data", write(t, "sample.tsv", got)); !strings.Contains(r, "6 examples") {
			t.Errorf("%s: %s", split, r)
		}
	}
	if got := succeeds(t, "data", "sample", "algorithmic/addition", "--split", "test", "--length", "9", "--count", "3"); strings.Count(got, "+") != 3 || len(strings.Split(strings.Split(got, "\n")[0], "\t")[0]) != 9 {
		t.Errorf("%q", got)
	}
}

// Texts are scored line by line, with alternatives. The log-probabilities agree with ut eval's perplexity to 1e-9 if both sum in the same
// order. Bad lines are reported and keep their places, with --json as objects with the error.
// Caught when planted: alternatives in another order, a sum over all alternatives, the perplexity of bits; an empty line in JSON.
func TestScore(t *testing.T) {
	var content strings.Builder
	for _, colour := range []string{"", "red ", "blue ", "green ", "white ", "black "} {
		for _, age := range []string{"", "old ", "new ", "worn ", "lost ", "found "} {
			for _, rest := range []string{"keys are here", "key is here", "keys are there", "key is there"} {
				fmt.Fprintf(&content, "the %s%s%s\n", colour, age, rest)
			}
		}
	}
	path := write(t, "t.txt", content.String())
	run := filepath.Join(t.TempDir(), "run")
	succeeds(t, "train", "own-text", "--out", run, "--set", "task.path="+path, "--set", "task.lines=true", "--set", "task.tokenizer=whitespace", "--set", "model.width=16",
		"--set", "model.heads=2", "--set", "model.transition.filter=16", "--set", "model.halting.steps=1", "--set", "training.steps=60", "--set", "training.evaluate_every=30",
		"--set", "training.schedule.cosine.warmup=5")
	text := "the old keys are there\nthe key is here\nthe red keys wobble here\n"
	r := utReading(t, text, "score", run, "--json")
	if r.code != 0 || !strings.Contains(r.stderr, "line 3: 1 unknown token is read as <unknown>: ") {
		t.Fatalf("%+v", r)
	}
	if r := utReading(t, text, "score", run, "--max-source", "4"); r.code != 1 || !strings.Contains(r.stderr, "line 1: text 1: text: 5 tokens are more than the limit, 4: shorten the line, or allow more: --max-source 5\n") || !strings.HasPrefix(r.stdout, "\n-") {
		t.Errorf("--max-source: %+v", r)
	}
	nats, tokens := 0.0, 0
	for i, line := range strings.Split(strings.TrimSpace(r.stdout), "\n") {
		var got scored
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatal(err)
		}
		a := got.Alternatives[0]
		if got.Line != i+1 || got.Best != 1 || len(a.Tokens) != len(a.LogProbs) || a.Tokens[len(a.Tokens)-1] != "<end>" || strings.Count(a.Text, " ") != len(a.Tokens)-2 {
			t.Errorf("%s", line)
		}
		sum := 0.0
		for _, p := range a.LogProbs {
			nats, tokens, sum = nats-p, tokens+1, sum+p
		}
		if sum != a.LogProb || sum >= 0 {
			t.Errorf("the sum is %v, not %v", a.LogProb, sum)
		}
	}
	var measured struct {
		Metrics []struct {
			Name  string
			Value float64
		}
	}
	if err := json.Unmarshal([]byte(succeeds(t, "eval", run, "--json", "--data", write(t, "other.txt", text))), &measured); err != nil {
		t.Fatal(err)
	}
	if want := math.Exp(nats / float64(tokens)); measured.Metrics[0].Name != "perplexity per token" || math.Abs(measured.Metrics[0].Value-want) > 1e-5*want {
		t.Errorf("ut eval says %+v, ut score %v", measured.Metrics[0], want)
	}
	r = utReading(t, "the keys are here\tthe keys is here\n\tx\nthe key is here\n", "score", run)
	lines := strings.Split(r.stdout, "\n")
	if r.code != 1 || len(lines) != 4 || lines[1] != "" || !strings.Contains(r.stderr, "line 2: alternative 1 is empty") {
		t.Fatalf("%+v", r)
	}
	right, wrong, _ := strings.Cut(lines[0], "\t")
	a, err := strconv.ParseFloat(right, 64)
	b, err2 := strconv.ParseFloat(wrong, 64)
	if err != nil || err2 != nil || a <= b {
		t.Errorf("%q: what the text has is less probable than what it has not", lines[0])
	}
	r = utReading(t, "the key is here\n\tx\nthe key is here\n", "score", run, "--json")
	if lines = strings.Split(r.stdout, "\n"); r.code != 1 || len(lines) != 4 || lines[1] != `{"line":2,"error":"alternative 1 is empty"}` || !strings.HasPrefix(lines[2], `{"line":3,"alternatives":[`) {
		t.Errorf("%+v", r)
	}
	if r := utReading(t, "1234\n", "score", trained(t)); r.code != 1 || !strings.Contains(r.stderr, "want a source and an answer") {
		t.Errorf("%+v", r)
	}
	if r := utReading(t, "12\t21\t12\n", "score", trained(t)); r.code != 0 || strings.Count(r.stdout, "\t") != 1 {
		t.Errorf("answers to a source: %+v", r)
	}
}
