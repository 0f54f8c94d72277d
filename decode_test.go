package ut_test

import (
	"reflect"
	"slices"
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

// Details have the steps of a trace, which another graph computes, and the tokens of the input and the answer.
// Caught when planted: details that are not asked for; the steps of the source as those of the target.
func TestDetails(t *testing.T) {
	m := load(t)
	defer m.Close()
	found, err := m.Decode(t.Context(), []string{"2026", "31415"}, ut.DecodeOptions{Details: true})
	if err != nil {
		t.Fatal(err)
	}
	for i, input := range []string{"2026", "31415"} {
		trace, err := m.Trace(t.Context(), input)
		if err != nil {
			t.Fatal(err)
		}
		steps := func(updates []float64) (list []int) {
			for _, n := range updates {
				list = append(list, int(n))
			}
			return list
		}
		want := ut.Details{Source: trace.Source, Target: trace.Target, SourceSteps: steps(trace.Encoder.Updates), TargetSteps: steps(trace.Decoder.Updates)}
		got := *found[i].Details
		got.Alignment, got.AttentionShares = nil, nil
		if !reflect.DeepEqual(got, want) || slices.Equal(got.SourceSteps, got.TargetSteps) {
			t.Errorf("%s: %+v, want %+v", input, got, want)
		}
	}
	if found, err = m.Decode(t.Context(), []string{"2026"}, ut.DecodeOptions{}); err != nil || found[0].Details != nil {
		t.Errorf("not asked for: %+v, %v", found, err)
	}
}
