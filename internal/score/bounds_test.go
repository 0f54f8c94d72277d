package score_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"universal-transformer/internal/score"
)

// A single token has a perplexity, none has not.
func TestPerplexityOfFewTokens(t *testing.T) {
	if got := (score.Perplexity{Nats: math.Log(5), Tokens: 1}).Value(); math.Abs(got-5) > 1e-12 {
		t.Errorf("the perplexity of one token is %v, want 5", got)
	}
	if got := (score.Perplexity{Nats: 1}).Value(); !math.IsNaN(got) {
		t.Errorf("the perplexity of no token is %v", got)
	}
	var p score.Perplexity
	if err := p.UnmarshalJSON([]byte(`{"nats":0,"tokens":0,"value":null}`)); err != nil {
		t.Errorf("no tokens: %v", err)
	}
}

// A teacher-forced answer is right if all its tokens are, and each is counted, also after a wrong end (1).
// Caught when planted: right sequences counted as wrong.
func TestTeacherForced(t *testing.T) {
	for want, c := range map[string][2][]int32{
		"3 of 3, 1 of 1": {{4, 5, 1}, {4, 5, 1}}, "2 of 3, 0 of 1": {{4, 1, 1}, {4, 5, 1}}, "0 of 2, 0 of 1": {{1, 5}, {5, 1}}, "0 of 0, 1 of 1": {},
	} {
		s := score.TeacherForced(c[0], c[1])
		if got := fmt.Sprintf("%d of %d, %d of %d", s.Tokens.Correct, s.Tokens.Total, s.Sequences.Correct, s.Sequences.Total); got != want {
			t.Errorf("%v for %v: %s, want %s", c[0], c[1], got, want)
		}
	}
}

// classes returns names of a length that begin with different letters.
func classes(n, length int) (names []string) {
	for i := range n {
		names = append(names, (string(rune('a'+i)) + strings.Repeat("x", length))[:length])
	}
	return names
}

// The matrix is shown up to 12 classes. Names have at most 40 characters in the first column and 12 above the others.
// Caught when planted: 13 classes, and 11; a name of 40 characters cut off.
func TestLinesOfConfusion(t *testing.T) {
	for n, want := range map[int]int{1: 1 + 1 + 1 + 1, 12: 1 + 12 + 1 + 12, 13: 1 + 13} {
		if got := len(score.NewConfusion(classes(n, 1)).Lines()); got != want {
			t.Errorf("%d classes have %d lines, want %d", n, got, want)
		}
	}
	for length, want := range map[int][2]string{
		3:  {"axx       ", "     axx"}, // the width of "true class", and of six digits
		12: {"axxxxxxxxxxx", "  axxxxxxxxxxx"},
		13: {"axxxxxxxxxxxx", "  axxxxxxxxxx…"},
		40: {"a" + strings.Repeat("x", 39), "  axxxxxxxxxx…"},
		41: {"a" + strings.Repeat("x", 38) + "…", "  axxxxxxxxxx…"},
	} {
		c := score.NewConfusion(classes(2, length))
		c.Add(c.Classes[0], c.Classes[1])
		lines := c.Lines()
		if !strings.HasPrefix(lines[1], want[0]+"     0.0000") {
			t.Errorf("%d characters: %q, want %q", length, lines[1], want[0])
		}
		head := "true class" + strings.Repeat(" ", len([]rune(want[0]))-10) + want[1]
		if !strings.HasPrefix(lines[3], head) || !strings.HasSuffix(lines[3], "  answered") {
			t.Errorf("%d characters: %q, want %q", length, lines[3], head)
		}
		cell := len([]rune(want[1])) - 2
		if row := want[0] + fmt.Sprintf("  %*d  %*d", cell, 0, cell, 1); lines[4] != row {
			t.Errorf("%d characters: %q, want %q", length, lines[4], row)
		}
	}
}

// Counts of JSON at the bounds of what is possible.
// Caught when planted: no correct trial, or all correct, refused; a share that is off by twice the tolerance accepted.
func TestBoundsOfCounts(t *testing.T) {
	for text, want := range map[string]bool{
		`{"correct":0,"total":2,"value":0}`: true, `{"correct":2,"total":2,"value":1}`: true, `{"correct":3,"total":2,"value":1}`: false,
		`{"correct":-1,"total":2,"value":0}`: false, `{"correct":0,"total":0,"value":null}`: true, `{"correct":0,"total":0}`: true,
		`{"correct":1,"total":2,"value":0.5000000005}`: true, `{"correct":1,"total":2,"value":0.500000002}`: false, `{"correct":1,"total":2}`: false,
		`{"correct":0,"total":2,"value":1e-9}`: true, `{"correct":1,"total":1,"value":1}`: true, `{"correct":0,"total":1,"value":0.5}`: false, `{"correct":1,"total":2,"value":0.5,"low":0.1}`: false,
	} {
		var a score.Accuracy
		if err := a.UnmarshalJSON([]byte(text)); (err == nil) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
	for text, want := range map[string]bool{
		`{"name":"a","value":2.5}`: true, `{"name":"a","value":null}`: true, `{"name":"a","value":1,"low":0}`: false, `{"name":"a","value":1,"high":1}`: false,
		`{"name":"a","value":0.5,"correct":1,"total":2}`: true, `{"name":"a","value":0.5,"correct":1}`: false, `{"name":"a","value":0.5,"total":2}`: false,
	} {
		var m score.Metric
		if err := m.UnmarshalJSON([]byte(text)); (err == nil) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Metrics as text and as JSON, which has no infinities.
func TestStringOfMetric(t *testing.T) {
	for want, m := range map[string]score.Metric{
		"12.35": score.Figure("f", 12.3456), "none": score.Figure("f", math.NaN()), "1.0000 (0.2065..1.0000, 1 of 1)": score.Share("s", score.Of(true)),
		"0.0000 (0.0000..0.7935, 0 of 1)": score.Share("s", score.Of(false)),
	} {
		if got := m.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for _, value := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if data, err := score.Figure("f", value).MarshalJSON(); err != nil || string(data) != `{"name":"f","value":null}` {
			t.Errorf("%v: %s, %v", value, data, err)
		}
	}
	if data, err := (score.Perplexity{Nats: 1e300, Tokens: 1}).MarshalJSON(); err != nil || string(data) != `{"nats":1e+300,"tokens":1,"value":null}` {
		t.Errorf("%s, %v", data, err)
	}
}
