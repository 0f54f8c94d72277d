package viewer

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"universal-transformer/internal/vocab"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// golden compares got with testdata/name, or writes it there with -update.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (go test ./viewer -update writes it)", err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; got:\n%s", path, got)
	}
}

// story is an encoder-only run over whole facts, with tokens that want to break out of wherever they stand.
func story() *Trace {
	facts := []string{"John moved to the bedroom", "<script>alert('x')</script>", " ", "\x1b[31mred", "where is \"Mary\" & co?"}
	t := sample("abcde", 3, 2)
	t.Task, t.Model = "babi 1", "adaptive (listing), width 32, 2 heads, at most 3 steps"
	t.Source, t.Encoder.Tokens = facts, facts
	t.Target, t.Decoder = nil, nil
	t.Output, t.Reference = []string{"office"}, []string{"bedroom"}
	return t
}

// fixed is a run of fixed depth: no weights, no remainders, every position runs all steps.
func fixed() *Trace {
	t := sample("314 15", 3, 2)
	for _, s := range []*Stack{t.Encoder, t.Decoder} {
		s.Weights, s.Remainders = nil, nil
		for i := range s.Updates {
			s.Updates[i] = 3
		}
	}
	t.Decoder.Tokens[5], t.Encoder.Tokens[0] = vocab.EndToken, vocab.UnknownToken
	t.Model, t.Reference = "fixed, 3 steps, width 64, 2 heads", nil
	return t
}

// mistaken is an adaptive run long enough to fold, with one wrong token and one missing.
func mistaken() *Trace {
	t := sample("31415926535897932384626433832795", 6, 1)
	t.Output = append([]string(nil), t.Target[:31]...)
	t.Output[3] = "x"
	return t
}

// narrow is a run with long facts about it.
func narrow() *Trace {
	t := mistaken()
	t.Task, t.Model, t.Exit = "reverse a list of at most forty digits, drawn at random", "Universal Transformer, at most 6 steps, width 128, 8 heads", "confidence of at least 0.95 or after 6 steps"
	t.Unknown = []string{"first", "second", "third", "fourth"}
	return t
}

// The depth of a stack without weights is called fixed only if all positions ran the same number of steps, as without an exit rule.
// Caught when planted: every such depth is fixed; positions that halted.
func TestSummaryWithoutWeights(t *testing.T) {
	for want, updates := range map[string][]float64{
		"3 positions, 3 steps each: the depth is fixed.":               {3, 3, 3},
		"1 position, 1 step each: the depth is fixed.":                 {1},
		"3 positions, which ended after 1 to 3 steps, 2.3 on average.": {1, 3, 3},
	} {
		s := Stack{Tokens: make([]string, len(updates)), Updates: updates}
		if got := s.summary(); got != want {
			t.Errorf("%v: %q, want %q", updates, got, want)
		}
	}
}

// Every line has at most the width of the terminal. Caught when planted: facts, the summary of a stack, the key or unknown words that are
// not wrapped.
func TestWriteText(t *testing.T) {
	for name, test := range map[string]struct {
		trace  *Trace
		width  int
		colour bool
	}{
		"mistaken.txt": {mistaken(), 60, false},
		"colour.txt":   {mistaken(), 100, true},
		"story.txt":    {story(), 80, false},
		"fixed.txt":    {fixed(), 80, false},
		"narrow.txt":   {narrow(), 40, false},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := WriteText(&out, test.trace, test.width, test.colour); err != nil {
				t.Fatal(err)
			}
			golden(t, name, out.Bytes())
			if !test.colour && strings.Contains(out.String(), "\x1b") {
				t.Error("an escape reached a terminal that asked for none")
			}
			for line := range strings.Lines(out.String()) {
				bare := strings.NewReplacer(bold, "", faint, "", red, "", plain, "").Replace(strings.TrimRight(line, " \n"))
				if columns(bare) > test.width {
					t.Errorf("%d columns: %s", columns(bare), line)
				}
			}
		})
	}
}

