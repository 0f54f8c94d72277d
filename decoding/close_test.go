package decoding_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"universal-transformer/decoding"
	"universal-transformer/halting"
	"universal-transformer/internal/vocab"
)

// A closed batch has no tensors. Errors name the source as people count, and the row.
// Caught when planted: tensors kept after Close; a row before the first accepted.
func TestCloseAndErrors(t *testing.T) {
	d := decoder(t, models(dtypes.Float32)["halting.Fixed, universal.FeedForward, pre-norm false"], false)
	defer d.Close()
	batch, err := d.Start([][]vocab.ID{{2, 3}, {4}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := batch.Next([]int{0, 1}, nil); err != nil || batch.Bytes() == 0 {
		t.Fatalf("%d bytes, %v", batch.Bytes(), err)
	}
	if _, err := batch.Next([]int{0, -1}, []vocab.ID{2, 2}); err == nil || !strings.Contains(err.Error(), "row 1 continues row -1 of 2") {
		t.Errorf("a row before the first: %v", err)
	}
	if batch.Close(); batch.Bytes() != 0 {
		t.Errorf("a closed batch has %d bytes", batch.Bytes())
	}
	if _, err := d.Start([][]vocab.ID{{6}}); err != nil {
		t.Errorf("the last id of the vocabulary: %v", err)
	}
}

// A batch that is started again begins anew. Caught when planted: a cache that goes on with the length of before.
func TestStartAgain(t *testing.T) {
	d := decoder(t, models(dtypes.Float64)["halting.Fixed, universal.FeedForward, pre-norm false"], false)
	defer d.Close()
	batch, err := d.Start([][]vocab.ID{{2, 3}, {4}})
	if err != nil {
		t.Fatal(err)
	}
	defer batch.Close()
	var first []float64
	for range 2 {
		logP, err := batch.Next([]int{0, 1}, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := slices.Concat(logP...)
		if logP, err = batch.Next([]int{0, 1}, []vocab.ID{2, 3}); err != nil {
			t.Fatal(err)
		}
		if got = append(got, slices.Concat(logP...)...); first != nil {
			compare(t, "started again", got, first, 1e-12)
		}
		first = got
	}
}

// Queries that fit into the default memory are decoded together: each token is one turn. Without memory for two, each has its own turns.
// Caught when planted: no memory by default; turns that are not announced.
func TestTurnsOfQueries(t *testing.T) {
	d := decoder(t, models(dtypes.Float32)["halting.Fixed, universal.FeedForward, pre-norm false"], false)
	defer d.Close()
	queries := []decoding.Query{{Source: []vocab.ID{2, 3}, Limit: 1}, {Source: []vocab.ID{4}, Limit: 1}, {Source: []vocab.ID{5}, Limit: 1}}
	for memory, want := range map[int64]int{0: 1, 1: 3, 1 << 30: 1} {
		turns := 0
		if found, err := d.Answer(t.Context(), queries, decoding.Method{}, memory, func() { turns++ }); err != nil || len(found) != 3 || turns != want {
			t.Errorf("%d bytes: %d answers in %d turns, want %d, %v", memory, len(found), turns, want, err)
		}
	}
}

// Memory for exactly two answers lets two be decoded at a time, and half of it for beams of two. Who counts steps gets the same answers.
// Caught when planted: memory for two rows of each source where one is needed; steps of a row that is not there.
func TestMemoryOfTwoAnswers(t *testing.T) {
	d := decoder(t, models(dtypes.Float32)["halting.Fixed, universal.FeedForward, pre-norm false"], false)
	defer d.Close()
	queries := slices.Repeat([]decoding.Query{{Source: []vocab.ID{2, 3}, Limit: 3}}, 4)
	for width := range 3 {
		m := decoding.Method{Beam: decoding.Beam{Width: width}}
		var plain []decoding.Hypothesis
		for _, count := range []bool{false, true} {
			first := 0
			list := slices.Clone(queries)
			if count {
				list[1].OnSteps = func(token, steps int) {
					if width > 1 || steps != 4 {
						t.Errorf("token %d of a beam of %d runs %d steps", token, width, steps)
					}
				}
			}
			memory := int64(d.Memory(2, max(1, width), 2, 3))
			found, err := d.Answer(t.Context(), list, m, memory, func() { first++ })
			if err != nil || len(found) != 4 {
				t.Fatal(found, err)
			}
			if want := 2 * len(found[0].Tokens); first != want && width < 2 {
				t.Errorf("a beam of %d takes %d turns, want %d", width, first, want)
			}
			if narrow, err := d.Answer(t.Context(), list, m, memory-1, nil); err != nil || !slices.EqualFunc(narrow, found, sameHypothesis) {
				t.Errorf("one at a time: %+v, two: %+v, %v", narrow, found, err)
			}
			if plain == nil {
				plain = found
			} else if !slices.EqualFunc(plain, found, sameHypothesis) {
				t.Errorf("a beam of %d finds %+v when steps are counted, else %+v", width, found, plain)
			}
		}
	}
}

// Sources that are too long for the model are named as people count.
func TestTooLongSource(t *testing.T) {
	config := models(dtypes.Float32)["halting.Length, universal.FeedForward, pre-norm false"]
	config.Halting = halting.Length{}
	d := decoder(t, config, false)
	defer d.Close()
	long := repeated(halting.MaxSteps+1, 1)
	if _, err := d.Start([][]vocab.ID{{2}, {3}, long}); err == nil || !strings.HasPrefix(err.Error(), "source 3 has 1001 tokens, and the model runs") {
		t.Errorf("a source that is too long: %v", err)
	}
}

// A context that ends while the model computes ends the search before another token is given.
func TestContextEndsDuringAToken(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	given := 0
	_, err := decoding.Method{}.Search(ctx, decoding.Request{Limits: []int{3}, OnToken: func(int, vocab.ID) { given++ }, Next: func([]int, []vocab.ID) ([][]float64, error) {
		cancel()
		return [][]float64{{0, -1, 0}}, nil
	}})
	if !errors.Is(err, context.Canceled) || given != 0 {
		t.Errorf("%d tokens, %v", given, err)
	}
}

// Answers that the limit cuts off have the scores of their lengths. End is the least probable of five tokens, of which a beam of two
// looks at four. Caught when planted: scores of unfinished answers left at 0.
func TestBeamCutOff(t *testing.T) {
	p := []float64{0, 0.01, 0.4, 0.3, 0.2, 0.09}
	logP := make([]float64, len(p))
	for i := range p {
		logP[i] = math.Log(p[i])
	}
	next := func(parents []int, _ []vocab.ID) ([][]float64, error) {
		return slices.Repeat([][]float64{logP}, len(parents)), nil
	}
	found, err := decoding.Beam{Width: 2, Alpha: 1}.Search(t.Context(), decoding.Request{Limits: []int{2}, Next: next})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{0.4 * 0.4, 0.4 * 0.3} {
		h := found[0][i]
		if h.Finished || len(h.Tokens) != 2 || math.Abs(h.LogProb-math.Log(want)) > 1e-12 || math.Abs(h.Score-math.Log(want)/(7./6)) > 1e-12 {
			t.Errorf("%+v, want ln %v", h, want)
		}
	}
}

// A closed decoder has freed every graph: none of them can be called.
func TestClosedDecoder(t *testing.T) {
	d := decoder(t, models(dtypes.Float32)["halting.Fixed, universal.FeedForward, pre-norm false"], false)
	batch, err := d.Start([][]vocab.ID{{2, 3}, {4}})
	if err != nil {
		t.Fatal(err)
	}
	defer batch.Close()
	if _, err := batch.Next([]int{0, 1}, nil); err != nil {
		t.Fatal(err)
	}
	d.Close()
	for name, err := range d.CallAll() {
		if err == nil || !strings.Contains(err.Error(), "finalized") {
			t.Errorf("%s was called after Close: %v", name, err)
		}
	}
}
