package universal

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/layers/attention"
)

// selfAttention lets every position look at all real positions, or at those up to itself in a causal stack.
func (s *stack) selfAttention(x *Node) *Node {
	options := attention.CoreOptions{UseCausalMask: s.causal}
	if !s.causal { // padding stands at the right, where causality hides it from real positions anyway
		options.AttentionMask = visible(s.mask)
	}
	y, weights := s.multiHead("self_attention", x, x, options)
	if s.watch.Attention {
		s.pass.Attention = append(s.pass.Attention, weights)
	}
	return y
}

// crossAttention lets every target position look at the encoded source: queries from the decoder, keys and values from
// the encoder's output.
func (s *stack) crossAttention(x *Node) *Node {
	y, weights := s.multiHead("cross_attention", x, s.memory.State, attention.CoreOptions{AttentionMask: visible(s.memory.Mask)})
	if s.watch.Attention {
		s.pass.CrossAttention = append(s.pass.CrossAttention, weights)
	}
	return y
}

// multiHead is multi-head dot-product attention of x [B, M, D] over context [B, N, D], K heads of D/K channels each:
//
//	Attention(Q, K, V) = softmax(Q K' / sqrt(d)) V
//	head_i             = Attention(x W_i^Q, context W_i^K, context W_i^V)
//	result             = concat(head_1 .. head_k) W^O
//
// d is a head's number of channels. There are no biases. weights [B, K, M, N] are nil unless watched.
func (s *stack) multiHead(name string, x, context *Node, options attention.CoreOptions) (y, weights *Node) {
	scope, depth := s.scope.At("%s", name), s.Width/s.Heads
	project := func(matrix string, of *Node) *Node {
		return s.dense(scope, matrix, of, s.Width)
	}
	heads := func(of *Node) *Node { // [B, M, D] to [B, M, K, D/K]
		dims := of.Shape().Dimensions
		return Reshape(of, dims[0], dims[1], s.Heads, depth)
	}
	query, key, value := heads(project("query", x)), heads(project("key", context)), heads(project("value", context)) // (eq. 3)
	options.Scale = 1 / math.Sqrt(float64(depth))
	options.WantCoefficients = s.watch.Attention
	if s.Dropout.Attention > 0 {
		options.Scope, options.DropoutRate = s.scope, Scalar(x.Graph(), x.DType(), s.Dropout.Attention)
	}
	y, weights = attention.Core(query, key, value, attention.LayoutBSHD, options) // (eq. 1)
	if weights != nil {
		weights = TransposeAllAxes(weights, 0, 2, 1, 3) // [B, M, K, N] to [B, K, M, N]
	}
	return project("output", Reshape(y, x.Shape().Dimensions...)), weights // (eq. 2)
}

// visible makes the mask of keys [B, 1, 1, N] from that of positions [B, N]. A row of nothing but padding sees its first
// position, so that its softmax is defined; nobody reads what comes of it.
func visible(mask *Node) *Node {
	first := LessThan(Iota(mask.Graph(), shapeAs(mask, int32Type), 1), Scalar(mask.Graph(), int32Type, 1))
	return InsertAxes(LogicalOr(mask, first), 1, 1)
}
