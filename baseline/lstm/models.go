package lstm

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/halting"
	"universal-transformer/universal"
)

// EncoderDecoder maps a source to a target, token by token.
type EncoderDecoder struct {
	Config
	Attention bool `json:"attention"` // the decoder attends to the encoder's states
}

// Attends reports whether the decoder attends to the encoder's states.
func (m EncoderDecoder) Attends() bool { return m.Attention }

// memory is an encoded source: the initial states of the decoder and, with attention, what it attends to.
type memory struct {
	start  []state
	states *Node // [B, M, D]; nil without attention
	mask   *Node // [B, M] bool, true at real positions
}

// Forward returns the logits of every target token given the source and the true tokens before it (teacher forcing).
func (m EncoderDecoder) Forward(scope *model.Scope, in universal.Inputs, options universal.Options) universal.Result {
	encoded, encoder := m.encode(scope, in.Source)
	x := universal.ShiftTargets(m.embedding().Target(scope, in.Target))
	top, _ := m.stack(scope.At("decoder"), x, encoded.start)
	decoder := passOf(top, universal.Mask(in.Target))
	top, shares := m.attend(scope.At("decoder"), top, encoded)
	if shares != nil && options.ReturnAttention {
		decoder.CrossAttention = []*Node{InsertAxes(shares, 1)} // [B, 1, N, M]
	}
	factors := m.factors(scope, top)
	return universal.Result{Logits: factors.Logits(), Factors: factors, Encoder: encoder, Decoder: decoder}
}

// encode runs the encoder over a source.
func (m EncoderDecoder) encode(scope *model.Scope, source *Node) (memory, *universal.Pass) {
	top, pass, all := m.encoder(scope, m.embedding(), source)
	encoded := memory{mask: pass.Mask}
	for _, layer := range all {
		encoded.start = append(encoded.start, state{atEnd(layer.hidden, pass.Mask), atEnd(layer.cell, pass.Mask)})
	}
	if m.Attention {
		encoded.states = top
	}
	return encoded, pass
}

// attend returns the readout's input, computed from the decoder's states [B, N, D], and, with attention, the weights [B, N, M] of the
// source's positions.
func (m EncoderDecoder) attend(scope *model.Scope, h *Node, encoded memory) (read, shares *Node) {
	if !m.Attention {
		return h, nil
	}
	scores := Einsum("bnd,bmd->bnm", h, encoded.states)
	mask := Squeeze(universal.KeyMask(encoded.mask), 1) // [B, 1, M]
	shares = MaskedSoftmax(scores, BroadcastToDims(mask, scores.Shape().Dimensions...), -1)
	context := Einsum("bnm,bmd->bnd", shares, encoded.states)
	return Tanh(m.weights().Dense(scope.At("attention"), "output", Concatenate([]*Node{context, h}, -1), m.Width)), shares
}

// Validate checks the fields that this model reads.
func (m EncoderDecoder) Validate() error { return m.validateWithSource() }

// Encoder classifies a sequence: its states are pooled to one vector, which is read out. With the pool [universal.Each] it classifies every
// position; the state of a position depends on the positions before it and on itself only.
type Encoder struct {
	Config
	Pool universal.Pool // nil is universal.Mean
}

// Forward returns the logits of each source, [B, 1, V], or with [universal.Each] of each position, [B, M, V]. It does not read in.Target.
func (m Encoder) Forward(scope *model.Scope, in universal.Inputs, _ universal.Options) universal.Result {
	top, pass, _ := m.encoder(scope, m.embedding(), in.Source)
	pool := m.Pool
	if pool == nil {
		pool = universal.Mean
	}
	return universal.Result{Logits: m.readout(scope, pool(top, pass.Mask)), Encoder: pass}
}

// Validate checks the fields that this model reads.
func (m Encoder) Validate() error {
	if m.TiedReadout {
		return fmt.Errorf("tied_readout needs a target embedding, which an encoder does not have")
	}
	return m.validateWithSource()
}

// Pointer answers a question about a context with a word of the context; see [universal.Pointer].
type Pointer struct {
	Config
	Separator int32 `json:"-"` // the token after the context
	Evidence  bool  `json:"-"` // as of [universal.Pointer]
}

// Forward returns ln p(w) as the logits of one class, [B, 1, V]. It does not read in.Target.
func (m Pointer) Forward(scope *model.Scope, in universal.Inputs, _ universal.Options) universal.Result {
	e := m.embedding()
	e.Evidence, e.Separator = m.Evidence, m.Separator
	_, pass, _ := m.encoder(scope, e, in.Source)
	pass.State = m.drop(scope, pass.State)
	return universal.Result{Logits: universal.PointerSum(scope, m.weights(), pass.State, pass.Mask, in.Source, m.Separator, m.TargetVocabulary), Encoder: pass}
}

// Validate checks the fields that this model reads.
func (m Pointer) Validate() error {
	if m.TiedReadout {
		return fmt.Errorf("tied_readout needs a readout, which a pointer does not have")
	}
	if err := universal.ValidatePointer(m.SourceVocabulary, m.TargetVocabulary, m.TokensPerPosition, m.Separator); err != nil {
		return err
	}
	return m.validateWithSource()
}

// Decoder is a language model.
type Decoder struct{ Config }

// Forward returns the logits of every token of in.Target given those before it. It does not read in.Source.
func (m Decoder) Forward(scope *model.Scope, in universal.Inputs, _ universal.Options) universal.Result {
	x := universal.ShiftTargets(m.embedding().Target(scope, in.Target))
	top, _ := m.stack(scope.At("decoder"), x, m.zero(x))
	factors := m.factors(scope, top)
	return universal.Result{Logits: factors.Logits(), Factors: factors, Decoder: passOf(top, universal.Mask(in.Target))}
}

// encoder runs the layers over a source [B, M], embedded by e.
func (c Config) encoder(scope *model.Scope, e universal.Embedding, source *Node) (top *Node, pass *universal.Pass, all []state) {
	x, mask := e.Source(scope, source), universal.Mask(e.LargestTokens(source))
	top, all = c.stack(scope.At("encoder"), x, c.zero(x))
	return top, passOf(top, mask), all
}

// readout returns the logits of states, with dropout in training.
func (c Config) readout(scope *model.Scope, h *Node) *Node {
	return c.factors(scope, h).Logits()
}

// factors returns the factors of these logits.
func (c Config) factors(scope *model.Scope, h *Node) *universal.Factors {
	return c.embedding().Factors(scope, c.drop(scope, h))
}

// passOf returns a pass in which every real position was updated once.
func passOf(top, mask *Node) *universal.Pass {
	return &universal.Pass{Outcome: halting.Outcome{State: top, Updates: ConvertDType(mask, top.DType())}, Mask: mask}
}

// atEnd returns the last real position [B, D] of states [M, B, D], and zero for rows that contain only padding.
func atEnd(states, mask *Node) *Node {
	return Squeeze(universal.Last(TransposeAllAxes(states, 1, 0, 2), mask), 1)
}
