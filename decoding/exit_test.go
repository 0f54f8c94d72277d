package decoding_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"universal-transformer/decoding"
	"universal-transformer/engine/enginetest"
	"universal-transformer/halting"
	"universal-transformer/internal/vocab"
	"universal-transformer/universal"
)

// Under exit rules, and with other steps for the encoder and the decoder, a cache and no cache give the same log-probabilities at every
// position: what later positions attend to at a position that has ended is the same. The rules do end positions.
// Caught when planted: keys and values of an ended position that are those of its revised state; a cache of the encoder's steps; the
// rule applied to the last position of a prompt alone.
func TestCacheAgreesWithoutItUnderExits(t *testing.T) {
	exits := []halting.Exit{
		{Rule: halting.Confidence{Least: 0.5}}, {Rule: halting.Unchanged{Steps: 1}}, {Rule: halting.Divergence{Below: 1}},
		{EncoderSteps: 1, DecoderSteps: 2, Rule: halting.Unchanged{Steps: 1}}, {EncoderSteps: 3, DecoderSteps: 1}, {EncoderSteps: 2}, {DecoderSteps: 3},
	}
	sources := [][]vocab.ID{{3, 5, 2}, {4, 2, 5, 5, 4, 3, 2, 2, 4}}
	configs := pairedModels(dtypes.Float64)
	ruled, changed := 0, 0
	for i, name := range slices.Sorted(maps.Keys(configs)) {
		for k, exit := range []halting.Exit{exits[i%3], exits[3+i%4]} {
			language := k == 0 && i%2 == 0 && !strings.HasPrefix(name, "halting.Length")
			t.Run(fmt.Sprintf("%s, %s, language %v", name, exit, language), func(t *testing.T) {
				got, without := logPs(t, configs[name], exit, language, sources)
				if exit.Rule != nil {
					ruled++
				}
				if exit.Rule != nil && !slices.Equal(got, without) {
					changed++
				}
			})
		}
	}
	if 4*changed < 3*ruled {
		t.Errorf("the rules change the answers of %d of %d models: the test shows little", changed, ruled)
	}
}

// logPs returns the log-probabilities of 20 positions with an exit, after comparing those with a cache and without, and those as trained.
func logPs(t *testing.T, config universal.Config, exit halting.Exit, language bool, sources [][]vocab.ID) (with, without []float64) {
	var m interface {
		decoding.Model
		universal.Deep
	} = universal.EncoderDecoder{Config: config}
	if language {
		m = universal.Decoder{Config: config}
	}
	exited, err := m.WithExit(exit)
	if err != nil {
		t.Fatal(err)
	}
	store := randomWeights(t, m)
	asTrained, err := decoding.New(enginetest.Backend(t), store, m)
	if err != nil {
		t.Fatal(err)
	}
	defer asTrained.Close()
	d, err := decoding.New(enginetest.Backend(t), store, exited.(decoding.Model))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	cached, uncached := start(t, d, sources)
	trained, _ := start(t, asTrained, sources)
	parents := []int{0, 1}
	var tokens []vocab.ID
	for n := range 20 {
		var now [3][][]float64
		for i, batch := range []interface {
			Next([]int, []vocab.ID) ([][]float64, error)
		}{cached, uncached, trained} {
			if now[i], err = batch.Next(parents, tokens); err != nil {
				t.Fatal(err)
			}
		}
		for r := range parents {
			compare(t, fmt.Sprintf("row %d, position %d", r, n), now[0][r], now[1][r], 1e-9)
		}
		with, without = append(with, slices.Concat(now[0]...)...), append(without, slices.Concat(now[2]...)...)
		tokens = []vocab.ID{vocab.ID(2 + n*n%4), vocab.ID(2 + (n/3)%4)}
	}
	return with, without
}
