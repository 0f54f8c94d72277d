package pipeline_test

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"universal-transformer/engine/enginetest"
	"universal-transformer/halting"
	"universal-transformer/pipeline"
	"universal-transformer/viewer"
)

// A trace with an exit is that of the model after Exit, whose answer is decoded with the exit too, and changes nothing for other calls.
// Caught when planted: an answer decoded as trained; a pass as trained; an exit that stays.
func TestTraceWithExit(t *testing.T) {
	for dir, text := range map[string]string{
		"../models/reverse": "31415926", "../models/translation": "Two dogs are playing.", "../models/babi": "Mary went to the kitchen. Where is Mary?",
	} {
		m, err := pipeline.Load(dir, enginetest.Backend(t))
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		traced := func(e halting.Exit) string {
			t.Helper()
			trace, err := m.TraceWith(t.Context(), text, e)
			if err != nil {
				t.Fatal(err)
			}
			data, err := json.Marshal(trace)
			if err != nil {
				t.Fatal(err)
			}
			return string(data)
		}
		trained := traced(halting.Exit{})
		for _, e := range []halting.Exit{{Fixed: 2}, {Steps: 1}, {Threshold: 0.3}, {Rule: halting.Confidence{Least: 0.4}}} {
			got := traced(e)
			if traced(halting.Exit{}) != trained {
				t.Errorf("%s: %s stays", dir, e)
			}
			if err := m.SetExit(e); err != nil {
				t.Fatal(err)
			}
			want, err := m.Trace(t.Context(), text)
			if err != nil {
				t.Fatal(err)
			}
			if data, err := json.Marshal(want); err != nil || got != string(data) || got == trained {
				t.Errorf("%s, %s: another trace than that of the model with this exit", dir, e)
			}
			if err := m.SetExit(halting.Exit{}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := m.TraceWith(t.Context(), text, halting.Exit{Threshold: 2}); err == nil || !strings.Contains(err.Error(), "threshold is 2") {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

// Settings of rules become exits; others have an error that names them.
func TestNewDepthExit(t *testing.T) {
	for _, c := range []struct {
		rule    string
		setting float64
		want    string // the exit or a part of the error
	}{
		{"fixed", 3, "3 fixed steps"}, {"fixed", 1000, "1000 fixed steps"}, {"limit", 1001, "1001"}, {"fixed", -1e300, "setting is -1e+300: fixed needs a number of steps"}, {"limit", 2, "at most 2 steps"}, {"threshold", 0.5, "halting threshold 0.5"}, {"confidence", 0.9, "confidence of at least 0.9"},
		{"unchanged", 2, "answer unchanged for 2 steps"}, {"divergence", 0.01, "divergence below 0.01"},
		{"fixed", 0, "setting is 0: fixed needs a number of steps"}, {"limit", 1.5, "setting is 1.5"}, {"unchanged", -1, "setting is -1"}, {"fixed", 1e300, "setting is 1e+300: at most 1000 steps can be run"}, {"fixed", -1e300, "setting is -1e+300"},
		{"threshold", 0, "setting is 0: it must be above 0"}, {"confidence", 2, "setting of confidence: the probability is 2: it must be above 0 and at most 1"}, {"divergence", math.NaN(), "setting is NaN"}, {"fixed", math.NaN(), "setting is NaN"},
		{"speed", 1, `rule "speed" is unknown`},
	} {
		e, err := pipeline.NewDepthExit(c.rule, c.setting)
		if got := e.String(); err == nil && got != c.want || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %v: %q, %v", c.rule, c.setting, got, err)
		}
	}
}

// A trace names the exit that it was computed with, also if the exit changes meanwhile. Run it with -race.
// Caught when planted: the exit read before the model's turn to compute.
func TestTraceWhileExitChanges(t *testing.T) {
	m := load(t)
	stop, stopped := make(chan struct{}), make(chan struct{})
	defer func() { close(stop); <-stopped }()
	go func() {
		defer close(stopped)
		for steps := 1; ; steps = 1 + steps%3 {
			select {
			case <-stop:
				return
			default:
			}
			if err := m.SetExit(halting.Exit{Fixed: steps}); err != nil {
				t.Error(err)
			}
		}
	}()
	for range 20 {
		trace, err := m.Trace(t.Context(), "2026")
		if err != nil {
			t.Fatal(err)
		}
		ran := int(slices.Max(trace.Decoder.Updates))
		if want := (halting.Exit{Fixed: ran}).String(); trace.Exit != want && trace.Exit != "" { // the first may be as trained
			t.Errorf("a trace of %d steps has the exit %q", ran, trace.Exit)
		}
	}
}

// The trace of a model of fixed depth says which steps positions ran when a rule ended them.
// Caught when planted: a summary of fixed depth.
func TestTraceOfFixedDepthWithRule(t *testing.T) {
	m, err := pipeline.Load("../models/addition", enginetest.Backend(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for rule, want := range map[halting.Rule]string{nil: "the depth is fixed.", halting.Confidence{Least: 0.9}: ", which ended after "} {
		trace, err := m.TraceWith(t.Context(), "123+456", halting.Exit{Rule: rule})
		if err != nil {
			t.Fatal(err)
		}
		var text, page strings.Builder
		if err := errors.Join(viewer.WriteText(&text, trace, 100, false), viewer.WriteHTML(&page, trace)); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(text.String(), want) || !strings.Contains(page.String(), want) {
			t.Errorf("%v: %q is missing in\n%s", rule, want, text.String())
		}
	}
}
