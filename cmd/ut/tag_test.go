package main

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
)

// names is a file of sentences in which a name of two words follows "by", and other words are capital too.
func names(t *testing.T) string {
	t.Helper()
	var rows strings.Builder
	rows.WriteString("-DOCSTART- O\n\n")
	for i := range 400 {
		fmt.Fprintf(&rows, "Book O\nNumber%d O\nby O\nA%c%c B-PER\nM%c%[2]c I-PER\n. O\n\n", i%50, 'a'+i%26, 'a'+i/26, 'a'+i%23)
	}
	return write(t, "names.conll", rows.String())
}

// Three commands lead from a CoNLL file to the tags of new text. ut eval reads the output of data sample.
func TestOwnTags(t *testing.T) {
	run := filepath.Join(t.TempDir(), "run")
	args := []string{"train", "own-tags", "--out", run}
	for _, set := range []string{
		"task.path=" + names(t), "model.width=16", "model.heads=2", "model.transition.filter=16", "model.halting.steps=2",
		"training.steps=120", "training.schedule.peak=0.005", "training.schedule.warmup=10",
	} {
		args = append(args, "--set", set)
	}
	r := ut(t, args...)
	if r.code != 0 || !strings.Contains(r.stderr, "400 sentences, 400 usable, 0 malformed") || !strings.Contains(r.stderr, "3 tags, they mark spans") {
		t.Fatalf("exit code %d: %s", r.code, r.stderr)
	}
	got := succeeds(t, "eval", run)
	for _, want := range []string{"span F1              1\n", "span precision       1.0000", "token accuracy       1.0000", "spans  precision  recall      F1     spans\nPER       1.0000", "answered"} {
		if !strings.Contains(got, want) {
			t.Errorf("eval does not say %q:\n%s", want, got)
		}
	}
	var measured struct {
		Spans []struct {
			Class   string
			F1      float64
			Support int
		}
	}
	if err := json.Unmarshal([]byte(succeeds(t, "eval", run, "--json")), &measured); err != nil || len(measured.Spans) != 1 || measured.Spans[0].F1 != 1 || measured.Spans[0].Support < 5 {
		t.Errorf("%+v, %v", measured, err)
	}
	sample := write(t, "sample.tsv", succeeds(t, "data", "sample", run, "--split", "test", "--count", "7"))
	if got := succeeds(t, "eval", run, "--data", sample); !strings.Contains(got, "7 examples") || !strings.Contains(got, "1.0000") {
		t.Errorf("what data sample prints is measured as %s", got)
	}
	checkTag(t, run)
	checkFailure(t, utReading(t, "x\n", "tag", trained(t)), 1, "answers with no tags")
	for _, command := range []string{"decode", "classify"} {
		checkFailure(t, utReading(t, "x\n", command, run), 1, "use ut tag")
	}
}

// checkTag tags lines, one of them empty, and one with words that the model does not know.
func checkTag(t *testing.T, run string) {
	t.Helper()
	const lines = "Book Number7 by Ax Mx .\n\nBook Number99 by Zoe May .\n"
	r := utReading(t, lines, "tag", run)
	if r.code != 1 || r.stdout != "O O O B-PER I-PER O\n\nO O O B-PER I-PER O\n" {
		t.Errorf("%+v", r)
	}
	if !strings.Contains(r.stderr, "line 2: the sentence is empty") || !strings.Contains(r.stderr, "line 3: 3 unknown tokens are read as <unknown>: \"Number99\", \"Zoe\", \"May\"\n") || !strings.Contains(r.stderr, "1 of 3 lines could not be answered") {
		t.Errorf("standard error: %s", r.stderr)
	}
	if got := utReading(t, "Book Number1 by Ax Mx .\n", "tag", run, "--max-source", "5"); got.code != 1 || !strings.Contains(got.stderr, "6 tokens are more than the limit, 5") {
		t.Errorf("a long sentence: %+v", got)
	}
	r = utReading(t, lines, "tag", run, "--json")
	for i, line := range strings.Split(strings.TrimSpace(r.stdout), "\n") {
		var a struct {
			taggedJSON
			Error string
		}
		err := json.Unmarshal([]byte(line), &a)
		if i == 1 {
			if err != nil || a.Error != "the sentence is empty" {
				t.Errorf("line 2: %s, %v", line, err)
			}
			continue
		}
		if err != nil || len(a.Words) != 6 || len(a.Spans) != 1 || a.Spans[0].Start != 4 || a.Spans[0].End != 5 || a.Spans[0].Text != []string{"Ax Mx", "", "Zoe May"}[i] || a.Unknown == nil {
			t.Errorf("line %d: %s, %v", i+1, line, err)
			continue
		}
		sum := 0.0
		for _, p := range a.Words[3].Probabilities {
			sum += p.Probability
		}
		if w := a.Words[3]; w.Tag != "B-PER" || len(w.Probabilities) != 3 || math.Abs(sum-1) > 1e-5 || w.Probabilities[0].Probability != w.Probability {
			t.Errorf("line %d: %+v", i+1, w)
		}
	}
}
