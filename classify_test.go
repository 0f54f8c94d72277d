package ut_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	ut "universal-transformer"
)

// classifier is a model, hardly trained, that labels texts of words with a, b or c.
func classifier(t *testing.T) *ut.Model {
	t.Helper()
	var rows strings.Builder
	for i := range 120 {
		fmt.Fprintf(&rows, "%send %d\t%c\n", strings.Repeat("word ", 1+i%4), i, "abc"[i%3])
	}
	path := filepath.Join(t.TempDir(), "labels.tsv")
	if err := os.WriteFile(path, []byte("text\tlabel\n"+rows.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := ut.Recipe("own-labels")
	if err == nil {
		r, err = r.Set("model.halting="+adaptive, "task.path="+path, "task.tokenizer=whitespace", "task.held_out=0.3", "model.width=16", "model.heads=2", "training.steps=3", "training.evaluate_every=3")
	}
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "run")
	if _, err := ut.Train(t.Context(), r, dir, ut.TrainOptions{}); err != nil {
		t.Fatal(err)
	}
	m, err := ut.Load(dir, ut.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// Classes and steps are those of a trace of each text alone; texts longer than a trace may be are classified, too, and a text
// that cannot be read has an error of its own.
// Caught when planted: a limit of 1000 tokens, a step too many.
func TestClassify(t *testing.T) {
	m := classifier(t)
	inputs := []string{"word end", "", "word other word word end", strings.Repeat("word ", 1200), strings.Repeat("word ", 10_001)}
	got, err := m.Classify(t.Context(), inputs)
	if err != nil || len(got) != len(inputs) {
		t.Fatalf("%+v, %v", got, err)
	}
	for i, words := range []int{2, 0, 5, 1200, 0} {
		c := got[i]
		if words == 0 {
			if c.Err == nil || c.Class != "" || c.Classes != nil || c.Steps != nil {
				t.Errorf("input %d has an answer: %+v", i, c)
			}
			continue
		}
		sum, names := 0.0, ""
		for k, class := range c.Classes {
			if sum, names = sum+class.Probability, names+class.Name; class.Probability > c.Probability || k > 0 && class.Probability > c.Classes[k-1].Probability {
				t.Errorf("input %d: %+v", i, c)
			}
		}
		if math.Abs(sum-1) > 1e-5 || len(names) != 3 || !strings.HasPrefix(names, c.Class) || c.Err != nil || len(c.Steps) != words {
			t.Errorf("input %d: %+v", i, c)
		}
		if words > 1000 {
			continue
		}
		trace, err := m.Trace(t.Context(), inputs[i])
		if err != nil {
			t.Fatal(err)
		}
		for p, n := range trace.Encoder.Updates {
			if c.Steps[p] != int(n) {
				t.Errorf("input %d: steps %v, of a trace %v", i, c.Steps, trace.Encoder.Updates)
			}
		}
		if trace.Output[0] != c.Class {
			t.Errorf("input %d: %q, of a trace %q", i, c.Class, trace.Output)
		}
	}
	if len(got[2].Unknown) != 1 || got[2].Unknown[0] != "other" || got[0].Unknown != nil {
		t.Errorf("unknown are %q and %q", got[2].Unknown, got[0].Unknown)
	}
	if _, err := m.Score(t.Context(), []ut.Pair{{Source: "word", Target: "a"}}); err == nil || !strings.Contains(err.Error(), "cannot score texts") {
		t.Errorf("a classifier scores: %v", err)
	}
}

// Answers of a beam that ends before any of them has are cut off, and say so; others are finished.
// Caught when planted: alternatives that are always, or never, finished.
func TestAlternativesThatAreCutOff(t *testing.T) {
	for _, c := range []struct {
		m        *ut.Model
		length   int
		finished bool
	}{{load(t), 9, true}, {ofDigits(t, fixed), 2, false}} {
		answers, err := c.m.Decode(t.Context(), []string{"2026"}, ut.DecodeOptions{Beam: ut.Beam{Width: 2, Best: 2}, MaxLength: c.length})
		if err != nil || answers[0].Finished != c.finished || len(answers[0].Alternatives) != 1 {
			t.Fatalf("at most %d tokens: %+v, %v", c.length, answers, err)
		}
		if a := answers[0].Alternatives[0]; a.Finished != c.finished || !c.finished && len(a.Text) != c.length {
			t.Errorf("at most %d tokens: %+v", c.length, a)
		}
	}
}
