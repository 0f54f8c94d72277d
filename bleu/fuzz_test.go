package bleu

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// A pattern is a step of a tokenizer as sacreBLEU has it.
type pattern struct {
	find    *regexp.Regexp
	replace string
}

var patterns = map[Tokenizer][]pattern{
	V13a: {
		{regexp.MustCompile("([\\{-\\~\\[-\\` -\\&\\(-\\+\\:-\\@\\/])"), " $1 "},
		{regexp.MustCompile(`([^0-9])([\.,])`), "$1 $2 "},
		{regexp.MustCompile(`([\.,])([^0-9])`), " $1 $2"},
		{regexp.MustCompile(`([0-9])(-)`), "$1 $2 "},
	},
	International: {
		{regexp.MustCompile(`(\P{N})(\p{P})`), "$1 $2 "},
		{regexp.MustCompile(`(\p{P})(\P{N})`), " $1 $2"},
		{regexp.MustCompile(`(\p{S})`), " $1 "},
	},
}

// Tokens are never empty, have no white space in them, and are all of the line that is not white space, in its order;
// those of 13a and intl are where patterns cut the line.
func FuzzTokens(f *testing.F) {
	for _, g := range readGolden(f).Tokens {
		f.Add(g.Line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		line = strings.ToValidUTF8(line, "?")
		replaced := strings.NewReplacer("&", "+", "<skipped>", "<omitted>", "\n", " ").Replace(line) // 13a does what patterns do not
		replaced = strings.Map(func(r rune) rune {
			if within(newPunctuation, r) || within(newSymbols, r) || within(newNumbers, r) { // of which Go's patterns do not know
				return 'x'
			}
			return r
		}, replaced)
		for i := range tokenizers {
			tokens := Tokenizer(i).Tokens(replaced)
			for _, token := range tokens {
				if token == "" || strings.ContainsFunc(token, isSpace) {
					t.Errorf("%v of %q has the token %q", Tokenizer(i), replaced, token)
				}
			}
			if got, want := strings.Join(tokens, ""), strings.Join(fields(replaced), ""); got != want {
				t.Errorf("%v of %q has %q, want %q", Tokenizer(i), replaced, got, want)
			}
			cut := " " + replaced + " "
			if Tokenizer(i) == International {
				cut = replaced
			}
			for _, p := range patterns[Tokenizer(i)] {
				cut = p.find.ReplaceAllString(cut, p.replace)
			}
			if want := fields(cut); patterns[Tokenizer(i)] != nil && !slices.Equal(tokens, want) {
				t.Errorf("%v of %q: %q, want %q", Tokenizer(i), replaced, tokens, want)
			}
		}
		for _, token := range V13a.Tokens(line) { // with everything that it replaces
			if token == "" || strings.ContainsFunc(token, isSpace) {
				t.Errorf("13a of %q has the token %q", line, token)
			}
		}
	})
}

// Scores are between 0 and 100; what is equal scores 100 where a score is defined; nothing matches more than there is.
func FuzzScores(f *testing.F) {
	f.Add("the cat sat", "the cat sat on the mat", "ΑΣ 1,5", uint8(0))
	f.Add("", "a", "", uint8(7))
	f.Add("a\xff b", "(b) c", "x-\ny.", uint8(13))
	f.Add("a b c d", "a", "b", uint8(2))
	f.Add("İ", "i", "&lt;.", uint8(255))
	f.Fuzz(func(t *testing.T, hypothesis, one, two string, how uint8) {
		c := Config{
			Tokenizer: Tokenizer(how % 4), Smoothing: Smoothing(how / 4 % 4), EffectiveOrder: how&16 > 0, Lowercase: how&32 > 0,
		}
		s := c.Statistics(hypothesis, one, two)
		for n := range MaxOrder {
			if s.Counts[n] > s.Totals[n] || s.Counts[n] < 0 || s.Totals[n] != max(0, s.HypothesisLength-n) {
				t.Errorf("%+v", s)
			}
		}
		inRange(t, c.Score(s).Value)
		if s != c.Statistics(hypothesis, two, one) {
			t.Errorf("the order of references matters: %q, %q, %q", hypothesis, one, two)
		}
		same := c.Score(c.Statistics(hypothesis, one, hypothesis))
		inRange(t, same.Value)
		if same.Totals[MaxOrder-1] > 0 && math.Abs(same.Value-100) > tolerance {
			t.Errorf("%q against itself: %v", hypothesis, same)
		}
		chrF := ChrF{WordOrder: int(how % 3), Lowercase: how&32 > 0, Whitespace: how&64 > 0}
		o := chrF.Statistics(hypothesis, one, two)
		inRange(t, chrF.Score(o).Value)
		if f := chrF.Score(chrF.Statistics(hypothesis, one, hypothesis)); f.Value != 100 && len(fields(hypothesis)) > 0 {
			t.Errorf("%q against itself: %v", hypothesis, f)
		}
	})
}

func inRange(t *testing.T, score float64) {
	t.Helper()
	if !(score >= 0 && score <= 100) { // NaN neither
		t.Errorf("the score is %v", score)
	}
}

// Lower-cased text stays as it is when lower-cased again, and differs from Go's only where Python's does.
func FuzzLower(f *testing.F) {
	for _, g := range readGolden(f).Lower {
		f.Add(g.Text)
	}
	goes := strings.NewReplacer("ς", "σ", "i\u0307", "i")
	f.Fuzz(func(t *testing.T, text string) {
		low := lower(text)
		if lower(low) != low {
			t.Errorf("%q becomes %q and then %q", text, low, lower(low))
		}
		if got, want := goes.Replace(low), goes.Replace(strings.ToLower(text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	})
}

// Lines are refused or whole: without white space at their ends, as many as there are newlines, and one without.
func FuzzLines(f *testing.F) {
	f.Add("a\r\nb\n")
	f.Add("\xff")
	f.Fuzz(func(t *testing.T, text string) {
		lines, err := Lines(text)
		if (err == nil) != utf8.ValidString(text) {
			t.Fatalf("%q: %v", text, err)
		}
		if err != nil {
			return
		}
		want := strings.Split(text, "\n")
		if last := len(want) - 1; want[last] == "" {
			want = want[:last]
		}
		for i, line := range want {
			want[i] = strings.TrimRightFunc(line, isSpace)
		}
		if !slices.Equal(lines, want) {
			t.Errorf("%q: %q, want %q", text, lines, want)
		}
	})
}
