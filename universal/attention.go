package universal

import (
	"math"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/layers/attention"
)

// selfAttention lets every position look at all real positions, or at those up to itself in a causal stack.
func (s *stack) selfAttention(t int, x *Node) *Node {
	var options attention.CoreOptions
	switch { // padding stands at the right, where causality hides it from real positions anyway
	case !s.causal:
		options.AttentionMask = s.selection.Rows(visible(s.mask))
	case s.selection.Whole():
		options.UseCausalMask = true
	default:
		options.AttentionMask = s.backwards()
	}
	context := s.keys(t, x)
	if s.past != nil {
		context, options = s.past.attend(context), attention.CoreOptions{AttentionMask: s.past.seen}
	}
	y, weights := s.multiHead("self_attention", x, context, options)
	if s.watch.ReturnAttention {
		s.pass.Attention = append(s.pass.Attention, weights)
	}
	return y
}

// crossAttention lets every target position attend to the encoded source: queries from the decoder, keys and values from
// the encoder's output. Where all steps have the same weights they have the same keys and values, which are made once.
func (s *stack) crossAttention(t int, x *Node) *Node {
	layer := 0
	if s.UntiedLayers {
		layer = t - 1
	}
	if layer == len(s.memoryKeys) {
		s.memoryKeys = append(s.memoryKeys, s.lookup("cross_attention", s.memory.State))
	}
	options := attention.CoreOptions{AttentionMask: s.selection.Rows(visible(s.memory.Mask))}
	y, weights := s.multiHead("cross_attention", x, s.memoryKeys[layer], options)
	if s.watch.ReturnAttention {
		s.pass.CrossAttention = append(s.pass.CrossAttention, weights)
	}
	return y
}

// lookup is what queries are compared with and what they retrieve, both [B, N, K, D/K].
type lookup struct {
	key, value *Node
	shift      *Node // [1, 1, D], what all values lack and is added to what is retrieved; may be nil
}

// lookup projects a context [B, N, D] to keys and values.
func (s *stack) lookup(name string, context *Node) *lookup {
	scope := s.layer.At("%s", name)
	return &lookup{key: s.heads(s.weights().Dense(scope, "key", context, s.Width)), value: s.heads(s.weights().Dense(scope, "value", context, s.Width))}
}

// heads gives every head its D/K channels: [B, M, D] to [B, M, K, D/K].
func (s *stack) heads(of *Node) *Node {
	dims := of.Shape().Dimensions
	return Reshape(of, dims[0], dims[1], s.Heads, s.Width/s.Heads)
}

// multiHead is multi-head dot-product attention of x [B, M, D] over context [B, N, D], K heads of D/K channels each:
//
//	Attention(Q, K, V) = softmax(Q K' / sqrt(d)) V
//	head_i             = Attention(x W_i^Q, context W_i^K, context W_i^V)
//	result             = concat(head_1 .. head_k) W^O
//
// d is a head's number of channels. There are no biases. weights [B, K, M, N] are nil unless watched.
func (s *stack) multiHead(name string, x *Node, context *lookup, options attention.CoreOptions) (y, weights *Node) {
	scope := s.layer.At("%s", name)
	query := s.heads(s.weights().Dense(scope, "query", x, s.Width)) // (eq. 3)
	key, value := s.selection.Rows(context.key), s.selection.Rows(context.value)
	options.Scale = 1 / math.Sqrt(float64(s.Width/s.Heads))
	options.WantCoefficients = s.watch.ReturnAttention
	if query = s.selection.Fold(query); s.masks != nil && s.Dropout.Attention > 0 {
		y, weights = s.attentionWithDropout(query, key, value, options)
	} else {
		y, weights = attention.Core(query, key, value, attention.LayoutBSHD, options) // (eq. 1)
	}
	if weights != nil {
		weights = TransposeAllAxes(weights, 0, 2, 1, 3) // [B, M, K, N] to [B, K, M, N]
	}
	y = Reshape(s.selection.Unfold(y), x.Shape().Dimensions...)
	if context.shift != nil {
		y = Add(y, context.shift)
	}
	return s.weights().Dense(scope, "output", y, s.Width), weights // (eq. 2)
}

// attentionWithDropout is attention.Core, which knows no masks of ours, with dropout of the weights. They do not sum to one then.
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

// visible makes the mask of keys [B, 1, 1, N] from that of positions [B, N]. A row of nothing but padding sees its first
// position, so that its softmax is defined; nobody reads what comes of it.
func visible(mask *Node) *Node {
	first := LessThan(Iota(mask.Graph(), shapeAs(mask, int32Type), 1), Scalar(mask.Graph(), int32Type, 1))
	return InsertAxes(LogicalOr(mask, first), 1, 1)
}
