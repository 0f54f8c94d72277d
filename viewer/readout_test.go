package viewer

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// readout returns a readout whose most probable tokens are the letters of best, one per step; the second candidate is always "z".
func readout(best string) Readout {
	var steps [][]Candidate
	var written []float64
	for _, token := range strings.Split(best, "") {
		steps = append(steps, []Candidate{{token, 0.75}, {"z", 0.25}})
		written = append(written, 0.75)
	}
	return NewReadout(steps, written)
}

// withReadouts returns a run of 3 positions and 4 steps with readouts and changes.
func withReadouts() *Trace {
	t := sample("314", 4, 2)
	t.Exit = "confidence of at least 0.7"
	t.Readouts = []Readout{readout("4444"), readout("3113"), readout("1213")}
	for _, s := range []*Stack{t.Encoder, t.Decoder} {
		s.Changes = [][]float64{{5, 6, 7.5}, {3, 2, 1}, {1, 0, 1}, {0.25, 0, 0}}
	}
	return t
}

// Caught when planted: the last occurrence for the first; the first flip for the last.
func TestNewReadout(t *testing.T) {
	for best, want := range map[string]struct {
		answer         string
		first, settled int
		flips          []int
	}{
		"a": {"a", 1, 1, nil}, "aaa": {"a", 1, 1, nil}, "abb": {"b", 2, 2, []int{2}},
		"aba": {"a", 1, 3, []int{2, 3}}, "bacac": {"c", 3, 5, []int{2, 3, 4, 5}},
	} {
		r := readout(best)
		if r.Answer != want.answer || r.First != want.first || r.Settled != want.settled || !slices.Equal(r.Flips, want.flips) {
			t.Errorf("%s: %+v, want %+v", best, r, want)
		}
	}
}

func TestReadoutsRoundTrip(t *testing.T) {
	trace := withReadouts()
	var out bytes.Buffer
	if err := WriteJSON(&out, trace); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{`"exit":"confidence`, `"changes":[[5,6,7.5]`, `{"steps":[[{"token":"3","probability":0.75},`, `"written":[0.75,`, `"answer":"3","first":1,"settled":4,"flips":[2,4]}`} {
		if !strings.Contains(out.String(), name) {
			t.Errorf("no %s in %s", name, out.String())
		}
	}
	back, err := ReadJSON(&out)
	if err != nil || !reflect.DeepEqual(back, trace) {
		t.Errorf("came back changed: %v", err)
	}
}

// Each case breaks one thing; the error must name the place.
func TestValidateReadouts(t *testing.T) {
	for want, breakIt := range map[string]func(*Trace){
		"readouts: 2, want 3":                     func(t *Trace) { t.Readouts = t.Readouts[:2] },
		"trace: readouts: 2, want 3":              func(t *Trace) { t.Decoder, t.Readouts = nil, t.Readouts[:2] }, // neither of a classifier nor of each position
		"readouts[1].steps: 3, but the stack has": func(t *Trace) { t.Readouts[1] = readout("311") },
		"readouts[2].steps[0]: no token":          func(t *Trace) { t.Readouts[2].Steps[0] = nil },
		"steps[1][0].probability[0]: 1.5":         func(t *Trace) { t.Readouts[0].Steps[1][0].Probability = 1.5 },
		"readouts[0].written: 3 numbers":          func(t *Trace) { t.Readouts[0].Written = t.Readouts[0].Written[1:] },
		"readouts[2].answer":                      func(t *Trace) { t.Readouts[2].First = 1 },
		"encoder.changes[1]: 2 numbers":           func(t *Trace) { t.Encoder.Changes[1] = t.Encoder.Changes[1][1:] },
		"encoder.changes[0][0]: 1e+306":           func(t *Trace) { t.Encoder.Changes[0][0] = 1e306 }, // too large to be rounded to four decimals
		"encoder.changes[0][1]: -1":               func(t *Trace) { t.Encoder.Changes[0][1] = -1 },
		"decoder.changes: 3 steps":                func(t *Trace) { t.Decoder.Changes = t.Decoder.Changes[1:] },
	} {
		trace := withReadouts()
		breakIt(trace)
		if err := trace.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
}
