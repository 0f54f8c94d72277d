package universal

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/halting"
)

// EncoderDecoder maps a source to a target, token by token: figure 2 of the paper.
type EncoderDecoder struct{ Config }

// A Memory is an encoded source, which a decoder attends to.
type Memory struct {
	State *Node // [B, M, D]
	Mask  *Node // [B, M] bool, true at real positions
}

// Forward returns the logits of every target token given the source and the true tokens before it (teacher forcing).
func (m EncoderDecoder) Forward(scope *model.Scope, in Inputs, options Options) Result {
	memory, encoder := m.Encode(scope, in, options)
	result := m.Decode(scope, memory, in, options)
	result.Encoder = encoder
	return result
}

// Encode runs the encoder over in.Source.
func (m EncoderDecoder) Encode(scope *model.Scope, in Inputs, options Options) (Memory, *Pass) {
	pass := m.newSourceStack(scope, m.embedding(), in, options).run()
	return Memory{State: pass.State, Mask: pass.Mask}, pass
}

// Decode runs the decoder over in.Target, shifted right by one, and an encoded source. Logits at position i depend only on tokens
// before i.
func (m EncoderDecoder) Decode(scope *model.Scope, memory Memory, in Inputs, options Options) Result {
	s := m.ofDecoder().newTargetStack(scope, in, options)
	s.memory, s.source = &memory, memory.Mask
	return s.readTarget(scope, in)
}

// Validate returns an error that names the first invalid field of those that this model reads.
func (m EncoderDecoder) Validate() error { return m.validateWithSource() }

// Encoder classifies a sequence: its output is pooled to one vector, which is read out. With the pool [Each] it classifies every
// position.
type Encoder struct {
	Config
	Pool Pool // nil is Mean
}

// Forward returns the logits of each source, [B, 1, V], or with [Each] of each position, [B, M, V]. It does not read in.Target.
func (m Encoder) Forward(scope *model.Scope, in Inputs, options Options) Result {
	e := m.embedding()
	s := m.newSourceStack(scope, e, in, options)
	s.readout = func(output *Node) *Node { return e.Readout(scope, m.Pool.apply(output, s.mask)) }
	pass := s.run()
	return Result{Logits: s.readout(pass.State), Encoder: pass, Readouts: s.readouts}
}

// Validate returns an error that names the first invalid field of those that this model reads.
func (m Encoder) Validate() error {
	if m.TiedReadout {
		return fmt.Errorf("tied_readout needs a target embedding, which an encoder does not have")
	}
	return m.validateWithSource()
}

// Decoder is a language model: a causal stack without an encoder.
type Decoder struct{ Config }

// Forward returns the logits of every token of in.Target given those before it. It does not read in.Source.
func (m Decoder) Forward(scope *model.Scope, in Inputs, options Options) Result {
	s := m.newTargetStack(scope, in, options)
	s.source = s.mask
	return s.readTarget(scope, in)
}

// readTarget runs a causal stack over in.Target, shifted right by one, and reads its output out.
func (s *stack) readTarget(scope *model.Scope, in Inputs) Result {
	e := s.embedding()
	s.state = ShiftTargets(s.masks.drop(e.Target(scope, in.Target), s.Dropout.Embedding))
	s.readout = func(output *Node) *Node {
		f := e.Factors(scope, output)
		s.factors = append(s.factors, f)
		return f.Logits()
	}
	pass := s.run()
	factors := e.Factors(scope, pass.State)
	return Result{Logits: factors.Logits(), Factors: factors, Decoder: pass, Readouts: s.readouts, ReadoutFactors: s.factors}
}

// Validate returns an error that names the first invalid field of those that this model reads. Depth by length would depend on later
// tokens and is rejected.
func (m Decoder) Validate() error {
	if _, byLength := m.Halting.(halting.Length); byLength {
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

// newSourceStack returns the encoder stack over in.Source, embedded by e.
func (c Config) newSourceStack(scope *model.Scope, e Embedding, in Inputs, options Options) *stack {
	tokens, inner := e.LargestTokens(in.Source), scope.At("encoder")
	s := c.newStack(inner, tokens, c.sourceCoordinates(inner, tokens, in.Positions), in.SourceCapacities, options)
	s.source = s.mask
	s.state = s.masks.drop(e.Source(scope, in.Source), c.Dropout.Embedding)
	return s
}

// A Model maps tokens to logits. It is one of [EncoderDecoder], [Encoder], [Pointer] and [Decoder], or a baseline.
type Model interface {
	// Forward returns logits for in.Target. What it reads depends on the model.
	Forward(scope *model.Scope, in Inputs, options Options) Result
	// Validate returns an error that names the first invalid field, its value, and valid values.
	Validate() error
}

// A Deep model runs a number of steps that a halting policy decides. It is a separate interface because a recurrent network, which is
// a Model too, reads every position once.
type Deep interface {
	Model
	// Adaptive reports whether a stack weighs its steps, as those with a halting unit do, so that there is a ponder cost: halting.Policy.Weighted.
	Adaptive() bool
	// StepLimit returns the maximum number of steps of a position, or 0 if that depends on the source.
	StepLimit() int
	// SelectsPositions reports whether halted positions can be skipped; see halting.Capacities.
	SelectsPositions() bool
	// WithExit returns the same model, including its weights, that stops as e says.
	WithExit(e halting.Exit) (Deep, error)
}

// Adaptive reports whether a model weighs its steps, as [Deep] says.
func Adaptive(m Model) bool {
	deep, ok := m.(Deep)
	return ok && deep.Adaptive()
}
