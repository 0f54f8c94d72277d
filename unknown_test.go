package ut_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	ut "universal-transformer"
)

const adaptive, fixed = `{"frozen": {"max_steps": 4, "epsilon": 0.01}}`, `{"fixed": {"steps": 2}}`

// ofDigits is a model, hardly trained, whose vocabulary of characters has an unknown token.
func ofDigits(t *testing.T, depth string) *ut.Model {
	t.Helper()
	var rows strings.Builder
	for i := range 120 {
		fmt.Fprintf(&rows, "%d\t%d\n", i, i%10)
	}
	path := filepath.Join(t.TempDir(), "pairs.tsv")
	if err := os.WriteFile(path, []byte(rows.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := ut.Recipe("own-pairs")
	if err != nil {
		t.Fatal(err)
	}
	r, err = r.Set("model.halting="+depth, "task.path="+path, "task.held_out=0.4", "model.width=16", "model.heads=2", "training.steps=2", "training.evaluate_every=2")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "run")
	if _, err := ut.Train(t.Context(), r, dir, ut.TrainOptions{}); err != nil {
		t.Fatal(err)
	}
	m, err := ut.Load(dir, ut.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// Streamed answers report unknown tokens, errors and probabilities as those of Decode do, and are what is written; a service reports unknown
// tokens in a header and answers all the same.
// Caught when planted: answers of a stream without their unknown tokens, a header without the line.
func TestUnknownTokens(t *testing.T) {
	m := ofDigits(t, adaptive)
	inputs := []string{"12", "1ж2@", "", "99x"}
	options := ut.DecodeOptions{MaxLength: 4}
	want, err := m.Decode(t.Context(), inputs, options)
	if err != nil {
		t.Fatal(err)
	}
	for i, unknown := range [][]string{nil, {"ж", "@"}, nil, {"x"}} {
		if !reflect.DeepEqual(want[i].Unknown, unknown) {
			t.Errorf("%q: unknown are %q, want %q", inputs[i], want[i].Unknown, unknown)
		}
	}
	var text bytes.Buffer
	got, err := m.Stream(t.Context(), &text, inputs, options)
	var failed ut.LineErrors
	if !errors.As(err, &failed) || len(failed) != 1 || failed[0].Line != 3 {
		t.Errorf("the error is %v, want one of line 3", err)
	}
	lines := strings.Split(text.String(), "\n")
	for i := range want {
		if !reflect.DeepEqual(got[i].Unknown, want[i].Unknown) || got[i].Text != want[i].Text || got[i].LogProb != want[i].LogProb || fmt.Sprint(got[i].Err) != fmt.Sprint(want[i].Err) || lines[i] != got[i].Text {
			t.Errorf("%q: a stream has %+v and writes %q, Decode has %+v", inputs[i], got[i], lines[i], want[i])
		}
	}
	if _, err := m.Stream(t.Context(), &text, inputs, ut.DecodeOptions{MaxLength: -1}); err == nil {
		t.Error("a negative length is accepted")
	}

	server := httptest.NewServer(service(m))
	defer server.Close()
	response, err := server.Client().Post(server.URL, "text/plain", strings.NewReader("12\n1ж2@\n99x\n"))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if got := response.Header["X-Unknown"]; response.StatusCode != 200 || !reflect.DeepEqual(got, []string{`line 2: ["\u0436" "@"]`, `line 3: ["x"]`}) {
		t.Errorf("status %d, unknown %q", response.StatusCode, got)
	}
}

// A score tells which tokens of the source and which of the text are unknown, and how many of the text; a text that cannot be scored does
// not change this for others. Caught when planted: a source without its unknown tokens; those of the text left out.
func TestUnknownTokensOfScores(t *testing.T) {
	scored, err := ofDigits(t, fixed).Score(t.Context(), []ut.Pair{{Source: "12", Target: "2"}, {Source: "1ж2@", Target: "2"}, {Source: ""}, {Source: "7z", Target: "7y"}})
	if err != nil || scored[2].Err == nil {
		t.Fatalf("%+v, %v", scored, err)
	}
	for i, want := range map[int]ut.Scored{
		0: {}, 1: {UnknownSource: []string{"ж", "@"}}, 3: {UnknownSource: []string{"z"}, Unknown: []string{"y"}, UnknownCount: 1},
	} {
		if got := scored[i]; got.Err != nil || !slices.Equal(got.UnknownSource, want.UnknownSource) || !slices.Equal(got.Unknown, want.Unknown) || got.UnknownCount != want.UnknownCount {
			t.Errorf("pair %d: %+v, want %+v", i, got, want)
		}
	}
}

// The ponder time of an evaluation is the mean over the positions that traces count; a stack whose depth is fixed has none.
func TestEvaluationPonderTime(t *testing.T) {
	m := ofDigits(t, adaptive)
	sources, positions, steps := []string{"7", "105", "88"}, 0.0, 0.0
	for _, source := range sources {
		trace, err := m.Trace(t.Context(), source)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range trace.Encoder.Updates {
			positions, steps = positions+1, steps+n
		}
	}
	path := filepath.Join(t.TempDir(), "other.tsv")
	if err := os.WriteFile(path, []byte(strings.Join(sources, "\t1\n")+"\t1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	e, err := m.Evaluate(t.Context(), ut.EvaluateOptions{File: path})
	if err != nil || e.Examples != 3 || e.EncoderSteps == nil || e.DecoderSteps == nil {
		t.Fatalf("%+v, %v", e, err)
	}
	if want := steps / positions; math.Abs(e.EncoderSteps.Mean-want) > 1e-9 || positions != 6 || e.DecoderSteps.Mean < 1 || e.DecoderSteps.Mean > 4 {
		t.Errorf("encoder %v, want %v; decoder %v", e.EncoderSteps.Mean, want, e.DecoderSteps.Mean)
	}
	e, err = ofDigits(t, fixed).Evaluate(t.Context(), ut.EvaluateOptions{File: path})
	if err != nil || e.EncoderSteps != nil || e.DecoderSteps != nil {
		t.Errorf("of fixed depth: %+v, %v", e, err)
	}
}
