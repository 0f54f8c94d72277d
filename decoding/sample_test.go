package decoding_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"universal-transformer/decoding"
	"universal-transformer/internal/vocab"
)

// first samples the first token often and counts.
func first(t *testing.T, s decoding.Sampling, logP []float64, draws int) []int {
	t.Helper()
	counts := make([]int, len(logP))
	rng := rand.New(rand.NewPCG(8, 1))
	request := decoding.Request{Limits: limits(1, 1), Next: func([]int, []vocab.ID) ([][]float64, error) { return [][]float64{logP}, nil }}
	for range draws {
		found, err := s.Search(t.Context(), request, []*rand.Rand{rng})
		if err != nil {
			t.Fatal(err)
		}
		counts[found[0].Tokens[0]]++
	}
	return counts
}

// Tokens are drawn as often as the changed distribution says, worked out by hand. A count of 20,000 draws is off by more than five
// deviations with probability 6e-7; the stream is fixed, so this either fails always or never.
// Caught when planted: a temperature that multiplies; one token too few or too many kept by TopP; TopP of what TopK cut off, too; padding drawn.
func TestSamplingDistribution(t *testing.T) {
	ln := func(p ...float64) []float64 {
		logP := []float64{9} // padding, which is never drawn
		for _, x := range p {
			logP = append(logP, math.Log(x))
		}
		return logP
	}
	const draws = 20_000
	for name, c := range map[string]struct {
		sampling decoding.Sampling
		want     []float64
	}{
		"as it is":      {decoding.Sampling{Temperature: 1, TopP: 1}, []float64{0, 0.1, 0.4, 0.2, 0.3}},
		"sharper":       {decoding.Sampling{Temperature: 0.5, TopP: 1}, []float64{0, 1. / 30, 16. / 30, 4. / 30, 9. / 30}},
		"top-k":         {decoding.Sampling{Temperature: 1, TopK: 2, TopP: 1}, []float64{0, 0, 4. / 7, 0, 3. / 7}},
		"top-k of many": {decoding.Sampling{Temperature: 1, TopK: 50, TopP: 1}, []float64{0, 0.1, 0.4, 0.2, 0.3}},
		"top-p":         {decoding.Sampling{Temperature: 1, TopP: 0.75}, []float64{0, 0, 4. / 9, 2. / 9, 3. / 9}},
		"top-p, one":    {decoding.Sampling{Temperature: 1, TopP: 0.001}, []float64{0, 0, 1, 0, 0}},
		"top-k, then p": {decoding.Sampling{Temperature: 1, TopK: 3, TopP: 0.76}, []float64{0, 0, 4. / 7, 0, 3. / 7}}, // 7/9 of the three are enough
	} {
		for token, n := range first(t, c.sampling, ln(0.1, 0.4, 0.2, 0.3), draws) {
			p := c.want[token]
			if math.Abs(float64(n)-p*draws) > 5*math.Sqrt(p*(1-p)*draws) {
				t.Errorf("%s: token %d was drawn %d times of %d, want about %.0f", name, token, n, draws, p*draws)
			}
		}
	}
}

// The same seed and number give the same text in any batch; others give others. LogProb is the model's own.
// Caught when planted: one stream for a whole batch; the place in the batch for the number.
func TestSamplingStreams(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	one := randomChain(rng, 1, 0.5)
	c := chain{one[0], one[0], one[0], one[0]}
	method := decoding.Method{Sampling: decoding.Sampling{Temperature: 1, TopP: 1}, Seed: 5, First: 10}
	all, err := method.Search(t.Context(), c.request(12))
	if err != nil {
		t.Fatal(err)
	}
	for i, h := range all {
		alone := method
		alone.First += int64(i)
		found, err := alone.Search(t.Context(), one.request(12))
		if err != nil || !sameHypothesis(found[0], h) {
			t.Errorf("source %d: %+v alone, %+v in a batch; %v", i, found, h, err)
		}
		logProb := 0.0
		for n, token := range h.Tokens {
			logProb += c.logP(0, h.Tokens[:n], token)
		}
		if math.Abs(logProb-h.LogProb) > 1e-9 {
			t.Errorf("source %d: log p is %v, want %v", i, h.LogProb, logProb)
		}
	}
	other := method
	other.Seed++
	others, err := other.Search(t.Context(), c.request(12))
	if err != nil || slices.EqualFunc(all, others, sameHypothesis) || sameHypothesis(all[0], all[1]) && sameHypothesis(all[1], all[2]) {
		t.Errorf("seeds and numbers make no difference: %+v, %+v, %v", all, others, err)
	}
}