// The number of blocks over a token is the position's ponder time: a rendering that drops or adds one fails.
func TestWriteTextCountsSteps(t *testing.T) {
	trace := story()
	var out bytes.Buffer
	if err := WriteText(&out, trace, 100, false); err != nil {
		t.Fatal(err)
	}
	_, chart, _ := strings.Cut(out.String(), "Encoder:")
	i := 0
	for line := range strings.Lines(chart) {
		if blocks := strings.Count(line, "█") + strings.Count(line, "▓") + strings.Count(line, "▒") + strings.Count(line, "░"); blocks > 0 && i < 5 {
			if float64(blocks) != trace.Encoder.Updates[i] {
				t.Errorf("position %d: %d blocks, ran %g steps", i+1, blocks, trace.Encoder.Updates[i])
			}
			i++
		}
	}
	if i != 5 {
		t.Errorf("%d rows of blocks, want 5", i)
	}
}

func TestVisible(t *testing.T) {
	for token, want := range map[string]string{
		"7": "7", " ": "␣", "": "(empty)", "a b": "a b", " a": "␣a", "a  b": "a␣␣b", "\n": "↵", "\x00": "␀", "\x1b": "␛", "\x7f": "␡",
		"\xef": `\xef`, "\uFFFD": "\uFFFD", "\u200b": "U+200B", "\u202e": "U+202E", "\u00a0": "U+00A0", "日": "日",
		vocab.EndToken: "∎", vocab.UnknownToken: "⁇",
	} {
		if got := visible(token); got != want {
			t.Errorf("visible(%q) = %q, want %q", token, got, want)
		}
	}
}

// A token that is too long ends in an ellipsis, where the next character would not fit, also one of two columns; marks without a column of
// their own stay with their letter. A token of a million characters does not take the time of its square.
// Caught when planted: one column too many, one too few, the loop that measures every beginning, which does not end.
func TestCut(t *testing.T) {
	for _, test := range []struct {
		token string
		limit int
		want  string
	}{
		{"abcdefgh", 8, "abcdefgh"}, {"abcdefghi", 8, "abcdefg…"}, {"日本語日本", 10, "日本語日本"}, {"日本語日本", 9, "日本語日…"}, {"日本語日本", 8, "日本語…"},
		{"abcde\u0301fghij", 6, "abcde\u0301…"}, {strings.Repeat("a", 1_000_000), 9, "aaaaaaaa…"},
	} {
		if got := cut(test.token, test.limit); got != test.want {
			t.Errorf("%.20q in %d columns: %q, want %q", test.token, test.limit, got, test.want)
		}
	}
}

// What ran to the limit was stopped, or halted in the last step it had; it is not said to have halted.
// Caught when planted: the limit left out; positions below it counted.
func TestSummaryNamesTheLimit(t *testing.T) {
	for want, s := range map[string]*Stack{
		"3 positions, each of which ran to the limit of 2 steps.":                            {Updates: []float64{2, 2, 2}, Limit: 2},
		"3 positions, each of which halted after 2 steps.":                                   {Updates: []float64{2, 2, 2}, Limit: 6},
		"4 positions, which halted after 1 to 6 steps, 4.0 on average; 2 reached the limit.": {Updates: []float64{1, 6, 3, 6}, Limit: 6},
		"3 positions, which halted after 1 to 3 steps, 2.0 on average.":                      {Updates: []float64{1, 2, 3}, Limit: 6},
		"2 positions, which halted after 1 to 6 steps, 3.5 on average.":                      {Updates: []float64{1, 6}},
	} {
		s.Tokens, s.Remainders = make([]string, len(s.Updates)), make([]float64, len(s.Updates))
		if got := s.summary(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	s := sampleStack(rand.New(rand.NewPCG(1, 2)), []string{"a", "b", "c"}, 4)
	for limit, valid := range map[int]bool{-1: false, 0: true, 3: false, 4: true, 5: true, maxSteps + 1: false} {
		if s.Limit = limit; (s.validate(0) == nil) != valid {
			t.Errorf("limit %d: %v", limit, s.validate(0))
		}
	}
}
