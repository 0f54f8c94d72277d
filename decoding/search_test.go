package decoding_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"universal-transformer/decoding"
	"universal-transformer/internal/vocab"
)

// A chain is a language in which the next token depends on the last one only: unnormalized
// log-probabilities [source][last token][token].
type chain [][][]float64

// randomChain has padding, end and 3 tokens; sharpness says how much the most probable token stands out.
func randomChain(rng *rand.Rand, sources int, sharpness float64) chain {
	c := make(chain, sources)
	for s := range c {
		for range 5 {
			row := make([]float64, 5)
			for i := range row {
				row[i] = sharpness * rng.NormFloat64()
			}
			c[s] = append(c[s], row)
		}
	}
	return c
}

// request asks for sequences of the chain. The first token follows padding.
func (c chain) request(limit int) decoding.Request {
	var sources []int
	next := func(parents []int, tokens []vocab.ID) (logP [][]float64, err error) {
		now, chosen := []int{}, []vocab.ID{}
		for r, parent := range parents {
			if tokens == nil {
				now, chosen = append(now, parent), append(chosen, vocab.Padding)
			} else {
				now, chosen = append(now, sources[parent]), append(chosen, tokens[r])
			}
			logP = append(logP, normalized(c[now[r]][chosen[r]]))
		}
		sources = now
		return logP, nil
	}
	limits := make([]int, len(c))
	for i := range limits {
		limits[i] = limit
	}
	return decoding.Request{Limits: limits, Next: next}
}

func (c chain) row(source int, prefix []vocab.ID) []float64 {
	if len(prefix) == 0 {
		return c[source][vocab.Padding]
	}
	return c[source][prefix[len(prefix)-1]]
}

// logP is log p(token | prefix).
func (c chain) logP(source int, prefix []vocab.ID, token vocab.ID) float64 {
	return normalized(c.row(source, prefix))[token]
}

// normalized is the logarithm of the softmax of a row.
func normalized(row []float64) []float64 {
	sum := 0.0
	for _, l := range row {
		sum += math.Exp(l)
	}
	logP := make([]float64, len(row))
	for i, l := range row {
		logP[i] = l - math.Log(sum)
	}
	return logP
}

// penalty is the length penalty of Wu et al. (2016).
func penalty(length int, alpha float64) float64 {
	return math.Pow(5+float64(length), alpha) / math.Pow(6, alpha)
}

// all lists every sequence that ends within limit tokens, best first.
func (c chain) all(source, limit int, alpha float64) (found []decoding.Hypothesis) {
	var extend func(prefix []vocab.ID, logProb float64)
	extend = func(prefix []vocab.ID, logProb float64) {
		for token := vocab.End; token < 5; token++ {
			tokens, p := append(slices.Clone(prefix), token), logProb+c.logP(source, prefix, token)
			if token == vocab.End {
				found = append(found, decoding.Hypothesis{Tokens: tokens, LogProb: p, Score: p / penalty(len(tokens), alpha), Finished: true})
			} else if len(tokens) < limit {
				extend(tokens, p)
			}
		}
	}
	extend(nil, 0)
	slices.SortFunc(found, func(a, b decoding.Hypothesis) int { return -cmpFloat(a.Score, b.Score) })
	return found
}

func cmpFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func sameHypothesis(a, b decoding.Hypothesis) bool {
	return slices.Equal(a.Tokens, b.Tokens) && a.Finished == b.Finished && math.Abs(a.LogProb-b.LogProb) < 1e-9 && math.Abs(a.Score-b.Score) < 1e-9
}

// A beam that holds everything finds the best of all sequences. Several sources are searched at once.
// Caught when planted: a penalty without the 5, or of the length without its end; finished sequences ranked by log p; sources mixed up.
func TestWideBeamIsExhaustiveSearch(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for round := range 40 {
		c := randomChain(rng, 3, 1)
		for _, alpha := range []float64{0, 0.6, 2} {
			found, err := decoding.Beam{Width: 60, Alpha: alpha}.Search(t.Context(), c.request(4))
			if err != nil {
				t.Fatal(err)
			}
			for source := range c {
				if want := c.all(source, 4, alpha)[0]; !sameHypothesis(found[source][0], want) {
					t.Errorf("chain %d, source %d, alpha %v: found %+v, the best is %+v", round, source, alpha, found[source][0], want)
				}
			}
		}
	}
}

