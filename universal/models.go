package universal

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/halting"
)

// EncoderDecoder maps a source to a target token by token: figure 2 of the paper.
type EncoderDecoder struct{ Config }

// Memory is an encoded source: all that a decoder needs of it.
type Memory struct {
	State *Node // [B, M, D]
	Mask  *Node // [B, M] bool, true at real positions
}

// Forward gives the logits of every target token from the source and the true tokens before it: teacher forcing.
func (m EncoderDecoder) Forward(scope *model.Scope, in Inputs, watch Options) Result {
	memory, encoder := m.Encode(scope, in, watch)
	result := m.Decode(scope, memory, in, watch)
	result.Encoder = encoder
	return result
}

// Encode runs the encoder over in.Source.
func (m EncoderDecoder) Encode(scope *model.Scope, in Inputs, watch Options) (Memory, *Pass) {
	pass := m.encode(scope, in, watch)
	return Memory{State: pass.State, Mask: pass.Mask}, pass
}

// Decode runs the decoder over in.Target, shifted right by one, against an encoded source. Logits at position i depend on
// tokens before i only.
func (m EncoderDecoder) Decode(scope *model.Scope, memory Memory, in Inputs, watch Options) Result {
	s := m.newStack(scope.At("decoder"), in.Target, in.TargetPositions, in.TargetCapacities, watch)
	s.causal, s.memory, s.source = true, &memory, memory.Mask
	s.state = shift(s.masks.drop(m.embed(scope, m.targetTable(scope), in.Target), m.Dropout.Embedding))
	pass := s.run()
	return Result{Logits: m.readout(scope, pass.State), Decoder: pass}
}

// Validate checks the fields that this model reads.
func (m EncoderDecoder) Validate() error { return m.validateWithSource() }

// Encoder classifies a sequence: an encoder whose output is made one vector and read out once.
type Encoder struct {
	Config
	Pool Pool // how one vector is made; nil is Mean
}

// Forward gives one row of logits a source, [B, 1, V]. in.Target is not read.
func (m Encoder) Forward(scope *model.Scope, in Inputs, watch Options) Result {
	pass := m.encode(scope, in, watch)
	return Result{Logits: m.readout(scope, m.Pool.of(pass.State, pass.Mask)), Encoder: pass} // [B, 1, V]
}

// Validate checks the fields that this model reads.
func (m Encoder) Validate() error {
	if m.TiedReadout {
		return fmt.Errorf("tied_readout needs a target embedding, which an encoder has not")
	}
	return m.validateWithSource()
}

// Decoder is a language model: a causal stack with nothing to attend to but its own past.
type Decoder struct{ Config }

// Forward gives the logits of every token of in.Target from those before it. in.Source is not read.
func (m Decoder) Forward(scope *model.Scope, in Inputs, watch Options) Result {
	s := m.newStack(scope.At("decoder"), in.Target, in.TargetPositions, in.TargetCapacities, watch)
	s.causal, s.source = true, s.mask
	s.state = shift(s.masks.drop(m.embed(scope, m.targetTable(scope), in.Target), m.Dropout.Embedding))
	pass := s.run()
	return Result{Logits: m.readout(scope, pass.State), Decoder: pass}
}

// Validate checks the fields that this model reads. Depth tied to the length of the whole text would look ahead.
func (m Decoder) Validate() error {
	if _, tied := m.Halting.(halting.Length); tied {
		return fmt.Errorf("halting: a language model has no source whose length could set its depth; choose another policy")
	}
	return m.Config.Validate()
}

func (c Config) validateWithSource() error {
	if c.SourceVocabulary < 2 {
		return fmt.Errorf("source_vocabulary is %d: at least 2 are needed", c.SourceVocabulary)
	}
	return c.Validate()
}

// encode runs an encoder stack over in.Source.
func (c Config) encode(scope *model.Scope, in Inputs, watch Options) *Pass {
	s := c.newStack(scope.At("encoder"), c.occupied(in.Source), in.SourcePositions, in.SourceCapacities, watch)
	s.source = s.mask
	s.state = s.masks.drop(c.embedSource(scope, in.Source), c.Dropout.Embedding)
	return s.run()
}

// Model is one of [EncoderDecoder], [Encoder] and [Decoder].
type Model interface {
	// Forward gives logits for in.Target; see the models for what they read.
	Forward(scope *model.Scope, in Inputs, watch Options) Result
	// Adaptive tells whether positions choose their own depth.
	Adaptive() bool
	// SelectsPositions tells whether positions that have halted can be left out, see halting.Capacities.
	SelectsPositions() bool
	// WithExit is the same model, weights included, that stops as e says.
	WithExit(e halting.Exit) (Model, error)
	// Validate names the first field that makes no sense, its value, and what would.
	Validate() error
}
