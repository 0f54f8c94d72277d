package ut_test

import (
	"strings"
	"testing"

	ut "universal-transformer"
)

// A limit of LoadOptions holds for every method that reads inputs, unless DecodeOptions has another; one that is not valid is an error.
// Caught when planted: a limit that Classify does not get; one that Trace does not get.
func TestMaxSource(t *testing.T) {
	opened := func(dir string, limit int) *ut.Model {
		m, err := ut.Load(dir, ut.LoadOptions{MaxSource: limit})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(m.Close)
		return m
	}
	refused := func(what string, err error, limit string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), "more than the limit, "+limit) {
			t.Errorf("%s: %v", what, err)
		}
	}
	reverse := opened("models/reverse", 3)
	answers, err := reverse.Decode(t.Context(), []string{"123", "1234"}, ut.DecodeOptions{})
	if err != nil || answers[0].Text != "321" {
		t.Fatalf("%+v, %v", answers, err)
	}
	refused("Decode", answers[1].Err, "3")
	if answers, err = reverse.Decode(t.Context(), []string{"1234", "123456"}, ut.DecodeOptions{MaxSource: 5}); err != nil || answers[0].Text != "4321" {
		t.Fatalf("%+v, %v", answers, err)
	}
	refused("Decode with a limit of its own", answers[1].Err, "5")
	scored, err := reverse.Score(t.Context(), []ut.Pair{{Source: "123", Target: "321"}, {Source: "1234", Target: "4321"}})
	if err != nil || scored[0].Err != nil {
		t.Fatalf("%+v, %v", scored, err)
	}
	refused("Score", scored[1].Err, "3")
	if trace, err := reverse.Trace(t.Context(), "123"); err != nil || len(trace.Source) != 3 {
		t.Errorf("%+v, %v", trace, err)
	}
	_, err = reverse.Trace(t.Context(), "1234")
	refused("Trace", err, "3")
	classified, err := opened("models/babi", 1).Classify(t.Context(), []string{"1 Mary went to the kitchen. 2 Where is Mary?"})
	if err != nil {
		t.Fatal(err)
	}
	refused("Classify", classified[0].Err, "1")
	if m, err := ut.Load("models/reverse", ut.LoadOptions{MaxSource: -1}); err == nil {
		m.Close()
		t.Error("a negative limit is accepted")
	}
}

// An answer ends before a text of Stop. Caught when planted: Stop left out.
func TestStop(t *testing.T) {
	m := load(t)
	defer m.Close()
	answers, err := m.Decode(t.Context(), []string{"2026"}, ut.DecodeOptions{Stop: []string{"02"}})
	if err != nil || answers[0].Text != "2" {
		t.Errorf("%+v, %v", answers, err)
	}
}
