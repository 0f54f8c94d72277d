package viewer

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// The JSON names are a contract with programs we do not know. A name may be added with a reason; one that
// changes or disappears needs a new Format.
func TestJSONNames(t *testing.T) {
	var out bytes.Buffer
	if err := WriteJSON(&out, sample("31", 2, 1)); err != nil {
		t.Fatal(err)
	}
	var tree map[string]any
	if err := json.Unmarshal(out.Bytes(), &tree); err != nil {
		t.Fatal(err)
	}
	if tree["format"] != "universal-transformer/trace/2" {
		t.Errorf("format = %v", tree["format"])
	}
	for _, test := range []struct {
		object any
		want   string
	}{
		{tree, "checkpoint decoder encoder experiment format model output reference source target task version"},
		{tree["encoder"], "attention remainders tokens updates weights"},
		{tree["decoder"], "attention cross_attention remainders tokens updates weights"},
	} {
		var names []string
		for name := range test.object.(map[string]any) {
			names = append(names, name)
		}
		slices.Sort(names)
		if got := strings.Join(names, " "); got != test.want {
			t.Errorf("names:\n got %s\nwant %s", got, test.want)
		}
	}
}

func TestJSONGolden(t *testing.T) {
	var out bytes.Buffer
	if err := WriteJSON(&out, sample("31", 2, 1)); err != nil {
		t.Fatal(err)
	}
	golden(t, "trace.json", out.Bytes())
}

func TestJSONRoundTrip(t *testing.T) {
	exact := sample("3141", 3, 2)
	exact.Encoder.Attention[1][0][2][3] = 1 / 3.0 // every bit must survive
	for name, trace := range map[string]*Trace{"exact": exact, "story": story(), "fixed": fixed(), "mistaken": mistaken()} {
		var out bytes.Buffer
		if err := WriteJSON(&out, trace); err != nil {
			t.Fatal(name, err)
		}
		back, err := ReadJSON(&out)
		if err != nil {
			t.Fatal(name, err)
		}
		if !reflect.DeepEqual(back, trace) {
			t.Errorf("%s: came back changed", name)
		}
	}
}

func TestReadJSONRefuses(t *testing.T) {
	var out bytes.Buffer
	if err := WriteJSON(&out, sample("31", 2, 1)); err != nil {
		t.Fatal(err)
	}
	good := strings.TrimSpace(out.String())
	for want, text := range map[string]string{
		"unexpected EOF":      "",
		"unexpected end":      good[:len(good)-1],
		"format":              strings.Replace(good, "trace/2", "trace/3", 1),
		"unknown field":       strings.Replace(good, `"task"`, `"tusk"`, 1),
		"after top-level":     good + "{}",
		"neither encoder nor": `{"format":"universal-transformer/trace/2"}`,
	} {
		if want == "unexpected EOF" {
			want = "unexpected end"
		}
		if _, err := ReadJSON(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
}

// Each case breaks one thing in a good trace; the error must name the place.
func TestValidate(t *testing.T) {
	for want, breakIt := range map[string]func(*Trace){
		"neither encoder nor decoder":       func(t *Trace) { t.Encoder, t.Decoder = nil, nil },
		"checkpoint -1":                     func(t *Trace) { t.Checkpoint = -1 },
		"encoder.tokens: no position":       func(t *Trace) { t.Encoder.Tokens = nil },
		"encoder.updates: 2 numbers":        func(t *Trace) { t.Encoder.Updates = t.Encoder.Updates[:2] },
		"encoder.updates[1]: NaN":           func(t *Trace) { t.Encoder.Updates[1] = math.NaN() },
		"encoder.updates[1]: 3 steps":       func(t *Trace) { t.Encoder.Updates[1] = 3 },
		"encoder.updates[1]: 1e+09":         func(t *Trace) { t.Encoder.Updates[1] = 1e9 },
		"encoder.updates[1]: -1":            func(t *Trace) { t.Encoder.Updates[1] = -1 },
		"decoder.remainders[0]: 1.5":        func(t *Trace) { t.Decoder.Remainders[0] = 1.5 },
		"decoder.remainders: 0 numbers":     func(t *Trace) { t.Decoder.Remainders = []float64{} },
		"decoder.weights[1]: 2 numbers":     func(t *Trace) { t.Decoder.Weights[1] = t.Decoder.Weights[1][1:] },
		"decoder.weights[0][2]: +Inf":       func(t *Trace) { t.Decoder.Weights[0][2] = math.Inf(1) },
		"decoder.attention: 1 steps":        func(t *Trace) { t.Decoder.Attention = t.Decoder.Attention[:1] },
		"decoder.cross_attention: 1 steps":  func(t *Trace) { t.Decoder.CrossAttention = t.Decoder.CrossAttention[1:] },
		"encoder.attention[1]: 1 heads":     func(t *Trace) { t.Encoder.Attention[1] = t.Encoder.Attention[1][:1] },
		"encoder.attention[0]: 0 heads":     func(t *Trace) { t.Encoder.Attention[0] = nil },
		"encoder.attention[0][1]: 2 query":  func(t *Trace) { t.Encoder.Attention[0][1] = t.Encoder.Attention[0][1][:2] },
		"encoder.attention[0][1][2]: 4 num": func(t *Trace) { a := t.Encoder.Attention[0][1]; a[2] = append(a[2], 0) },
		"cross_attention: no encoder":       func(t *Trace) { t.Encoder = nil },
		"decoder.cross_attention[0][0][0]":  func(t *Trace) { t.Encoder = sample("12345", 2, 2).Encoder },
	} {
		trace := sample("314", 2, 2)
		breakIt(trace)
		err := trace.Validate()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
			continue
		}
		var out bytes.Buffer
		if WriteHTML(&out, trace) == nil || WriteJSON(&out, trace) == nil || WriteText(&out, trace, 80, false) == nil || out.Len() > 0 {
			t.Errorf("%s: a writer accepted it", want)
		}
	}
}

// FuzzReadJSON: whatever is read without an error can be written by every writer and read again.
func FuzzReadJSON(f *testing.F) {
	for _, trace := range []*Trace{sample("31", 2, 1), fixed(), story(), withReadouts()} {
		var out bytes.Buffer
		if err := WriteJSON(&out, trace); err != nil {
			f.Fatal(err)
		}
		f.Add(out.Bytes())
	}
	f.Add([]byte(`{"format":"universal-transformer/trace/2","encoder":{"tokens":[""],"updates":[4096]}}`))
	f.Add([]byte(`{"format":"universal-transformer/trace/2","encoder":{"tokens":["a"],"updates":[2],"weights":[],"attention":[]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		trace, err := ReadJSON(bytes.NewReader(text))
		if err != nil {
			return
		}
		var page, again bytes.Buffer
		if err := WriteHTML(&page, trace); err != nil {
			t.Fatal(err)
		}
		if err := WriteText(&page, trace, 80, true); err != nil {
			t.Fatal(err)
		}
		if err := WriteJSON(&again, trace); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadJSON(&again); err != nil {
			t.Fatalf("written, but not readable: %v", err)
		}
	})
}
