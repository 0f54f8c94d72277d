package decoding_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"universal-transformer/decoding"
	"universal-transformer/engine/enginetest"
	"universal-transformer/halting"
	"universal-transformer/internal/longtest"
	"universal-transformer/internal/vocab"
	"universal-transformer/universal"
)

// A model that runs a step for each token reads sources of up to [halting.MaxSteps] tokens, although they are padded to more, and runs as many
// steps as the source has tokens. Caught when planted: a check of the padded length; no check.
func TestLongSourcesWithAStepPerToken(t *testing.T) {
	m := universal.EncoderDecoder{Config: universal.Config{
		SourceVocabulary: 7, TargetVocabulary: 6, Width: 2, Heads: 1, Seed: 1, Precision: dtypes.Float64, Transition: universal.FeedForward{Filter: 2}, Halting: halting.Length{},
	}}
	store := randomWeights(t, m)
	d, err := decoding.New(enginetest.Backend(t), store, m)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	lengths := []int{halting.MaxSteps}
	if longtest.Enabled() {
		lengths = append(lengths, 897)
	}
	for _, length := range lengths {
		var ran []int
		query := decoding.Query{Source: slices.Repeat([]vocab.ID{2}, length), Limit: 1, OnSteps: func(_, n int) { ran = append(ran, n) }}
		if _, err := d.Answer(t.Context(), []decoding.Query{query}, decoding.Method{}, 0, nil); err != nil || !slices.Equal(ran, []int{length}) {
			t.Errorf("%d tokens: %v, steps %v", length, err, ran)
		}
	}
	_, err = d.Decode(t.Context(), [][]vocab.ID{slices.Repeat([]vocab.ID{2}, halting.MaxSteps+1)}, []int{1}, decoding.Method{}, nil)
	if err == nil || !strings.Contains(err.Error(), "source 1 has 1001 tokens, and the model runs one step per token: at most 1000 steps") {
		t.Errorf("%d tokens: %v", halting.MaxSteps+1, err)
	}
}
