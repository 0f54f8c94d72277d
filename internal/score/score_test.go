package score_test

import (
	"encoding/json"
	"math"
	"testing"

	"universal-transformer/internal/score"
	"universal-transformer/internal/vocab"
)

func TestSpecialIDsAreVocabs(t *testing.T) {
	var s score.Score
	s.Add([]int32{5, vocab.End, 9}, []int32{5, vocab.End, vocab.Padding})
	if s.Sequences.Correct != 1 || s.Tokens != (score.Accuracy{Correct: 2, Total: 2}) {
		t.Errorf("a sequence that ends is scored %+v", s)
	}
}

func TestAdd(t *testing.T) {
	for name, c := range map[string]struct {
		prediction, reference []int32
		right, total          int
		sequence              bool
	}{
		"equal":                         {[]int32{7, 8, 1}, []int32{7, 8, 1}, 3, 3, true},
		"after the end nothing counts":  {[]int32{7, 8, 1, 5, 1}, []int32{7, 8, 1, 0, 0}, 3, 3, true},
		"one wrong":                     {[]int32{7, 9, 1}, []int32{7, 8, 1}, 2, 3, false},
		"shifted":                       {[]int32{8, 1}, []int32{7, 8, 1}, 0, 3, false},
		"too short":                     {[]int32{7, 1}, []int32{7, 8, 1}, 1, 3, false},
		"too long":                      {[]int32{7, 8, 8, 1}, []int32{7, 8, 1}, 2, 3, false},
		"never ends":                    {[]int32{7, 8}, []int32{7, 8, 1}, 2, 3, false},
		"never ends, longer":            {[]int32{7, 8, 9, 9}, []int32{7, 8, 1}, 2, 3, false},
		"nothing":                       {nil, []int32{7, 8, 1}, 0, 3, false},
		"padding is no end":             {[]int32{7, 8, 0}, []int32{7, 8, 1}, 2, 3, false},
		"padding inside is a token":     {[]int32{7, 0, 8, 1}, []int32{7, 8, 1}, 1, 3, false},
		"reference without end":         {[]int32{7, 8, 0}, []int32{7, 8, 0, 0}, 2, 2, true},
		"reference without end, longer": {[]int32{7, 8, 9}, []int32{7, 8}, 2, 2, false},
		"only an end":                   {[]int32{1}, []int32{1}, 1, 1, true},
		"both empty":                    {nil, nil, 0, 0, true},
	} {
		var s score.Score
		s.Add(c.prediction, c.reference)
		sequences := score.Accuracy{Total: 1}
		if c.sequence {
			sequences.Correct = 1
		}
		if want := (score.Score{Tokens: score.Accuracy{Correct: c.right, Total: c.total}, Sequences: sequences}); s != want {
			t.Errorf("%s: %+v, want %+v", name, s, want)
		}
	}
}

func TestCompareAndPlus(t *testing.T) {
	predictions := [][]int32{{7, 1}, {7, 8, 1}, {9}}
	references := [][]int32{{7, 1}, {7, 9, 1}, {8, 8, 8, 1}}
	all, err := score.Compare(predictions, references)
	want := score.Score{Tokens: score.Accuracy{Correct: 4, Total: 9}, Sequences: score.Accuracy{Correct: 1, Total: 3}}
	if err != nil || all != want {
		t.Errorf("%+v, %v, want %+v", all, err, want)
	}
	first, _ := score.Compare(predictions[:1], references[:1])
	rest, _ := score.Compare(predictions[1:], references[1:])
	if first.Plus(rest) != all {
		t.Errorf("%+v and %+v together are not %+v", first, rest, all)
	}
	if _, err := score.Compare(predictions, references[:2]); err == nil {
		t.Error("3 predictions for 2 references are accepted")
	}
}

