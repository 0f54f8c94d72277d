package score_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"universal-transformer/internal/score"
)

// Whatever JSON is read, a figure is refused in one line, or is the same when it is written and read again.
func FuzzJSON(f *testing.F) {
	for _, text := range []string{
		`{"correct": 9, "total": 10, "value": 0.9}`, `{"correct": -1, "total": 2}`, `{"nats": 69.3, "tokens": 100}`, `{"nats": 1e308, "tokens": 0}`,
		`{"name": "a", "value": null}`, `{"name": "a", "value": 0.5, "correct": 1, "total": 2}`, `{"name": "a", "value": 2, "correct": 0, "total": 0}`, `[]`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		checkJSON(t, data, new(score.Accuracy), new(score.Accuracy))
		checkJSON(t, data, new(score.Perplexity), new(score.Perplexity))
		checkJSON(t, data, new(score.Metric), new(score.Metric))
	})
}

func checkJSON(t *testing.T, data []byte, first, second any) {
	t.Helper()
	if err := json.Unmarshal(data, first); err != nil {
		if strings.Contains(err.Error(), "\n") {
			t.Fatalf("an error of more than one line: %q", err)
		}
		return
	}
	written, err := json.Marshal(first)
	if err != nil {
		t.Fatalf("%s is read, but cannot be written: %v", data, err)
	}
	if err := json.Unmarshal(written, second); err != nil {
		t.Fatalf("%s is written as %s, which cannot be read: %v", data, written, err)
	}
	again, err := json.Marshal(second)
	if err != nil || !reflect.DeepEqual(written, again) {
		t.Fatalf("%s is written as %s, then as %s, %v", data, written, again, err)
	}
}