// A wide beam finds the n best of all sequences, also if it stops early. Caught when planted: a search that stops at the best one.
func TestNBestIsExhaustiveSearch(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	calls := 0
	for round := range 20 {
		c := randomChain(rng, 2, 2.5)
		for _, alpha := range []float64{0, 0.6, 2} {
			request := c.request(5)
			next := request.Next
			request.Next = func(parents []int, tokens []vocab.ID) ([][]float64, error) {
				calls++
				return next(parents, tokens)
			}
			found, err := decoding.Beam{Width: 200, Alpha: alpha, Best: 4}.Search(t.Context(), request)
			if err != nil {
				t.Fatal(err)
			}
			for source := range c {
				for rank, want := range c.all(source, 5, alpha)[:4] {
					if got := found[source][rank]; math.Abs(got.Score-want.Score) > 1e-9 || got.Finished != want.Finished {
						t.Errorf("chain %d, source %d, alpha %v, rank %d: found %+v, want %+v", round, source, alpha, rank+1, got, want)
					}
				}
			}
		}
	}
	if calls == 60*5 {
		t.Error("no search stopped early, so nothing was seen")
	}
}

// A narrow beam is what the description says, also where the search stops early: the same search in plain words, run to the limit, finds
// no other best hypothesis. Caught when planted: a bound with the penalty of the present length; Width candidates in place of twice as many.
func TestStoppingEarlyChangesNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	const limit = 8
	calls := 0
	for round := range 100 {
		c := randomChain(rng, 1, 1+rng.Float64())
		for _, b := range []decoding.Beam{{Width: 2}, {Width: 2, Alpha: 0.6}, {Width: 2, Alpha: 4}, {Width: 3, Alpha: 1}} {
			request := c.request(limit)
			next := request.Next
			request.Next = func(parents []int, tokens []vocab.ID) ([][]float64, error) {
				calls++
				return next(parents, tokens)
			}
			found, err := b.Search(t.Context(), request)
			if err != nil {
				t.Fatal(err)
			}
			want := c.patient(b, limit) // of two equally good ones, rounding decides
			if got := found[0][0]; math.Abs(got.Score-want.Score) > 1e-9 || got.Finished != want.Finished {
				t.Errorf("chain %d, %+v: found %+v, patience finds %+v", round, b, found[0][0], want)
			}
			if !slices.IsSortedFunc(found[0], func(x, y decoding.Hypothesis) int { return cmpFloat(y.Score, x.Score) }) || len(found[0]) > b.Width {
				t.Errorf("chain %d, %+v: hypotheses %+v", round, b, found[0])
			}
		}
	}
	if calls == 400*limit {
		t.Error("no search stopped early, so nothing was seen")
	}
}

// patient is beam search without an early stop.
func (c chain) patient(b decoding.Beam, limit int) decoding.Hypothesis {
	running, finished := []decoding.Hypothesis{{}}, []decoding.Hypothesis{}
	byScore := func(x, y decoding.Hypothesis) int { return cmpFloat(y.Score, x.Score) }
	for range limit {
		var candidates []decoding.Hypothesis
		for _, h := range running {
			for token := vocab.End; token < 5; token++ {
				p := h.LogProb + c.logP(0, h.Tokens, token)
				candidates = append(candidates, decoding.Hypothesis{
					Tokens: append(slices.Clone(h.Tokens), token), LogProb: p,
					Score: p / penalty(len(h.Tokens)+1, b.Alpha), Finished: token == vocab.End,
				})
			}
		}
		slices.SortStableFunc(candidates, func(x, y decoding.Hypothesis) int { return cmpFloat(y.LogProb, x.LogProb) })
		running = nil
		for _, h := range candidates[:min(2*b.Width, len(candidates))] {
			if h.Finished {
				finished = append(finished, h)
			} else if len(running) < b.Width {
				running = append(running, h)
			}
		}
		slices.SortStableFunc(finished, byScore)
	}
	if len(finished) > 0 {
		return finished[0]
	}
	slices.SortStableFunc(running, byScore)
	return running[0]
}

// Greedy decoding follows the most probable token, never padding, to the end or the limit.
// Caught when planted: padding allowed; probabilities that do not sum to 1.
func TestGreedyFollowsTheMostProbable(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	unfinished := 0
	for round := range 50 {
		c := randomChain(rng, 4, 2)
		found, err := decoding.Method{}.Search(t.Context(), c.request(6))
		if err != nil {
			t.Fatal(err)
		}
		for source, got := range found {
			want := decoding.Hypothesis{}
			for len(want.Tokens) < 6 && !want.Finished {
				best := vocab.End
				for token := vocab.End; token < 5; token++ {
					if c.logP(source, want.Tokens, token) > c.logP(source, want.Tokens, best) {
						best = token
					}
				}
				want.LogProb += c.logP(source, want.Tokens, best)
				want.Tokens, want.Finished = append(want.Tokens, best), best == vocab.End
			}
			if want.Score = want.LogProb; !sameHypothesis(got, want) {
				t.Errorf("chain %d, source %d: %+v, want %+v", round, source, got, want)
			}
			if !got.Finished {
				unfinished++
			}
		}
	}
	if unfinished == 0 || unfinished == 200 {
		t.Errorf("%d of 200 unfinished: the case shows nothing", unfinished)
	}
}

