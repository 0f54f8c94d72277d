package lambada

import (
	"math"
	"strings"
	"testing"

	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// The last word of a text is what stands behind its last white space, however many tokens it has; in the plain version it is one token.
// Caught when planted: the last token for the last word; an opening quote in it.
func TestLastWordOfATextIsWhole(t *testing.T) {
	for text, want := range map[string]string{
		"She said that he didn't":      "didn't",
		"It was never Anna's":          "anna's",
		"He asked and she said “don't": "don't",
		"They knew that they cannot":   "cannot",
		"They saw what was gonna":      "gonna",
		"He saw Anna":                  "anna",
	} {
		passages, err := OpenAI.parse("x", strings.NewReader(`{"text": "`+text+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		if source, target := passages[0].Text(); target != want || strings.HasSuffix(source, target[:2]) {
			t.Errorf("%q: the words before are %q, the last is %q, want %q", text, source, target, want)
		}
	}
	passages, err := Plain.parse("x", strings.NewReader("she said that he did n't\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, target := passages[0].Text(); target != "n't" {
		t.Errorf("the plain version's last word is %q", target)
	}
}

// The answer is the last word alone. A word of two tokens with the probabilities 1/2 and 1/4 has 1/8, so its perplexity is 8; it is correct
// if both are the most probable.
func TestLastWordOfTwoTokens(t *testing.T) {
	target, err := vocab.New([]string{"he", "did", "n't"}, vocab.WithUnknown())
	if err != nil {
		t.Fatal(err)
	}
	c := coding{task.Vocabularies{Target: target}}
	e := c.text(newPassage([]string{"he", "did", "n't"}, 2))
	logs := []float64{math.Log(0.9), math.Log(0.5), math.Log(0.25)}
	for name, test := range map[string]struct {
		best []vocab.ID
		want float64
		text string
	}{
		"both":       {[]vocab.ID{3, e.Target[1], e.Target[2]}, 1, "did n't"},
		"the second": {[]vocab.ID{e.Target[0], e.Target[0], e.Target[2]}, 0, "he n't"},
		"the first":  {[]vocab.ID{e.Target[0], e.Target[1], e.Target[0]}, 0, "did he"},
		"the end":    {[]vocab.ID{e.Target[0], vocab.End, vocab.End}, 0, "<end> <end>"},
	} {
		m, err := lastWord{c}.Measure(t.Context(), known{scored: []task.Scored{{LogProbs: logs, Best: test.best}}}, []task.Example{e})
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Answers[0].Text; got != test.text {
			t.Errorf("%s: the answer reads %q, want %q", name, got, test.text)
		}
		of := metrics(m)
		if of["last word accuracy"].Value != test.want || math.Abs(of["last word perplexity"].Value-8) > 1e-12 {
			t.Errorf("%s: accuracy %v, perplexity %v", name, of["last word accuracy"].Value, of["last word perplexity"].Value)
		}
	}
}
