package universal

import (
	"math"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/layers/attention"
)

// selfAttention lets every position attend to all real positions, or in a causal stack to itself and earlier ones.
func (s *stack) selfAttention(t int, x *Node) *Node {
	return s.joined("self_attention", s.selfHeads(t, x))
}

// selfHeads returns the heads of self-attention, side by side: [B, M, D].
func (s *stack) selfHeads(t int, x *Node) *Node {
	var options attention.CoreOptions
	var last *Node // visible key of each query
	switch {       // padding is at the end, where causality hides it from real positions
	case !s.causal:
		options.AttentionMask = s.selection.Rows(KeyMask(s.mask))
	case s.selection.IsAll():
		options.UseCausalMask = true
	default:
		options.AttentionMask, last = s.selectedCausalMask(), s.selection.Columns(s.mask.Graph())
	}
	context := s.selfContext(t, x)
	if s.cache != nil {
		context, options, last = s.cache.extend(context), attention.CoreOptions{AttentionMask: s.cache.mask}, nil
	}
	y, weights := s.multiHead("self_attention", x, context, options, last)
	if s.options.ReturnAttention {
		s.pass.Attention = append(s.pass.Attention, weights)
	}
	return y
}

// crossAttention lets every target position attend to the encoded source: queries come from the decoder, keys and values from the
// encoder's output. If all steps share their weights, keys and values are the same in every step and computed once. Hypotheses of the
// same source are treated as queries of one sequence, as queries do not depend on each other.
func (s *stack) crossAttention(t int, x *Node) *Node {
	return Reshape(s.joined("cross_attention", s.crossHeads(t, x)), x.Shape().Dimensions...)
}

// crossHeads returns the heads of the attention to the source, side by side: [B, M, D], or [sources, positions of all hypotheses, D].
func (s *stack) crossHeads(t int, x *Node) *Node {
	layer := 0
	if s.UntiedLayers {
		layer = t - 1
	}
	if layer == len(s.memoryContexts) {
		s.memoryContexts = append(s.memoryContexts, s.newContext("cross_attention", s.memory.State))
	}
	options := attention.CoreOptions{AttentionMask: s.selection.Rows(KeyMask(s.memory.Mask))}
	if sources := s.memory.Mask.Shape().Dimensions[0]; sources < x.Shape().Dimensions[0] {
		x = Reshape(x, sources, -1, s.Width)
	}
	y, weights := s.multiHead("cross_attention", x, s.memoryContexts[layer], options, nil)
	if s.options.ReturnAttention {
		s.pass.CrossAttention = append(s.pass.CrossAttention, weights)
	}
	return y
}

// attentionContext holds the keys and values of the attended positions, both [B, N, K, D/K].
type attentionContext struct {
	key, value *Node
	valueShift *Node // [1, 1, D], added to all values; may be nil
}

// newContext projects states [B, N, D] to keys and values.
func (s *stack) newContext(name string, states *Node) *attentionContext {
	scope := s.layer.At("%s", name)
	return &attentionContext{
		key: s.heads(s.weights().Dense(scope, "key", states, s.Width)), value: s.heads(s.weights().Dense(scope, "value", states, s.Width)),
	}
}

// heads splits the channels among the heads: [B, M, D] to [B, M, K, D/K].
func (s *stack) heads(x *Node) *Node {
	dims := x.Shape().Dimensions
	return Reshape(x, dims[0], dims[1], s.Heads, s.Width/s.Heads)
}

// multiHead returns the heads of dot-product attention of x [B, M, D] to states [B, N, D], K heads of D/K channels each, side by side:
//
//	Attention(Q, K, V) = softmax(Q K' / sqrt(d)) V
//	head_i             = Attention(x W_i^Q, states W_i^K, states W_i^V)
//
// d is the number of channels per head. There are no biases. Scores are linear in keys, which do not depend on where a position is except
// through its state: the keys of halted positions, see haltedCache, rely on it. weights [B, K, M, N] are nil unless requested
// in options. last is the last visible position of each query if options has a mask that says the same, or nil.
func (s *stack) multiHead(name string, x *Node, context *attentionContext, options attention.CoreOptions, last *Node) (y, weights *Node) {
	scope := s.layer.At("%s", name)
	query := s.heads(s.weights().Dense(scope, "query", x, s.Width)) // (eq. 3)
	key, value := s.selection.Rows(context.key), s.selection.Rows(context.value)
	options.Scale = 1 / math.Sqrt(float64(s.Width/s.Heads))
	options.WantCoefficients = s.options.ReturnAttention
	query = s.selection.Fold(query)
	if blocks := s.inBlocks(query, key, value, options, last); blocks != nil {
		y = blocks.apply()
	} else if s.masks != nil && s.Dropout.Attention > 0 {
		y, weights = s.attentionWithDropout(query, key, value, options)
	} else {
		y, weights = attention.Core(query, key, value, attention.LayoutBSHD, options) // (eq. 1)
	}
	if weights != nil {
		weights = TransposeAllAxes(weights, 0, 2, 1, 3) // [B, M, K, N] to [B, K, M, N]
	}
	y = Reshape(s.selection.Unfold(y), x.Shape().Dimensions...)
	if context.valueShift != nil {
		y = Add(y, context.valueShift) // weights sum to one
	}
	return y, weights
}

// joined is the output projection of the heads of an attention:
//
//	concat(head_1 .. head_k) W^O
func (s *stack) joined(name string, heads *Node) *Node {
	return s.weights().Dense(s.layer.At("%s", name), "output", heads, s.Width) // (eq. 2)
}

// attentionWithDropout is attention.Core with dropout of the weights by the masks of the stack. Its formula is also that of
// blockAttention.whole.
func (s *stack) attentionWithDropout(query, key, value *Node, options attention.CoreOptions) (y, weights *Node) {
	scores := MulScalar(Einsum("bqhd,bkhd->bqhk", query, key), options.Scale) // [B, M, K, N]
	mask := options.AttentionMask
	if options.UseCausalMask {
		mask = InsertAxes(InsertAxes(LowerTriangular(query.Graph(), query.Shape().Dimensions[1]), 1), 0)
	}
	weights = MaskedSoftmax(scores, BroadcastToShape(mask, shapeAs(scores, dtypes.Bool)), -1)
	weights = s.masks.dropRows(weights, s.selection.Fold(s.masks.positions), s.Dropout.Attention)
	return Einsum("bqhk,bkhd->bqhd", weights, value), weights
}

// KeyMask returns the mask of keys, [B, 1, 1, N], for a mask of positions [B, N]. In a row that contains only padding, the first
// position counts as a key, so that its softmax is defined; the result is not used.
func KeyMask(mask *Node) *Node {
	first := LessThan(Iota(mask.Graph(), shapeAs(mask, int32Type), 1), Scalar(mask.Graph(), int32Type, 1))
	return InsertAxes(LogicalOr(mask, first), 1, 1)
}
