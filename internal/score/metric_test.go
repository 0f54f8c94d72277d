package score_test

import (
	"encoding/json"
	"math"
	"testing"

	"universal-transformer/internal/score"
)

// A metric written and read again is itself; what was not measured is null, and says none.
func TestMetricJSON(t *testing.T) {
	for want, m := range map[string]score.Metric{
		`{"name":"accuracy","value":0.5,"correct":1,"total":2,"low":0.09453120573423071,"high":0.9054687942657693}`: score.Share("accuracy", score.Accuracy{Correct: 1, Total: 2}),
		`{"name":"one","value":0,"correct":0,"total":1,"low":0,"high":0.7934506856227626}`:                          score.Share("one", score.Of(false)),
		`{"name":"perplexity","value":12.5}`: score.Figure("perplexity", 12.5),
		`{"name":"nothing","value":null}`:    score.Share("nothing", score.Accuracy{}),
		`{"name":"endless","value":null}`:    score.Figure("endless", math.Inf(1)),
	} {
		data, err := json.Marshal(m)
		if err != nil || string(data) != want {
			t.Errorf("%s, %v, want %s", data, err, want)
		}
		var again score.Metric
		if err := json.Unmarshal(data, &again); err != nil || again.Name != m.Name || again.Accuracy != m.Accuracy || again.Value != m.Value && !math.IsNaN(again.Value) {
			t.Errorf("%s is read as %+v, %v", data, again, err)
		}
	}
	if err := json.Unmarshal([]byte(`{"name":"x","value":2,"correct":3,"total":2}`), new(score.Metric)); err == nil {
		t.Error("3 of 2 are accepted")
	}
	for want, m := range map[string]score.Metric{"none": score.Figure("x", math.NaN()), "12.35": score.Figure("x", 12.345678), "0.5000 (0.0945..0.9055, 1 of 2)": score.Share("x", score.Accuracy{Correct: 1, Total: 2})} {
		if m.String() != want {
			t.Errorf("%q, want %q", m, want)
		}
	}
}
