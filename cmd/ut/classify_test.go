package main

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
)

// reviews is a CSV file whose labels depend on one word of the text.
func reviews(t *testing.T) string {
	var rows strings.Builder
	rows.WriteString("id,stars,review\r\n")
	for i := range 400 {
		word := []string{"good", "bad"}[i%2]
		fmt.Fprintf(&rows, "%d,%s,\"number %d, \"\"%s\"\", as it was\"\r\n", i, []string{"five stars", "none"}[i%2], i, word)
	}
	return write(t, "reviews.csv", rows.String())
}

// Three commands lead from a CSV file to labels. Columns are selected by name, and labels contain spaces. ut eval reads the output of data
// sample.
func TestOwnLabels(t *testing.T) {
	run := filepath.Join(t.TempDir(), "run")
	args := []string{"train", "own-labels", "--out", run}
	for _, set := range []string{
		"task.path=" + reviews(t), "task.text_column=review", "task.label_column=stars", "task.tokenizer_size=300", "model.width=16", "model.heads=2", "model.transition.filter=16",
		"model.halting.steps=2", "training.steps=120", "training.stop.accuracy=1", "training.schedule.peak=0.005", "training.schedule.warmup=10",
	} {
		args = append(args, "--set", set)
	}
	r := ut(t, args...)
	if r.code != 0 || !strings.Contains(r.stderr, `text is column "review", label is column "stars"`) || !strings.Contains(r.stderr, "2 labels") {
		t.Fatalf("exit code %d: %s", r.code, r.stderr)
	}
	if !strings.Contains(r.stdout, "validation: accuracy 1.0000") || !strings.Contains(r.stderr, " nats, accuracy ") || !strings.Contains(r.stderr, " examples)\n") || strings.Contains(r.stdout+r.stderr, "sequence accuracy") {
		t.Errorf("training of a classifier says %s%s", r.stdout, r.stderr)
	}
	for _, want := range []string{"accuracy             1.0000", "macro F1             1", "five stars", "precision  recall      F1  examples", "answered"} {
		if got := succeeds(t, "eval", run); !strings.Contains(got, want) {
			t.Errorf("eval does not say %q:\n%s", want, got)
		}
	}
	var measured struct {
		Confusion struct {
			Classes []string
			Counts  [][]int
		}
	}
	if err := json.Unmarshal([]byte(succeeds(t, "eval", run, "--json")), &measured); err != nil || len(measured.Confusion.Classes) != 2 || measured.Confusion.Counts[0][1] != 0 || measured.Confusion.Counts[0][0] == 0 {
		t.Errorf("%+v, %v", measured, err)
	}
	sample := write(t, "sample.tsv", succeeds(t, "data", "sample", run, "--split", "test", "--count", "7"))
	if got := succeeds(t, "eval", run, "--data", sample); !strings.Contains(got, "7 examples") || !strings.Contains(got, "1.0000") {
		t.Errorf("what data sample prints is measured as %s", got)
	}
	checkClassify(t, run)
}

// checkClassify classifies lines, one of them empty.
func checkClassify(t *testing.T, run string) {
	t.Helper()
	const lines = "number 7, \"good\", as it was\n\nnumber 8, \"bad\", as it was\n"
	r := utReading(t, lines, "classify", run)
	answers := strings.Split(r.stdout, "\n")
	if r.code != 1 || len(answers) != 4 || !strings.HasPrefix(answers[0], "five stars\t0.") && !strings.HasPrefix(answers[0], "five stars\t1.") || answers[1] != "" || !strings.HasPrefix(answers[2], "none\t") {
		t.Errorf("%+v", r)
	}
	if !strings.Contains(r.stderr, "line 2: the source is empty") || !strings.Contains(r.stderr, "1 of 3 lines could not be answered") {
		t.Errorf("standard error: %s", r.stderr)
	}
	if r := utReading(t, lines, "decode", run); r.stdout != "five stars\n\nnone\n" {
		t.Errorf("decode: %+v", r)
	}
	r = utReading(t, lines, "classify", run, "--json")
	for i, line := range strings.Split(strings.TrimSpace(r.stdout), "\n") {
		var a struct {
			classifiedJSON
			Error string
		}
		err := json.Unmarshal([]byte(line), &a)
		if i == 1 {
			if err != nil || a.Error != "the source is empty" {
				t.Errorf("line 2: %s, %v", line, err)
			}
			continue
		}
		sum := 0.0
		for _, p := range a.Probabilities {
			sum += p.Probability
		}
		if err != nil || len(a.Probabilities) != 2 || math.Abs(sum-1) > 1e-5 || a.Probabilities[0].Label != a.Label || a.Probability < 0.5 || a.Unknown == nil {
			t.Errorf("line %d: %s, %v", i+1, line, err)
		}
	}
	checkFailure(t, utReading(t, "It was good.\nWas it?\n", "answer", run), 1, "answers no questions about stories: it was trained on ")
	checkFailure(t, utReading(t, "x\n", "classify", trained(t)), 1, "answers with a sequence, not with a class: it was trained on")
}
