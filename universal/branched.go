package universal

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
)

// Branched is the arrangement of the Weighted Transformer (Ahmed, Keskar and Socher, 2017, equations 5 to 7). The K heads of the last
// attention of a step are branches, which are weighted, pass through a transition of their own, and are weighted again and added:
//
//	head_i = Attention(X W_i^Q, states W_i^K, states W_i^V)
//	Y      = sum over i of alpha_i FFN_i(kappa_i head_i W_i^O),  FFN_i(x) = max(0, x W_i + b_i) W'_i + b'
//	H^t    = LayerNorm(X + Y)
//
// The branches replace the attention to the encoder's output and the transition of a decoder that has one, and otherwise self-attention and
// transition. A decoder's self-attention before them has heads as usual. The transition must be [FeedForward]: its F inner channels
// are divided among the branches, so that a step has only 2K parameters more than without branches. All branches have the same b', as
// alpha sums to 1.
//
// kappa and alpha are positive and each sums to 1. The authors project them after every update, with learning rates of their own; here
// they are softmax of learned vectors, which are initially 0, and are trained like all vectors.
type Branched struct {
	PreNorm bool `json:"pre_norm,omitempty"` // normalise before each sub-layer and once at the end, instead of after each sub-layer
}

// Revise returns H^t.
func (b Branched) Revise(s *Step) *Node {
	if !s.HasMemory() {
		return b.sublayer(s, "self_attention_norm", s.Input, s.BranchedSelfAttention)
	}
	a := b.sublayer(s, "self_attention_norm", s.Input, s.SelfAttention)
	return b.sublayer(s, "cross_attention_norm", a, s.BranchedCrossAttention)
}

// sublayer adds a sub-layer to its input.
func (b Branched) sublayer(s *Step, norm string, x *Node, layer func(*Node) *Node) *Node {
	if b.PreNorm {
		return Add(x, layer(s.Norm(norm, x)))
	}
	return s.Norm(norm, Add(x, layer(x)))
}

// Validate returns nil.
func (Branched) Validate() error { return nil }

// BranchedSelfAttention returns the weighted branches of self-attention, with dropout.
func (s *Step) BranchedSelfAttention(x *Node) *Node {
	s.check("BranchedSelfAttention", x)
	return s.stack.drop(s.stack.branches("self_attention", s.stack.selfHeads(s.t, x)))
}

// BranchedCrossAttention returns the weighted branches of the attention to the encoder's output, with dropout.
func (s *Step) BranchedCrossAttention(x *Node) *Node {
	s.check("BranchedCrossAttention", x)
	heads := Reshape(s.stack.crossHeads(s.t, x), x.Shape().Dimensions...)
	return s.stack.drop(s.stack.branches("cross_attention", heads))
}

// branches passes the heads of an attention, [B, M, D], through their parts of the transition. The result is [B, M, D].
func (s *stack) branches(attention string, heads *Node) *Node {
	w, scope, filter := s.weights(), s.layer.At("transition"), s.Transition.(FeedForward).Filter
	output := w.Parameter(s.layer.At("%s", attention), "output", glorot, s.Width, s.Width).NodeValue(heads)
	x := Einsum("bmkc,kcd->bmkd", s.heads(heads), Reshape(output, s.Heads, -1, s.Width)) // [B, M, K, D]
	x = Mul(x, s.branchWeights(scope, "kappa", heads))

	inner := w.Parameter(scope.At("inner"), "weight", glorot, s.Width, filter).NodeValue(heads)
	bias := w.Parameter(scope.At("inner"), "bias", zeros, filter).NodeValue(heads)
	z := Einsum("bmkd,dkf->bmkf", x, Reshape(inner, s.Width, s.Heads, -1)) // [B, M, K, F/K]
	z = rectify(Add(z, Reshape(bias, 1, 1, s.Heads, -1)))
	z = Mul(s.masks.drop(z, s.Dropout.Transition), s.branchWeights(scope, "alpha", heads))
	dims := heads.Shape().Dimensions
	return w.Affine(scope.At("outer"), "weight", Reshape(z, dims[0], dims[1], filter), s.Width)
}

// branchWeights returns positive weights of the branches that sum to 1, [1, 1, K, 1].
func (s *stack) branchWeights(scope *model.Scope, name string, x *Node) *Node {
	return Reshape(Softmax(s.weights().Parameter(scope, name, zeros, s.Heads).NodeValue(x)), 1, 1, s.Heads, 1)
}

// validateBranches checks that the transition can be divided among the heads, if the arrangement is Branched.
func (c Config) validateBranches() error {
	if _, ok := c.Arrangement.(Branched); !ok {
		return nil
	}
	f, ok := c.Transition.(FeedForward)
	if !ok {
		return fmt.Errorf("transition: the arrangement branched divides a feedforward transition among the heads; choose feedforward")
	}
	if f.Filter%c.Heads != 0 {
		return fmt.Errorf("heads is %d, which does not divide filter %d of the transition: the arrangement branched gives every head a part of it", c.Heads, f.Filter)
	}
	return nil
}
