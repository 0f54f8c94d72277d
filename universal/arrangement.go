package universal

import (
	. "github.com/gomlx/gomlx/core/graph"
	"universal-transformer/internal/part"
)

// An Arrangement is the order of the parts of a step: what is added to what, and where the layer norms stand. nil in [Config] means
// the camera-ready paper's, or the authors' code's with Config.PreNorm. [Submitted] and [FirstVersion] are those of earlier versions
// of the paper, [Branched] that of the Weighted Transformer. It is an interface because they differ in how the parts are combined, and
// have weights of their own or none.
type Arrangement interface {
	// Revise returns H^t.
	Revise(s *Step) *Node
	// Validate returns an error that names the first invalid field, its value, and valid values.
	Validate() error
}

// A Step is a step of a stack, as an [Arrangement] sees it. All tensors are [B, M, D].
type Step struct {
	State  *Node // H^{t-1}
	Input  *Node // X = H^{t-1} + P^t, with the coordinates
	Before *Node // what the transition read in the step before; H^0 in the first step

	t     int
	stack *stack
	read  *Node
}

// SelfAttention returns MultiHeadSelfAttention(x), with dropout. A decoder's positions attend to earlier positions only.
func (s *Step) SelfAttention(x *Node) *Node {
	s.check("SelfAttention", x)
	return s.stack.drop(s.stack.selfAttention(s.t, x))
}

// HasMemory reports whether the stack attends to an encoder's output.
func (s *Step) HasMemory() bool { return s.stack.memory != nil }

// CrossAttention returns the attention of x to the encoder's output, with dropout.
func (s *Step) CrossAttention(x *Node) *Node {
	s.check("CrossAttention", x)
	return s.stack.drop(s.stack.crossAttention(s.t, x))
}

// Transition returns Transition(x), with dropout. The next step's Before is x.
func (s *Step) Transition(x *Node) *Node {
	s.check("Transition", x)
	s.read = x
	return s.stack.drop(s.stack.transition(x))
}

// Norm is the layer norm of a name, which is part of the names of its parameters.
func (s *Step) Norm(name string, x *Node) *Node {
	s.check("Norm", x)
	return s.stack.norm(name, x)
}

// check checks what the arrangement passes to a method.
func (s *Step) check(method string, x *Node) {
	part.Of("arrangement", s.stack.Arrangement).Check("passes to "+method+" a tensor of shape", x, s.Input.Shape())
}

// NormsFirst reports whether layer normalization is before the sub-layers.
func (c Config) NormsFirst() bool {
	b, branched := c.Arrangement.(Branched)
	return c.PreNorm || branched && b.PreNorm
}

// NormsFirstField returns the path below model of the field that puts layer normalization before the sub-layers: "pre_norm". It returns "" if
// the norms are there already, or if the arrangement has no such field.
func (c Config) NormsFirstField() string {
	_, branched := c.Arrangement.(Branched)
	switch {
	case c.NormsFirst():
	case branched:
		return "arrangement.branched.pre_norm"
	case c.Arrangement == nil:
		return "pre_norm"
	}
	return ""
}

// attended returns LN(H + MultiHeadSelfAttention(H + P)), and in decoders LN(A + MultiHeadAttention(A, encoder output)) of that.
func (s *Step) attended() *Node {
	a := s.Norm("self_attention_norm", Add(s.State, s.SelfAttention(s.Input)))
	if s.HasMemory() {
		a = s.Norm("cross_attention_norm", Add(a, s.CrossAttention(a)))
	}
	return a
}

// Submitted is the arrangement of the version submitted to ICLR 2019. Attention reads the coordinates, and the residual does not carry
// them:
//
//	A^t = LayerNorm(H^{t-1} + MultiHeadSelfAttention(H^{t-1} + P^t))
//	H^t = LayerNorm(A^t + Transition(A^t))
type Submitted struct{}

// Revise returns H^t.
func (Submitted) Revise(s *Step) *Node {
	a := s.attended()
	return s.Norm("transition_norm", Add(a, s.Transition(a)))
}

// Validate returns nil.
func (Submitted) Validate() error { return nil }

// FirstVersion is the arrangement of the first version on arXiv, which differs from [Submitted] in its eq. 4. The residual of the
// transition is that of the step before:
//
//	H^t = LayerNorm(A^{t-1} + Transition(A^t))
//
// The paper does not say what A^0 is; here it is H^0. In a decoder A is what the transition reads, after attention to the encoder.
type FirstVersion struct{}

// Revise returns H^t.
func (FirstVersion) Revise(s *Step) *Node {
	return s.Norm("transition_norm", Add(s.Before, s.Transition(s.attended())))
}

// Validate returns nil.
func (FirstVersion) Validate() error { return nil }

// revised applies the arrangement in step t to the state with coordinates x.
func (s *stack) revised(t int, x *Node) *Node {
	if s.before == nil {
		s.before = s.uncoordinated
	}
	step := &Step{State: s.uncoordinated, Input: x, Before: s.before, t: t, stack: s}
	p := part.Of("arrangement", s.Arrangement)
	state := part.Call(p, func() *Node { return s.Arrangement.Revise(step) })
	p.Check("returned", state, x.Shape())
	s.before = step.read
	return state
}
