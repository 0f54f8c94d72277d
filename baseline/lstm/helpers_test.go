package lstm_test

import (
	"testing"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"universal-transformer/baseline/lstm"
	"universal-transformer/internal/modeltest"
	"universal-transformer/universal"
)

func small() lstm.Config {
	return lstm.Config{SourceVocabulary: 7, TargetVocabulary: 5, Width: 3, Layers: 2, Seed: 5, Precision: dtypes.Float64}
}

// models is every model with its options.
func models() map[string]universal.Model {
	shared := small()
	shared.TargetVocabulary, shared.SharedEmbedding, shared.TiedReadout, shared.ScaleEmbedding, shared.Layers = 7, true, true, true, 1
	pairs := small()
	pairs.TokensPerPosition = 2
	return map[string]universal.Model{
		"encoder-decoder":                    lstm.EncoderDecoder{Config: small()},
		"encoder-decoder, attention":         lstm.EncoderDecoder{Config: small(), Attention: true},
		"encoder-decoder, one table for all": lstm.EncoderDecoder{Config: shared, Attention: true},
		"encoder, mean":                      lstm.Encoder{Config: small()},
		"encoder, last":                      lstm.Encoder{Config: small(), Pool: universal.Last},
		"encoder, each position":             lstm.Encoder{Config: small(), Pool: universal.Each},
		"encoder, two tokens a position":     lstm.Encoder{Config: pairs},
		"decoder":                            lstm.Decoder{Config: small()},
	}
}

func hasSource(m universal.Model) bool  { _, not := m.(lstm.Decoder); return !not }
func classifies(m universal.Model) bool { _, ok := m.(lstm.Encoder); return ok }

// inputs are those of a model in a graph.
func inputs(m universal.Model, nodes []*Node) universal.Inputs {
	in := universal.Inputs{Target: nodes[1]}
	if hasSource(m) {
		in.Source = nodes[0]
	}
	return in
}

func newMachine(t *testing.T, m universal.Model, training bool) *modeltest.Machine {
	t.Helper()
	return modeltest.New(t, m, training, func(source, target *Node) universal.Inputs { return inputs(m, []*Node{source, target}) })
}