func TestMethodErrors(t *testing.T) {
	for want, m := range map[string]decoding.Method{
		"temperature is -1": {Sampling: decoding.Sampling{Temperature: -1, TopP: 1}},
		"temperature is +Inf: it must be positive and finite": {Sampling: decoding.Sampling{Temperature: math.Inf(1), TopP: 1}},
		"top-k is -2":         {Sampling: decoding.Sampling{Temperature: 1, TopK: -2, TopP: 1}},
		"top-p is 0":          {Sampling: decoding.Sampling{Temperature: 1}},
		"top-p is 1.5":        {Sampling: decoding.Sampling{Temperature: 1, TopP: 1.5}},
		"choose one":          {Sampling: decoding.Sampling{Temperature: 1, TopP: 1}, Beam: decoding.Beam{Width: 1}},
		"temperature is 0":    {Sampling: decoding.Sampling{TopP: 1}},
		"beam width is -1":    {Beam: decoding.Beam{Width: -1}},
		"beam width is 0":     {Beam: decoding.Beam{Best: 2}},
		"width is 0: it must": {Beam: decoding.Beam{Alpha: -3}},
	} {
		_, err := m.Search(t.Context(), decoding.Request{})
		for _, err := range []error{err, m.Validate()} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%+v: %v, want %q", m, err, want)
			}
		}
	}
}

// Tokens are those of the definition: the first ones in the order of a stable sort, at which the sum of probabilities exceeds the drawn
// share. Distributions are peaked, flat and full of equal values.
// Caught when planted: equal tokens ranked by falling id, a pivot that is counted twice, TopK + 1 tokens, a sum that starts anew.
func TestDrawsOfASortedVocabulary(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	for i := range 3000 {
		logP, levels := make([]float64, 2+rng.IntN(60)), 1+rng.IntN(40)
		for id := range logP {
			logP[id] = float64(rng.IntN(levels)) * 0.3
		}
		s := decoding.Sampling{Temperature: 0.3 + 2*rng.Float64(), TopK: max(0, rng.IntN(90)-30), TopP: min(1, 1.5-1.4*rng.Float64())}
		const share = 1<<53 - 1
		number := rng.Uint64() & share
		request := decoding.Request{Limits: limits(1, 1), Next: func([]int, []vocab.ID) ([][]float64, error) { return [][]float64{logP}, nil }}
		found, err := s.Search(t.Context(), request, []*rand.Rand{rand.New(constant(number))})
		if want := sortedDraw(s, logP, float64(number)/(share+1)); err != nil || found[0].Tokens[0] != want {
			t.Fatalf("case %d: %+v of %v draws %v, want %d; %v", i, s, logP, found, want, err)
		}
	}
}

// sortedDraw draws as [decoding.Sampling] says, from a sorted list.
func sortedDraw(s decoding.Sampling, logP []float64, u float64) vocab.ID {
	type token struct {
		id vocab.ID
		p  float64
	}
	var list []token
	for id, l := range logP[1:] {
		list = append(list, token{vocab.ID(id + 1), math.Exp(l / s.Temperature)})
	}
	slices.SortStableFunc(list, func(a, b token) int { return cmp.Compare(b.p, a.p) })
	if s.TopK > 0 && s.TopK < len(list) {
		list = list[:s.TopK]
	}
	sum, kept, size := 0.0, 0.0, 0
	for _, x := range list {
		sum += x.p
	}
	for kept < s.TopP*sum*(1-1e-6) {
		kept += list[size].p
		size++
	}
	at, reached := 0, list[0].p
	for reached <= u*kept && at+1 < size {
		at++
		reached += list[at].p
	}
	return list[at].id
}

// constant is a source of one number.
type constant uint64

func (c constant) Uint64() uint64 { return uint64(c) }

// Distributions of twentieths, whose prefixes sum to TopP exactly: the set ends with the token that reaches it. The sizes come from sums
// of whole numbers. Probabilities are those of float64 and of float32 logits.
// Caught when planted: sums compared without a tolerance for rounding.
func TestTopPOfExactSums(t *testing.T) {
	const parts = 20
	last := rand.New(constant(97 * (1 << 53) / 100)) // draws the last token of the set, each of which has at least a twentieth
	tried := 0
	var check func(shares []int, left int)
	check = func(shares []int, left int) {
		for n := min(left, shares[len(shares)-1]); n > 0; n-- {
			check(append(slices.Clone(shares), n), left-n)
		}
		if left > 0 {
			return
		}
		wide, narrow := []float64{0}, []float64{0}
		for _, n := range shares {
			wide = append(wide, math.Log(float64(n)/parts))
			narrow = append(narrow, float64(float32(math.Log(float64(n)/parts))))
		}
		sum := 0
		for i, n := range shares {
			sum += n
			for _, logP := range [][]float64{wide, narrow} {
				request := decoding.Request{Limits: limits(1, 1), Next: func([]int, []vocab.ID) ([][]float64, error) { return [][]float64{logP}, nil }}
				found, err := decoding.Sampling{Temperature: 1, TopP: float64(sum) / parts}.Search(t.Context(), request, []*rand.Rand{last})
				if err != nil {
					t.Fatal(err)
				}
				if tried++; found[0].Tokens[0] != vocab.ID(i+1) {
					t.Fatalf("shares %v of %d, top-p %d of %d: the last token is %d, want %d", shares, parts, sum, parts, found[0].Tokens[0], i+1)
				}
			}
		}
	}
	for n := parts; n > 0; n-- {
		check([]int{n}, parts-n)
	}
	if tried < 1000 {
		t.Errorf("%d cases", tried)
	}
}
