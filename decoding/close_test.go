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

// A context that ends while the model computes ends the search before another token is given.
func TestContextEndsDuringAToken(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	given := 0
	_, err := decoding.Greedy(ctx, decoding.Request{Limits: []int{3}, OnToken: func(int, vocab.ID) { given++ }, Next: func([]int, []vocab.ID) ([][]float64, error) {
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
