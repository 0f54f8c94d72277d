package decoding_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"universal-transformer/baseline/lstm"
	"universal-transformer/baseline/neuralgpu"
	"universal-transformer/decoding"
	"universal-transformer/engine/enginetest"
	"universal-transformer/internal/vocab"
)

// Recurrent networks, and a Neural GPU, whose state is all of its answer, decoded token by token, from a state, give the logits of running
// over source and prefix again: rows in another order, twice, and given up on the way, prompts of unequal lengths, and beam searches.
// Caught when planted: a decoder that always starts from the source, or never; cells and states mixed up; the source of another row.
func TestRecurrentStateAgreesWithoutIt(t *testing.T) {
	sources := [][]vocab.ID{{3, 5, 2}, {4, 2, 5, 5, 4, 3, 2, 2, 4}, {5, 4}}
	config := lstm.Config{SourceVocabulary: 7, TargetVocabulary: 6, Width: 5, Layers: 2, Seed: 1, Precision: dtypes.Float64}
	for _, m := range []decoding.Model{
		lstm.EncoderDecoder{Config: config}, lstm.EncoderDecoder{Config: config, Attention: true}, lstm.Decoder{Config: config},
		neuralgpu.Model{SourceVocabulary: 7, TargetVocabulary: 6, Width: 6, Seed: 1, Precision: dtypes.Float64},
	} {
		name := fmt.Sprintf("%+v", m)
		d, err := decoding.New(enginetest.Backend(t), randomWeights(t, m), m)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		cached, uncached := start(t, d, sources)
		parents := []int{2, 0, 1}
		var tokens []vocab.ID
		for n := range 70 { // longer than the first capacity
			got, err := cached.Next(parents, tokens)
			if err != nil {
				t.Fatal(err)
			}
			want, err := uncached.Next(parents, tokens)
			if err != nil {
				t.Fatal(err)
			}
			for r := range got {
				compare(t, fmt.Sprintf("%s: row %d, position %d", name, r, n), got[r], want[r], 1e-9)
			}
			parents = []int{0, 1, 2, 3}[:len(got)]
			switch n {
			case 3: // another order
				parents = []int{1, 2, 0}
			case 5: // two rows of a source
				parents = []int{0, 0, 2, 1}
			case 9: // one is given up
				parents = []int{1, 2, 3}
			}
			tokens = nil
			for r := range parents {
				tokens = append(tokens, vocab.ID(2+(n*n+r)%4))
			}
		}
		beam := decoding.Method{Beam: decoding.Beam{Width: 3, Alpha: 0.6}}
		found, err := d.Decode(t.Context(), sources, limits(3, 14), beam, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, again := start(t, d, sources)
		want, err := beam.Search(t.Context(), decoding.Request{Limits: limits(3, 14), Next: again.Next, Rest: again.Rest()})
		if err != nil {
			t.Fatal(err)
		}
		for i := range found {
			if fmt.Sprint(found[i].Tokens) != fmt.Sprint(want[i].Tokens) {
				t.Errorf("%s: source %d is decoded to %v, without a state to %v", name, i, found[i].Tokens, want[i].Tokens)
			}
		}
		stepsOfNone(t, d, name)
	}
}

// stepsOfNone checks that models without steps report 0 for each token, with more rows than tokens in the vocabulary, and answer the same.
func stepsOfNone(t *testing.T, d *decoding.Decoder, name string) {
	t.Helper()
	queries := slices.Repeat([]decoding.Query{{Source: []vocab.ID{3, 5, 2}, Limit: 4}}, 9)
	plain, err := d.Answer(t.Context(), queries, decoding.Method{}, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	tokens := 0
	queries[8].OnSteps = func(token, steps int) {
		if token != tokens || steps != 0 {
			t.Errorf("%s: token %d of %d runs %d steps", name, token, tokens, steps)
		}
		tokens++
	}
	counted, err := d.Answer(t.Context(), queries, decoding.Method{}, 0, nil)
	if err != nil || !slices.EqualFunc(plain, counted, sameHypothesis) || tokens != len(counted[8].Tokens) {
		t.Errorf("%s: %+v with steps of %d tokens, %+v without; %v", name, counted, tokens, plain, err)
	}
}
