package universal

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/layers/attention"
	"universal-transformer/engine"
	"universal-transformer/internal/backward"
)

// manyKeys is the number of keys from which on attention with dropout, or of selected positions of a causal stack, is one function of the
// backend if it has it: see [engine.AttentionFunction]. With fewer keys whole scores take less time.
const manyKeys = 513

// blockAttention is attention in blocks. Its operands are in the order of the function's parameters.
type blockAttention struct {
	prefix   string  // of the names of functions
	form     string  // the rest of the names
	operands []*Node // query, key, value, visible keys, keys and numbers of dropout
}

// inBlocks returns attention in blocks of a query [B, M, K, D/K] to keys and values [B, N, K, D/K] with a last visible key of each query,
// [B, M], which may be nil, or nil if other operations compute it.
func (s *stack) inBlocks(query, key, value *Node, options attention.CoreOptions, last *Node) *blockAttention {
	prefix := engine.AttentionFunction(query.Graph().Backend())
	dropout := s.masks != nil && s.Dropout.Attention > 0
	if prefix == "" || options.WantCoefficients || key.Shape().Dimensions[1] < manyKeys || !dropout && last == nil {
		return nil
	}
	a := &blockAttention{prefix: prefix, operands: []*Node{query, key, value}}
	switch mask := options.AttentionMask; {
	case options.UseCausalMask:
		a.form += ",causal"
	case last != nil:
		a.form += ",last"
		a.operands = append(a.operands, last)
	default:
		a.form += ",keys"
		a.operands = append(a.operands, Reshape(mask, key.Shape().Dimensions[:2]...))
	}
	if dropout {
		a.form += ",dropout"
		a.operands = append(a.operands, s.masks.hashed(s.selection.Fold(s.masks.positions), s.Heads, key.Shape().Dimensions[1], s.Dropout.Attention)...)
	}
	return a
}

// apply returns the result, with a gradient with respect to queries, keys and values.
func (a *blockAttention) apply() *Node {
	forward := a.call("forward", a.operands)
	for i := range forward {
		forward[i] = StopGradient(forward[i])
	}
	return backward.With(forward[0], a.operands[:3], func(dOut *Node) []*Node {
		return a.call("backward", slices.Concat(a.operands, forward, []*Node{dOut}))
	})
}

// call calls the forward or the backward function.
func (a *blockAttention) call(half string, operands []*Node) []*Node {
	g := operands[0].Graph()
	name := fmt.Sprintf("%s%s%s#%d.%d", a.prefix, half, a.form, operands[0].Id(), operands[len(operands)-1].Id())
	f := NewFunction(g, name, func(g *Graph) []*Node {
		parameters := make([]*Node, len(operands))
		for i, x := range operands {
			parameters[i] = Parameter(g, fmt.Sprint("x", i), x.Shape())
		}
		return a.whole(parameters, half == "backward")
	})
	return f.Call(operands...)
}

// whole is the body of both functions: the same with whole scores, as in attentionWithDropout. Its scalars are constants of its own, as
// GoMLX would share those of [Scalar] with the rest of the graph, which a function cannot see.
func (a *blockAttention) whole(p []*Node, backward bool) []*Node {
	query, key, value := p[0], p[1], p[2]
	constant := func(x float64) *Node { return Const(query.Graph(), shapes.CastAsDType(x, query.DType())) }
	scale := constant(1 / math.Sqrt(float64(query.Shape().Dimensions[3])))
	scores := Mul(Einsum("bqhd,bkhd->bhqk", query, key), scale) // [B, K, M, N]
	visible, rest := a.visible(scores, p[3:])
	hidden := BroadcastToShape(constant(-1e30), scores.Shape())
	scores = Where(visible, scores, hidden)
	largest := ReduceAndKeep(scores, ReduceMax, -1)
	exponentials := Where(visible, Exp(Sub(scores, largest)), BroadcastToShape(constant(0), scores.Shape()))
	inverse := Div(constant(1), Max(ReduceAndKeep(exponentials, ReduceSum, -1), constant(1e-30)))
	weights, dropout := Mul(exponentials, inverse), constant(1)
	if strings.HasSuffix(a.form, "dropout") {
		dropout, rest = hashedWeights(rest[0], rest[1], rest[2]), rest[3:]
	}
	if !backward {
		return []*Node{Einsum("bhqk,bkhd->bqhd", Mul(weights, dropout), value), Squeeze(largest, -1), Squeeze(inverse, -1)}
	}
	dOut := rest[3]
	dWeights := Mul(Einsum("bqhd,bkhd->bhqk", dOut, value), dropout)
	dot := ReduceAndKeep(Mul(weights, dWeights), ReduceSum, -1)
	dScores := Mul(Mul(weights, Sub(dWeights, dot)), scale)
	return []*Node{Einsum("bhqk,bkhd->bqhd", dScores, key), Einsum("bhqk,bqhd->bkhd", dScores, query), Einsum("bhqk,bqhd->bkhd", Mul(weights, dropout), dOut)}
}

// visible returns which scores [B, K, M, N] count, and the parameters after those that say so.
func (a *blockAttention) visible(scores *Node, rest []*Node) (visible *Node, after []*Node) {
	g, index := scores.Graph(), scores.Shape().Clone()
	index.DType = dtypes.Int32
	switch {
	case strings.Contains(a.form, "causal"):
		return LessOrEqual(Iota(g, index, 3), Iota(g, index, 2)), rest
	case strings.Contains(a.form, "last"):
		return LessOrEqual(Iota(g, index, 3), BroadcastToShape(InsertAxes(rest[0], 1, -1), index)), rest[1:]
	}
	index.DType = dtypes.Bool
	return BroadcastToShape(InsertAxes(rest[0], 1, 1), index), rest[1:]
}
