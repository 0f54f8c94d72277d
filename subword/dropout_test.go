package subword_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"universal-transformer/subword"
)

// BPE-dropout cuts words as often as algorithm 1 of its paper does, computed by hand: every merge that can be done is dropped before each
// merge anew, the first that is left is done. Caught when planted: dropped merges that never come back.
func TestDropout(t *testing.T) {
	const p, draws = 0.4, 20_000
	for _, c := range []struct {
		name, text string
		size       int // 258 and the merges
		word       string
		want       map[string]float64
	}{
		{"one after the other", "abc\nab\nab\n", 260, "abc", map[string]float64{"a b c": p, "ab c": (1 - p) * p, "abc": (1 - p) * (1 - p)}},
		{"one or the other", "ab\nab\nbc\n", 260, "abc", map[string]float64{"a b c": p * p, "ab c": 1 - p, "a bc": p * (1 - p)}},
		{"twice the same", "ab\n", 259, "abab", map[string]float64{
			"a b a b": p * p, "ab a b": (1 - p) * p, "a b ab": p * (1 - p) * p, "ab ab": (1 - p) * (1 - p) * (1 + p),
		}},
	} {
		trainer := subword.Trainer{Size: c.size}
		if err := trainer.Count(strings.NewReader(c.text)); err != nil {
			t.Fatal(err)
		}
		b, err := trainer.Train()
		if err != nil {
			t.Fatal(err)
		}
		rng, found := rand.New(rand.NewPCG(1, 2)), map[string]float64{}
		for range draws {
			found[cut(t, b, c.word, p, rng)] += 1. / draws
		}
		for pieces, want := range c.want {
			if math.Abs(found[pieces]-want) > 0.015 {
				t.Errorf("%s: %q in %.3f of %d, want %.3f", c.name, pieces, found[pieces], draws, want)
			}
		}
		if len(found) != len(c.want) {
			t.Errorf("%s: %v", c.name, found)
		}
	}
}

// cut is the pieces of a text, with blanks between them.
func cut(t *testing.T, b *subword.BPE, text string, rate float64, rng *rand.Rand) string {
	t.Helper()
	ids, err := b.EncodeWithDropout(text, rate, rng)
	if err != nil {
		t.Fatal(err)
	}
	var pieces []string
	for _, id := range ids {
		pieces = append(pieces, b.Token(id))
	}
	return strings.Join(pieces, " ")
}

// However a text is cut, it is the same text; without dropout it is cut as always.
func FuzzDropout(f *testing.F) {
	b := open(f, "testdata/tokenizer.json").(*subword.BPE)
	f.Add("A dog runs over the  grass.", uint8(100), uint64(1))
	f.Add("ö\x00 \n日本", uint8(0), uint64(2))
	f.Fuzz(func(t *testing.T, text string, rate uint8, seed uint64) {
		ids, err := b.EncodeWithDropout(text, float64(rate)/256, rand.New(rand.NewPCG(seed, 0)))
		whole, wrong := b.Encode(text)
		if (err == nil) != (wrong == nil) {
			t.Fatalf("%v, and without dropout %v", err, wrong)
		}
		if err != nil {
			return
		}
		if got, err := b.Decode(ids); err != nil || got != text {
			t.Errorf("%q, %v", got, err)
		}
		if rate == 0 && !slices.Equal(ids, whole) || len(ids) > len(text) { // fewer than without dropout there may be: merges are greedy
			t.Errorf("%v, without dropout %v", ids, whole)
		}
	})
}
