package ut_test

import (
	"reflect"
	"testing"

	ut "universal-transformer"
)

// A temperature alone samples from all tokens, as with TopP 1. At this temperature, the answers differ from greedy ones.
// Caught when planted: a TopP of 0 that is an error.
func TestSamplingFromAllTokens(t *testing.T) {
	m := load(t)
	defer m.Close()
	inputs := []string{"20262026", "1234512345"}
	var answers [2][]ut.Answer
	for i, topP := range []float64{0, 1} {
		var err error
		if answers[i], err = m.Decode(t.Context(), inputs, ut.DecodeOptions{Sampling: ut.Sampling{Temperature: 9, TopP: topP}, Seed: 3}); err != nil {
			t.Fatal(err)
		}
	}
	greedy, err := m.Decode(t.Context(), inputs, ut.DecodeOptions{})
	if err != nil || !reflect.DeepEqual(answers[0], answers[1]) || answers[0][0].Text == greedy[0].Text {
		t.Errorf("%+v and %+v, greedy %+v, %v", answers[0], answers[1], greedy, err)
	}
	if _, err := m.Decode(t.Context(), inputs, ut.DecodeOptions{Sampling: ut.Sampling{TopP: 0.5}}); err == nil {
		t.Error("TopP without a temperature: no error")
	}
}
