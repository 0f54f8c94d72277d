// Package lstm contains the recurrent networks that the paper compares the Universal Transformer with: LSTMs (Hochreiter and
// Schmidhuber, 1997) with forget gates (Gers, Schmidhuber and Cummins, 2000), as a sequence-to-sequence model (Sutskever, Vinyals and
// Le, 2014) with and without attention, as a classifier, and as a language model. The paper describes its baselines only as "LSTM".
//
// An LSTM reads a sequence from left to right. A layer has a state h and a cell c of D channels each, which are initially zero. From
// the input x of a position it computes
//
//	i, f, g, o = x W + h U + b         four vectors of D channels
//	c' = sigmoid(f) c + sigmoid(i) tanh(g)
//	h' = sigmoid(o) tanh(c')
//
// h' is the input of the next layer at the same position, and the output of the last layer.
//
// The decoder of [EncoderDecoder] starts from the states and cells of the encoder after the last real position, layer by layer. With
// attention (Luong, Pham and Manning, 2015: global, by dot product, on the last layer, without input feeding) its state h_n attends
// to the encoder's states s_m,
//
//	a_nm = softmax over m of h_n s_m,  h~_n = tanh([sum of a_nm s_m; h_n] W_a)
//
// and h~_n is read out instead of h_n. Dropout is that of Zaremba, Sutskever and Vinyals (2014): it applies to the inputs of layers
// and of the readout, not to the states passed between positions.
//
// Padding changes nothing: it is on the right, after all real positions, and the end of a sequence is its last real position.
//
// The graph contains every position, so a new graph is made for each M. Letters: B batch, M source positions, N target positions, D
// width, V vocabulary, R rows that are decoded together.
package lstm

import (
	"fmt"

	"github.com/gomlx/compute/dtypes"
	"universal-transformer/universal"
)

// Config holds the fields that all models have in common.
type Config struct {
	SourceVocabulary  int `json:"-"` // V of the source; not read by a Decoder
	TargetVocabulary  int `json:"-"` // V of the target, or the number of classes of an Encoder
	TokensPerPosition int `json:"-"` // tokens at each position of the source, whose embeddings are summed; 0 means 1

	Width           int     `json:"width"`            // D, the size of embeddings, states and cells
	Layers          int     `json:"layers"`           // number of layers on each side
	ScaleEmbedding  bool    `json:"scale_embedding"`  // multiply embeddings by sqrt(D), so that their channels have standard deviation 1
	SharedEmbedding bool    `json:"shared_embedding"` // one table for source and target
	TiedReadout     bool    `json:"tied_readout"`     // the readout uses the transposed target embedding instead of its own matrix
	Dropout         float64 `json:"dropout"`          // rate, from 0 to below 1; 0: none

	Seed      uint64       `json:"-"` // of the initial weights
	Precision dtypes.DType `json:"-"` // 0 means Float32; Float64 is for tests
}

const (
	maxChannels = 1 << 17 // far above any practical width
	maxLayers   = 100
)

// Validate returns an error that names the first invalid field by its JSON name, its value, and valid values.
func (c Config) Validate() error {
	switch {
	case c.TargetVocabulary < 2:
		return fmt.Errorf("target_vocabulary is %d: at least 2 are needed", c.TargetVocabulary)
	case c.TokensPerPosition < 0:
		return fmt.Errorf("tokens_per_position is %d: it must be positive, or 0 for one token a position", c.TokensPerPosition)
	case c.TokensPerPosition > 1 && c.SharedEmbedding:
		return fmt.Errorf("shared_embedding needs one token a position, but tokens_per_position is %d", c.TokensPerPosition)
	case c.Width < 1 || c.Width > maxChannels:
		return fmt.Errorf("width is %d: it must be from 1 to %d", c.Width, maxChannels)
	case c.Layers < 1 || c.Layers > maxLayers:
		return fmt.Errorf("layers is %d: it must be from 1 to %d", c.Layers, maxLayers)
	case c.SharedEmbedding && c.SourceVocabulary != 0 && c.SourceVocabulary != c.TargetVocabulary:
		return fmt.Errorf("shared_embedding needs one vocabulary, but the source has %d tokens and the target %d", c.SourceVocabulary, c.TargetVocabulary)
	case !(c.Dropout >= 0 && float32(c.Dropout) < 1):
		return fmt.Errorf("dropout is %v: it must be at least 0 and, in float32, below 1", c.Dropout)
	}
	return nil
}

func (c Config) validateWithSource() error {
	if c.SourceVocabulary < 2 {
		return fmt.Errorf("source_vocabulary is %d: at least 2 are needed", c.SourceVocabulary)
	}
	return c.Validate()
}

func (c Config) weights() universal.Weights {
	return universal.Weights{Seed: c.Seed, Precision: c.Precision}
}

func (c Config) embedding() universal.Embedding {
	return universal.Embedding{
		SourceVocabulary: c.SourceVocabulary, TargetVocabulary: c.TargetVocabulary, TokensPerPosition: c.TokensPerPosition, Width: c.Width,
		Scale: c.ScaleEmbedding, Shared: c.SharedEmbedding, TiedReadout: c.TiedReadout,
		Weights: c.weights(),
	}
}

// precision returns the element type of the parameters.
func (c Config) precision() dtypes.DType {
	if c.Precision == dtypes.InvalidDType {
		return dtypes.Float32
	}
	return c.Precision
}

// Conventions describes what parameters and configuration leave open about the computation, for programs that read an export.
func Conventions() map[string]string {
	return map[string]string{
		"lstm_gates":          "input, forget, candidate, output, side by side: x input + h recurrent + bias",
		"decoder_start":       "state and cell of the encoder after the last real position, layer by layer",
		"attention":           "tanh([context; state] output), context by softmax of dot products, not divided",
		"embedding_scale":     "with scale_embedding, embeddings are multiplied by sqrt(width)",
		"decoder_first_input": "a zero vector; position i reads token i-1",
	}
}
