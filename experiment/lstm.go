package experiment

import (
	"fmt"

	"universal-transformer/baseline/lstm"
	"universal-transformer/internal/quantity"
	"universal-transformer/task"
	"universal-transformer/universal"
)

// Recurrent holds the common fields of the LSTM baselines.
type Recurrent struct{ lstm.Config }

// LSTMEncoderDecoder maps sequences to sequences.
type LSTMEncoderDecoder struct {
	Recurrent
	Attention bool `json:"attention"` // the decoder attends to the source
}

// LSTMClassifier is an LSTM that predicts a class.
type LSTMClassifier struct {
	Recurrent
	Pool Pool `json:"pool"` // the state that predicts the class
}

// LSTMTagger is an LSTM that predicts a class at each position, from the positions up to it.
type LSTMTagger struct{ Recurrent }

// LSTMPointer is an LSTM that answers a question with a word of its context.
type LSTMPointer struct {
	Recurrent
	Evidence bool `json:"evidence,omitzero"` // as for [Pointer]
}

// LSTMLanguageModel is an LSTM without a source.
type LSTMLanguageModel struct{ Recurrent }

// smallLSTM holds the defaults of all LSTM kinds.
func smallLSTM() Recurrent {
	return Recurrent{lstm.Config{Width: 128, Layers: 1, ScaleEmbedding: true}}
}

// config returns the complete configuration of the model.
func (r Recurrent) config(v task.Vocabularies, seed uint64) lstm.Config {
	c := r.Config
	c.Seed, c.TargetVocabulary, c.TokensPerPosition = seed, v.Target.Size(), v.TokensPerPosition
	if v.Source != nil {
		c.SourceVocabulary = v.Source.Size()
	}
	return c
}

// Channels returns the width D.
func (r Recurrent) Channels() int { return r.Width }

// TrainingPositions returns none: an LSTM has no position signals.
func (Recurrent) TrainingPositions(task.Vocabularies) universal.Draws { return universal.Draws{} }

// ReadoutTied returns r.TiedReadout.
func (r Recurrent) ReadoutTied() bool { return r.TiedReadout }

// Conventions describes how the layers are computed.
func (Recurrent) Conventions() map[string]string { return lstm.Conventions() }

// Describe returns the model's name and size.
func (r Recurrent) Describe() string { return r.describe("LSTM") }

func (r Recurrent) describe(name string) string {
	return fmt.Sprintf("%s, %s, width %d", name, quantity.Regular(r.Layers, "layers"), r.Width)
}

// Describe returns the model's name and size, and whether it has attention.
func (m LSTMEncoderDecoder) Describe() string {
	if m.Attention {
		return m.describe("LSTM with attention")
	}
	return m.describe("LSTM without attention")
}

// Kind returns task.Transduction.
func (LSTMEncoderDecoder) Kind() task.Kind { return task.Transduction }

// Validate validates all fields.
func (m LSTMEncoderDecoder) Validate() error { return m.Build(smallest, 1).Validate() }

// Build returns the model.
func (m LSTMEncoderDecoder) Build(v task.Vocabularies, seed uint64) universal.Model {
	return lstm.EncoderDecoder{Config: m.config(v, seed), Attention: m.Attention}
}

// Kind returns task.Classification.
func (LSTMClassifier) Kind() task.Kind { return task.Classification }

// Validate validates all fields.
func (m LSTMClassifier) Validate() error {
	if err := m.Pool.validate(); err != nil {
		return err
	}
	return m.Build(smallest, 1).Validate()
}

// Build returns the model.
func (m LSTMClassifier) Build(v task.Vocabularies, seed uint64) universal.Model {
	return lstm.Encoder{Config: m.config(v, seed), Pool: pools[m.Pool]}
}

// Kind returns task.Tagging.
func (LSTMTagger) Kind() task.Kind { return task.Tagging }

// Validate validates all fields.
func (m LSTMTagger) Validate() error { return m.Build(smallest, 1).Validate() }

// Build returns the model.
func (m LSTMTagger) Build(v task.Vocabularies, seed uint64) universal.Model {
	return lstm.Encoder{Config: m.config(v, seed), Pool: universal.Each}
}

// Kind returns task.Classification; the classes are words.
func (LSTMPointer) Kind() task.Kind { return task.Classification }

// Validate validates all fields.
func (m LSTMPointer) Validate() error {
	return lstm.Pointer{Config: m.config(smallest, 1), Separator: anySeparator}.Validate()
}

// Build returns the model.
func (m LSTMPointer) Build(v task.Vocabularies, seed uint64) universal.Model {
	return lstm.Pointer{Config: m.config(v, seed), Separator: separator(v), Evidence: m.Evidence}
}

// Kind returns task.LanguageModeling.
func (LSTMLanguageModel) Kind() task.Kind { return task.LanguageModeling }

// Validate validates all fields.
func (m LSTMLanguageModel) Validate() error { return m.Build(smallest, 1).Validate() }

// Build returns the model.
func (m LSTMLanguageModel) Build(v task.Vocabularies, seed uint64) universal.Model {
	return lstm.Decoder{Config: m.config(v, seed)}
}
