package report

import (
	"bytes"
	"strings"
	"testing"

	"universal-transformer/internal/score"
	"universal-transformer/paper"
	"universal-transformer/paper/measure"
	"universal-transformer/sweep"
)

// A run with other values than its recipe's is in no table, average or comparison: it is listed on the page of measurements, with these values.
// Caught when planted: such a run among those of its row; the list left out.
func TestRunsWithOtherValues(t *testing.T) {
	sequences := func(correct int) *measure.Sequences {
		a := score.Accuracy{Correct: correct, Total: 1000}
		return &measure.Sequences{Sets: []measure.SequenceSet{{Name: "maximum", Examples: 1000, Decoded: score.Score{Tokens: a, Sequences: a}}}}
	}
	own := result(t, "programs-lstm/addition", 1, 0.5, sequences(700))
	other := result(t, "programs-lstm/addition", 2, 0.1, sequences(100))
	other.Set = []string{"training.steps=200", "model.lstm_encoder_decoder.width=40"}
	b, err := newBook([]sweep.Result{other, own})
	if err != nil {
		t.Fatal(err)
	}
	if runs := b.of("programs-lstm", "addition"); len(runs) != 1 || runs[0].Seed != 1 {
		t.Fatalf("the row has %v", runs)
	}
	p := &page{book: b, files: map[string][]byte{}, has: func(string) bool { return false }}
	if text := p.earlier(paper.Table6()); !strings.Contains(text, " 1 run with other values than those of the recipes can be found on the page of measurements only.") {
		t.Errorf("%q", text)
	}
	p.details(paper.Table6())
	if listed := []byte("| programs-lstm/addition | 2 | training.steps=200, model.lstm_encoder_decoder.width=40 |"); bytes.Count(p.text.Bytes(), listed) != 1 {
		t.Errorf("the page lacks %q", listed)
	}
	if n := bytes.Count(p.text.Bytes(), []byte("| programs-lstm/addition | 2 |")); n != 1 {
		t.Errorf("seed 2 is in %d lines", n)
	}
}
