package bleu

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
)

// golden is what sacreBLEU and Python say of texts that are hard.
type golden struct {
	Source  string
	Corpora []struct {
		Name       string
		Hypotheses []string
		References [][]string
		Repeat     int // times that every line is repeated, to make it long
	}
	BLEU []struct {
		Corpus         string
		Tokenizer      Tokenizer
		Lowercase      bool
		Smoothing      Smoothing
		SmoothingValue float64 `json:"smoothing_value"`
		EffectiveOrder bool    `json:"effective_order"`
		Score
		Line string
	}
	ChrF []struct {
		Corpus     string
		WordOrder  int `json:"word_order"`
		Lowercase  bool
		Whitespace bool
		ChrFScore
		Line string
	}
	Tokens []struct {
		Line string
		V13a []string `json:"13a"`
		Intl []string
		None []string
		Char []string
	}
	Lower []struct{ Text, Lower string }
}

func readGolden(t testing.TB) golden {
	t.Helper()
	data, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var g golden
	if err := json.Unmarshal(data, &g); err != nil {
		t.Fatal(err)
	}
	if len(g.Corpora) < 20 || len(g.BLEU) < 300 || len(g.ChrF) < 100 || len(g.Tokens) < 100 || len(g.Lower) < 50 {
		t.Fatal("testdata/golden.json is not whole")
	}
	return g
}

// corpus gives the texts of a corpus.
func (g golden) corpus(t testing.TB, name string) (hypotheses []string, references [][]string) {
	t.Helper()
	for _, c := range g.Corpora {
		if c.Name != name {
			continue
		}
		repeated := func(lines []string) []string {
			long := make([]string, len(lines))
			for i, line := range lines {
				long[i] = strings.Repeat(line, max(1, c.Repeat))
			}
			return long
		}
		for _, r := range c.References {
			references = append(references, repeated(r))
		}
		return repeated(c.Hypotheses), references
	}
	t.Fatalf("no corpus %q", name)
	return nil, nil
}

const tolerance = 1e-9

func TestBLEUIsSacreBLEUs(t *testing.T) {
	g := readGolden(t)
	for _, want := range g.BLEU {
		c := Config{
			Tokenizer: want.Tokenizer, Lowercase: want.Lowercase, Smoothing: want.Smoothing,
			SmoothingValue: want.SmoothingValue, EffectiveOrder: want.EffectiveOrder,
		}
		hypotheses, references := g.corpus(t, want.Corpus)
		got, err := c.Corpus(hypotheses, references)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(got.Value-want.Value) > tolerance || math.Abs(got.BrevityPenalty-want.BrevityPenalty) > tolerance {
			t.Errorf("%s, %+v: %v with penalty %v, want %v with %v", want.Corpus, c, got.Value, got.BrevityPenalty, want.Value, want.BrevityPenalty)
		}
		if got.Counts != want.Counts || got.Totals != want.Totals ||
			got.HypothesisLength != want.HypothesisLength || got.ReferenceLength != want.ReferenceLength {
			t.Errorf("%s, %+v: counted %+v, want %+v", want.Corpus, c, got, want.Score)
		}
		for n, p := range got.Precisions {
			if math.Abs(p-want.Precisions[n]) > tolerance {
				t.Errorf("%s, %+v: precisions %v, want %v", want.Corpus, c, got.Precisions, want.Precisions)
			}
		}
		if got.Signature != want.Signature {
			t.Errorf("signature %s, want %s", got.Signature, want.Signature)
		}
		if want.Line != "" && got.String() != want.Line {
			t.Errorf("%s\n%s, want\n%s", want.Corpus, got, want.Line)
		}
	}
}

func TestChrFIsSacreBLEUs(t *testing.T) {
	g := readGolden(t)
	for _, want := range g.ChrF {
		c := ChrF{WordOrder: want.WordOrder, Lowercase: want.Lowercase, Whitespace: want.Whitespace}
		hypotheses, references := g.corpus(t, want.Corpus)
		got, err := c.Corpus(hypotheses, references)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(got.Value-want.Value) > tolerance {
			t.Errorf("%s, %+v: %v, want %v", want.Corpus, c, got.Value, want.Value)
		}
		if got.Name != want.Name || got.Signature != want.Signature {
			t.Errorf("%s %s, want %s %s", got.Name, got.Signature, want.Name, want.Signature)
		}
		if want.Line != "" && got.String() != want.Line {
			t.Errorf("%s\n%s, want\n%s", want.Corpus, got, want.Line)
		}
	}
}

func TestTokensAreSacreBLEUs(t *testing.T) {
	for _, want := range readGolden(t).Tokens {
		for tokenizer, tokens := range map[Tokenizer][]string{
			V13a: want.V13a, International: want.Intl, Whitespace: want.None, Characters: want.Char,
		} {
			if got := tokenizer.Tokens(want.Line); !slices.Equal(got, tokens) {
				t.Errorf("%v of %q: %q, want %q", tokenizer, want.Line, got, tokens)
			}
		}
	}
}

func TestLowerIsPythons(t *testing.T) {
	for _, want := range readGolden(t).Lower {
		if got := lower(want.Text); got != want.Lower {
			t.Errorf("%q: %q, want %q", want.Text, got, want.Lower)
		}
	}
}
