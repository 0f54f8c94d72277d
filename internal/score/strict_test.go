package score_test

import (
	"encoding/json"
	"strings"
	"testing"

	"universal-transformer/internal/score"
)

// What does not follow from the counts is refused, and so are counts that are missing, null, negative or impossible.
// Caught when planted: each check left out.
func TestStrictCounts(t *testing.T) {
	for text, want := range map[string]string{
		`{"correct": 1, "total": 4, "value": 0.25}`:                                  "",
		`{"correct": 0, "total": 0, "value": null}`:                                  "",
		`{"correct": 1, "total": 4, "value": 0.25, "low": 0.045587, "high": 0.6994}`: "low is 0.045587",
		`{"correct": 1, "total": 4, "value": 0.3}`:                                   "value is 0.3, but 1 of 4 are correct",
		`{"correct": 1, "total": 4, "value": null}`:                                  "value is missing or null",
		`{"correct": 1, "total": 4}`:                                                 "value is missing or null",
		`{"correct": null, "total": 4, "value": 0.25}`:                               "correct or total is missing or null",
		`{"correct": 1, "value": 0.25}`:                                              "correct or total is missing or null",
		`{"correct": -1, "total": 4, "value": -0.25}`:                                "correct is -1 of 4",
		`{"correct": 5, "total": 4, "value": 1.25}`:                                  "correct is 5 of 4",
		`{"correct": 1.5, "total": 4, "value": 0.375}`:                               "correct cannot be 1.5",
		`{"correct": 1, "total": 4, "value": 0.25, "wrong": 3}`:                      `unknown key "wrong"`,
	} {
		var a score.Accuracy
		checkRefusal(t, text, json.Unmarshal([]byte(text), &a), want)
		named := `{"name": "accuracy", ` + text[1:]
		if strings.Contains(text, `"total": 0`) {
			continue
		}
		var m score.Metric
		checkRefusal(t, named, json.Unmarshal([]byte(named), &m), want)
	}
	for text, want := range map[string]string{
		`{}`:                               "correct or total is missing or null",
		`null`:                             "cannot be null",
		`{"correct": null, "total": null}`: "correct or total is missing or null",
	} {
		var a score.Accuracy
		checkRefusal(t, text, json.Unmarshal([]byte(text), &a), want)
	}
	var m score.Metric
	checkRefusal(t, "perplexity", json.Unmarshal([]byte(`{"name": "perplexity", "value": 12.5}`), &m), "")
	checkRefusal(t, "low", json.Unmarshal([]byte(`{"name": "x", "value": 0.5, "low": 0.1}`), &m), "low and high are given without correct")
}

func checkRefusal(t *testing.T, text string, err error, want string) {
	t.Helper()
	if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		t.Errorf("%s: %v, want %q", text, err, want)
	}
}
