package score_test

import (
	"encoding/json"
	"strings"
	"testing"

	"universal-transformer/internal/score"
)

// Sequences of padding alone are empty, with and without an end (1).
// Caught when planted: one padding that is kept.
func TestPaddingAlone(t *testing.T) {
	for _, c := range []struct {
		prediction, reference []int32
		tokens, sequences     score.Accuracy
	}{
		{[]int32{0}, []int32{0, 0}, score.Accuracy{}, score.Of(true)}, {nil, []int32{0}, score.Accuracy{}, score.Of(true)}, {[]int32{0}, nil, score.Accuracy{}, score.Of(true)},
		{[]int32{0}, []int32{1}, score.Of(false), score.Of(false)}, {[]int32{1, 0}, []int32{1}, score.Of(true), score.Of(true)}, {[]int32{0, 5}, []int32{0, 5}, score.Accuracy{Correct: 2, Total: 2}, score.Of(true)},
	} {
		var s score.Score
		if s.Add(c.prediction, c.reference); s.Tokens != c.tokens || s.Sequences != c.sequences {
			t.Errorf("%v for %v: %+v", c.prediction, c.reference, s)
		}
	}
}

// Both accuracies have their names, and none without trials.
func TestMetricsOfScore(t *testing.T) {
	s := score.Score{Tokens: score.Accuracy{Correct: 3, Total: 4}}
	m := s.Metrics()
	if len(m) != 2 || m[0].Name != "token accuracy" || m[0].Value != 0.75 || m[1].Name != "sequence accuracy" || m[1].String() != "none" || s.Sequences.String() != "none" {
		t.Errorf("%+v", m)
	}
}

// One class alone has its own F1 as the mean; no class has 0.
func TestMacroF1OfFewClasses(t *testing.T) {
	c := score.NewConfusion(nil)
	if got := c.MacroF1(); got != 0 {
		t.Errorf("of no class %v", got)
	}
	c.Add("a", "a")
	if got := c.MacroF1(); got != 1 {
		t.Errorf("of one class %v", got)
	}
}

// Types that only answers have are among the scores. Their precision, recall and F1 are 0.
func TestScoresOfPredictedTypes(t *testing.T) {
	c := score.NewSpanCounts()
	c.Add(strings.Fields("B-B O"), strings.Fields("B-B B-A"))
	got := c.Scores()
	if len(got) != 2 || got[0] != (score.ClassScore{Class: "A", Predicted: 1}) || got[1] != (score.ClassScore{Class: "B", Precision: 1, Recall: 1, F1: 1, Support: 1, Predicted: 1}) {
		t.Errorf("%+v", got)
	}
	if m := c.Metrics(); m[1].Accuracy != (score.Accuracy{Correct: 1, Total: 2}) || m[2].Accuracy != score.Of(true) || c.Total() != (score.ClassScore{Precision: 0.5, Recall: 1, F1: 2.0 / 3, Support: 1, Predicted: 2}) {
		t.Errorf("%+v, %+v", m, c.Total())
	}
}

// The first column of a table is as wide as its head or the longest name, which is cut off after 40 characters.
func TestScoreLines(t *testing.T) {
	long := strings.Repeat("ü", 41)
	for _, c := range []struct {
		classes []string
		want    string
	}{
		{nil, "tüpe  precision  recall      F1     spans\n"},
		{[]string{"é"}, "tüpe  precision  recall      F1     spans\né        0.5000  0.2500  0.3333         4\n"},
		{[]string{"abcdé"}, "tüpe   precision  recall      F1     spans\nabcdé     0.5000  0.2500  0.3333         4\n"},
		{[]string{long, "a"}, "tüpe" + strings.Repeat(" ", 36) + "  precision  recall      F1     spans\n" + long[:78] + "…     0.5000  0.2500  0.3333         4\n" +
			"a" + strings.Repeat(" ", 39) + "     0.5000  0.2500  0.3333         4\n"},
	} {
		var scores []score.ClassScore
		for _, name := range c.classes {
			scores = append(scores, score.ClassScore{Class: name, Precision: 0.5, Recall: 0.25, F1: 1.0 / 3, Support: 4})
		}
		if got := strings.Join(score.ScoreLines(scores, "tüpe", "spans"), "\n") + "\n"; got != c.want {
			t.Errorf("%q: got\n%swant\n%s", c.classes, got, c.want)
		}
	}
}

// A perplexity that is read has the nats and tokens that were written; what contradicts itself or lacks a part is refused.
// Caught when planted: unknown fields allowed; the value ignored; a missing number of tokens read as 0.
func TestPerplexityIsRead(t *testing.T) {
	want := score.Perplexity{Nats: 2.5, Tokens: 4}
	data, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got score.Perplexity
	if err := json.Unmarshal(data, &got); err != nil || got != want {
		t.Errorf("%s is read as %+v, %v", data, got, err)
	}
	for _, text := range []string{
		`{"nats": 2.5, "tokens": 4, "value": 1.9}`, `{"nats": 2.5, "value": 1}`, `{"tokens": 4}`, `{"nats": 2.5, "tokens": -4}`, `{"nats": 2.5, "tokens": 4, "words": 3}`,
		`{"nats": 0, "tokens": 0, "value": 1}`,
	} {
		if err := json.Unmarshal([]byte(text), &got); err == nil {
			t.Errorf("%s is read as %+v", text, got)
		}
	}
}