// The expected bounds are those of R. G. Newcombe, Two-sided confidence intervals for the single proportion,
// Statistics in Medicine 17 (1998), table I, method 3: 81 of 263, 15 of 148, 0 of 20, 1 of 29.
func TestInterval95(t *testing.T) {
	for _, c := range []struct {
		right, total int
		low, high    float64
	}{
		{81, 263, 0.2553, 0.3662},
		{15, 148, 0.0624, 0.1605},
		{0, 20, 0, 0.1611},
		{1, 29, 0.0061, 0.1718},
		{20, 20, 1 - 0.1611, 1},
		{0, 0, 0, 1},
	} {
		low, high := score.Accuracy{Correct: c.right, Total: c.total}.Interval95()
		if math.Abs(low-c.low) > 5e-5 || math.Abs(high-c.high) > 5e-5 {
			t.Errorf("%d of %d: %.4f..%.4f, want %.4f..%.4f", c.right, c.total, low, high, c.low, c.high)
		}
	}
}

func TestIntervalHoldsTheValue(t *testing.T) {
	for total := 1; total <= 40; total++ {
		for right := 0; right <= total; right++ {
			a := score.Accuracy{Correct: right, Total: total}
			low, high := a.Interval95()
			mirrorLow, mirrorHigh := score.Accuracy{Correct: total - right, Total: total}.Interval95()
			if low < 0 || low > a.Value() || high < a.Value() || high > 1 {
				t.Fatalf("%+v: %v not in %v..%v", a, a.Value(), low, high)
			}
			if math.Abs(low-(1-mirrorHigh)) > 1e-12 || math.Abs(high-(1-mirrorLow)) > 1e-12 {
				t.Fatalf("%+v: right and wrong are not treated alike", a)
			}
		}
	}
}

func TestAccuracyJSON(t *testing.T) {
	data, err := json.Marshal(score.Accuracy{})
	if want := `{"correct":0,"total":0,"value":null,"low":0,"high":1}`; err != nil || string(data) != want {
		t.Errorf("%s, %v, want %s", data, err, want)
	}
	half := score.Accuracy{Correct: 1, Total: 2}
	if data, err = json.Marshal(half); err != nil {
		t.Fatal(err)
	}
	var values map[string]float64
	if err := json.Unmarshal(data, &values); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]float64{"correct": 1, "total": 2, "value": 0.5, "low": 0.0945312, "high": 0.9054688} {
		if got, ok := values[key]; !ok || math.Abs(got-want) > 1e-7 {
			t.Errorf("%s: %s is %v, want %v", data, key, got, want)
		}
	}
	var back score.Accuracy
	if err := json.Unmarshal(data, &back); err != nil || back != half {
		t.Errorf("%s reads back as %+v, %v", data, back, err)
	}
	var a score.Accuracy
	if err := json.Unmarshal([]byte(`{"correct":3,"total":2}`), &a); err == nil {
		t.Error("3 right of 2 are accepted")
	}
	if got, want := (score.Accuracy{Correct: 1, Total: 2}).String(), "0.5000 (0.0945..0.9055, 1 of 2)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestPerplexity(t *testing.T) {
	uniform := score.Perplexity{Nats: 30 * math.Log(7), Tokens: 30} // seven equally likely tokens
	if got := uniform.Value(); math.Abs(got-7) > 1e-12 {
		t.Errorf("perplexity %v, want 7", got)
	}
	both := uniform.Plus(score.Perplexity{Nats: 10 * math.Log(7*7*7*7*7), Tokens: 10}) // mean (30+50)/40 = 2 logs of 7
	if got := both.Value(); math.Abs(got-49) > 1e-10 {
		t.Errorf("perplexity %v, want 49", got)
	}
	data, err := json.Marshal(score.Perplexity{Nats: 2, Tokens: 2})
	if want := `{"nats":2,"tokens":2,"value":2.718281828459045}`; err != nil || string(data) != want {
		t.Errorf("%s, %v, want %s", data, err, want)
	}
	data, err = json.Marshal(score.Perplexity{})
	if want := `{"nats":0,"tokens":0,"value":null}`; err != nil || string(data) != want {
		t.Errorf("%s, %v, want %s", data, err, want)
	}
	var back score.Perplexity
	if err := json.Unmarshal([]byte(`{"nats":2,"tokens":-1}`), &back); err == nil {
		t.Error("-1 tokens are accepted")
	}
}
