package bleu

import (
	"encoding"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// The examples of Papineni et al. (2002), section 2.1: modified precision 2/7 of the first, and in the second 17/18 and 8/14
// unigrams, 10/17 and 1/13 bigrams. Their tokens are lower-case words.
func TestPapineni(t *testing.T) {
	three := []string{
		"it is a guide to action that ensures that the military will forever heed party commands",
		"it is the guiding principle which guarantees the military forces always being under the command of the party",
		"it is the practical guide for the army always to heed the directions of the party",
	}
	for _, want := range []struct {
		hypothesis     string
		references     []string
		counts, totals [2]float64
	}{
		{"the the the the the the the", []string{"the cat is on the mat", "there is a cat on the mat"}, [2]float64{2, 0}, [2]float64{7, 6}},
		{"it is a guide to action which ensures that the military always obeys the commands of the party", three, [2]float64{17, 10}, [2]float64{18, 17}},
		{"it is to insure the troops forever hearing the activity guidebook that party direct", three, [2]float64{8, 1}, [2]float64{14, 13}},
	} {
		got, err := Config{Tokenizer: Whitespace}.Corpus([]string{want.hypothesis}, columns(want.references))
		if err != nil {
			t.Fatal(err)
		}
		if [2]float64(got.Counts[:2]) != want.counts || [2]float64(got.Totals[:2]) != want.totals {
			t.Errorf("%q: %v of %v, want %v of %v", want.hypothesis, got.Counts, got.Totals, want.counts, want.totals)
		}
	}
}

// Sums over shares are sums over everything, whatever the shares; and they say so if lines differ in references.
func TestStatisticsAddUp(t *testing.T) {
	hypotheses, references := readGolden(t).corpus(t, "several references")
	config, chrF := Config{Lowercase: true}, ChrF{WordOrder: 2}
	var left, right Statistics
	var chrFLeft, chrFRight ChrFStatistics
	for i, h := range hypotheses {
		refs := []string{references[0][i], references[1][i], references[2][i]}
		left = left.Plus(config.Statistics(h, refs...))
		right = config.Statistics(h, refs...).Plus(right)
		chrFLeft = chrFLeft.Plus(chrF.Statistics(h, refs...))
		chrFRight = chrF.Statistics(h, refs...).Plus(chrFRight)
	}
	want, err := config.Corpus(hypotheses, references)
	if err != nil || left != right || config.Score(left) != want || left.Lines != 3 || left.References != 3 {
		t.Errorf("%+v and %+v: %v, want %v, %v", left, right, config.Score(left), want, err)
	}
	chrFWant, err := chrF.Corpus(hypotheses, references)
	if err != nil || chrFLeft != chrFRight || chrF.Score(chrFLeft) != chrFWant || chrFLeft.Lines != 3 || chrFLeft.References != 3 {
		t.Errorf("%+v and %+v: %v, want %v, %v", chrFLeft, chrFRight, chrF.Score(chrFLeft), chrFWant, err)
	}
	varying := left.Plus(config.Statistics("a", "a"))
	if got := config.Score(varying).Signature; varying.Lines != 4 || !strings.HasPrefix(got, "nrefs:var|") {
		t.Errorf("signature of varying numbers of references: %s", got)
	}
	if again := varying.Plus(left); again.References != Varying {
		t.Errorf("%d references after varying ones", again.References)
	}
}

func TestSentence(t *testing.T) {
	got, err := Config{}.Sentence("the small house", "the small house")
	if err != nil || math.Abs(got.Value-100) > tolerance || !strings.Contains(got.Signature, "eff:yes") {
		t.Errorf("%v, %v", got, err)
	}
	chrF, err := ChrF{}.Sentence("xab", "xcd", "xab")
	if err != nil || chrF.Value != 100 || !strings.HasPrefix(chrF.Signature, "nrefs:2|") {
		t.Errorf("%v, %v", chrF, err)
	}
}

func TestScoreOfNothing(t *testing.T) {
	got := Config{}.Score(Statistics{})
	if got.Value != 0 || got.BrevityPenalty != 1 || !strings.Contains(got.String(), "ratio = 0.000") {
		t.Errorf("%v", got)
	}
	if got := (ChrF{}).Score(ChrFStatistics{}); got.Value != 0 {
		t.Errorf("%v", got)
	}
	for _, c := range []Config{{}, {Smoothing: AddK}, {EffectiveOrder: true}} {
		if got := c.Score(c.Statistics("a b c d e")); got.Value != 0 || got.ReferenceLength != 0 {
			t.Errorf("without a reference: %v", got)
		}
	}
	if got := (ChrF{}).Statistics("a b c d e"); got != (ChrFStatistics{Lines: 1}) {
		t.Errorf("without a reference: %+v", got)
	}
}

func TestValidate(t *testing.T) {
	for _, c := range []Config{
		{}, {Smoothing: Floor, SmoothingValue: 1}, {Smoothing: AddK, SmoothingValue: 12}, {Tokenizer: Characters, Smoothing: Unsmoothed},
	} {
		if err := c.Validate(); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for says, c := range map[string]Config{
		"tokenizer is 4":              {Tokenizer: 4},
		"smoothing is 4":              {Smoothing: 4},
		"smoothing exp takes none":    {SmoothingValue: 0.1},
		"smoothing none takes none":   {Smoothing: Unsmoothed, SmoothingValue: 0.1},
		"value is -1: it must be":     {Smoothing: AddK, SmoothingValue: -1},
		"value is NaN: it must be":    {Smoothing: Floor, SmoothingValue: math.NaN()},
		"value is +Inf: it must be":   {Smoothing: AddK, SmoothingValue: math.Inf(1)},
		"value is 1.5: that of floor": {Smoothing: Floor, SmoothingValue: 1.5},
	} {
		_, err := c.Corpus([]string{"a"}, [][]string{{"a"}})
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: %v, want %q", c, err, says)
		}
	}
	for _, order := range []int{-1, 3} {
		if _, err := (ChrF{WordOrder: order}).Corpus([]string{"a"}, [][]string{{"a"}}); err == nil {
			t.Errorf("word order %d is not refused", order)
		}
	}
}

func TestCorpusRefuses(t *testing.T) {
	for says, c := range map[string]struct {
		hypotheses []string
		references [][]string
	}{
		"no lines":     {nil, [][]string{{}}},
		"no reference": {[]string{"a"}, nil},
		"reference 2 has 1 lines, the hypotheses 2": {[]string{"a", "b"}, [][]string{{"a", "b"}, {"a"}}},
	} {
		_, err := Config{}.Corpus(c.hypotheses, c.references)
		_, chrFErr := ChrF{}.Corpus(c.hypotheses, c.references)
		if err == nil || chrFErr == nil || !strings.Contains(err.Error(), says) || !strings.Contains(chrFErr.Error(), says) {
			t.Errorf("%v and %v, want %q", err, chrFErr, says)
		}
	}
}

func TestNames(t *testing.T) {
	for i, name := range tokenizerNames {
		checkName(t, Tokenizer(i), name)
	}
	for i, name := range smoothingNames {
		checkName(t, Smoothing(i), name)
	}
	var tokenizer Tokenizer
	if err := tokenizer.UnmarshalText([]byte("13b")); err == nil || err.Error() != `tokenizer is "13b": use 13a, intl, none or char` {
		t.Errorf("%v", err)
	}
	if _, err := Smoothing(9).MarshalText(); err == nil || Smoothing(9).String() != "smoothing(9)" {
		t.Errorf("%v, %v", Smoothing(9), err)
	}
}

// checkName wants a value that is written as its name, and read from it.
func checkName[T encoding.TextMarshaler](t *testing.T, value T, name string) {
	t.Helper()
	text, err := value.MarshalText()
	if err != nil || string(text) != name {
		t.Errorf("%v: %q, want %q, %v", value, text, name, err)
	}
	read := reflect.New(reflect.TypeFor[T]())
	err = read.Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(name))
	if err != nil || read.Elem().Interface() != any(value) {
		t.Errorf("%q is read as %v, %v", name, read.Elem(), err)
	}
}

func TestLines(t *testing.T) {
	for text, want := range map[string][]string{
		"":                             nil,
		"\n":                           {""},
		"a":                            {"a"},
		"a\n":                          {"a"},
		"a\r\n\r\nb \t\u00a0\u001c\n":  {"a", "", "b"},
		" a\rb\u2028c\u0085d\u000be\n": {" a\rb\u2028c\u0085d\u000be"},
		"\ufeffa\n\n":                  {"\ufeffa", ""},
	} {
		got, err := Lines(text)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q, %v", text, got, want, err)
		}
	}
	if _, err := Lines("a\nb\xff\n"); err == nil || err.Error() != "line 2 is not valid UTF-8" {
		t.Errorf("%v", err)
	}
}