// Of two equally probable tokens the smaller id is taken.
func TestGreedyTies(t *testing.T) {
	tie := func(_ []int, tokens []vocab.ID) ([][]float64, error) {
		return [][]float64{[][]float64{{9, 0, 3, 3, 3}, {9, 3, 1, 3, 0}}[len(tokens)]}, nil
	}
	found, err := decoding.Method{}.Search(t.Context(), decoding.Request{Next: tie, Limits: []int{5}})
	if err != nil || !slices.Equal(found[0].Tokens, []vocab.ID{2, 1}) {
		t.Errorf("%+v, %v", found, err)
	}
}

// A beam of width 1 is greedy decoding, with any penalty and limit: the most probable token each time, worked out in a plain loop, until that
// is the end. Its score is that of the sequence. Tokens are passed on as they are found.
// Caught when planted: a beam of 1 that remembers where it could have ended; a score without the penalty.
func TestBeamOfOneIsGreedy(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	early, unfinished := 0, 0 // answers that end although another token is nearly as probable, and that do not end
	for round := range 100 {
		c := randomChain(rng, 2, 0.5+rng.Float64())
		limit, alpha := 1+round%9, []float64{0, 0.6, 2}[round%3]
		request := c.request(limit)
		streamed := make([][]vocab.ID, len(c))
		request.OnToken = func(source int, token vocab.ID) { streamed[source] = append(streamed[source], token) }
		found, err := decoding.Beam{Width: 1, Alpha: alpha}.Search(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		for source := range c {
			want := decoding.Hypothesis{}
			for len(want.Tokens) < limit && !want.Finished {
				best := slices.MaxFunc([]vocab.ID{vocab.End, 2, 3, 4}, func(a, b vocab.ID) int {
					return cmpFloat(c.logP(source, want.Tokens, a), c.logP(source, want.Tokens, b))
				})
				want.LogProb += c.logP(source, want.Tokens, best)
				want.Tokens, want.Finished = append(want.Tokens, best), best == vocab.End
			}
			want.Score = want.LogProb / penalty(len(want.Tokens), alpha)
			if len(found[source]) != 1 || !sameHypothesis(found[source][0], want) || !slices.Equal(streamed[source], want.Tokens) {
				t.Errorf("chain %d, limit %d, alpha %v: a beam of 1 finds %+v and streams %v, greedy decoding %+v", round, limit, alpha, found[source], streamed[source], want)
			}
			if !want.Finished {
				unfinished++
			} else if len(want.Tokens) > 1 {
				early++
			}
		}
	}
	if early < 20 || unfinished < 20 {
		t.Errorf("%d answers end later than at once, %d do not end: the case shows nothing", early, unfinished)
	}
}

// Log-probabilities that are not numbers, an error of the model and parameters out of range are errors.
func TestSearchErrors(t *testing.T) {
	broken := func([]int, []vocab.ID) ([][]float64, error) { return [][]float64{{0, 0, math.NaN()}}, nil }
	failing := func([]int, []vocab.ID) ([][]float64, error) { return nil, fmt.Errorf("no power") }
	request := func(next decoding.Next) decoding.Request { return decoding.Request{Next: next, Limits: []int{3}} }
	search := func(b decoding.Beam, next decoding.Next) error {
		_, err := b.Search(t.Context(), request(next))
		return err
	}
	greedy := func(next decoding.Next) error {
		_, err := decoding.Method{}.Search(t.Context(), request(next))
		return err
	}
	for want, err := range map[string]error{
		"a log-probability is not a number": search(decoding.Beam{Width: 1}, broken),
		"not a number; the model's weights": greedy(broken),
		"no power":                          search(decoding.Beam{Width: 1}, failing),
		"power":                             greedy(failing),
		"beam width is 0: it must be from 1 to 1000": search(decoding.Beam{}, broken),
		"n-best is 3: a beam of width 2 has":         search(decoding.Beam{Width: 2, Best: 3}, broken),
		"n-best is -1":                               search(decoding.Beam{Width: 2, Best: -1}, broken),
		"alpha is -1: it must be at least 0":         search(decoding.Beam{Width: 1, Alpha: -1}, broken),
		"alpha is NaN: it must be at least 0":        search(decoding.Beam{Width: 1, Alpha: math.NaN()}, broken),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
