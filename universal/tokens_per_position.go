package universal

import (
	"fmt"
	"math"

	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
)

// embedSum returns, for every position, the sum of the embeddings of its tokens, each multiplied by a learned mask for its place in
// the position (section 3.1, after Henaff et al., 2016):
//
//	h_i = sum over w of mask_w * embedding(token_{i,w})
//
// tokens [B, M*W] become H^0 [B, M, D]. Padding adds nothing. Initial masks are random around one. With masks that are initially one,
// as in the authors' code, positions with the same tokens in a different order have the same embedding, and training has to break the
// tie (docs/log.md, 2026-11-21).
//
// If the batch has at least as many positions as the vocabulary has tokens, the table is multiplied by each mask, and the products are
// looked up, which takes fewer multiplications. Both ways give the same bits, so that a text has the same answer alone and among others.
func (e Embedding) embedSum(scope *model.Scope, table *model.Variable, tokens *Node) *Node {
	tokens = e.byPosition(tokens) // [B, M, W]
	rows := table.NodeValue(tokens)
	mask := e.Weights.Parameter(scope.At("embedding"), "mask", normalAroundOne, e.TokensPerPosition, e.Width).NodeValue(rows)
	dims := tokens.Shape().Dimensions
	products := dims[0]*dims[1] >= e.SourceVocabulary
	if products {
		all := Iota(rows.Graph(), shapes.Make(tokens.DType(), e.SourceVocabulary, 1), 0)
		rows = e.scaled(Mul(rows, ConvertDType(Mask(all), rows.DType()))) // [V, D], zero for padding
	}
	var h *Node
	for w := range e.TokensPerPosition {
		ids, place := Slice(tokens, AxisRange(), AxisRange(), AxisElem(w)), Slice(mask, AxisElem(w)) // [B, M, 1], [1, D]
		var words *Node                                                                              // [B, M, D]
		if products {
			words = Gather(Mul(rows, place), ids)
		} else {
			words = e.scaled(Mul(Gather(rows, ids), ConvertDType(Mask(ids), rows.DType())))
			words = Mul(words, InsertAxes(place, 0))
		}
		if h == nil {
			h = words
		} else {
			h = Add(h, words)
		}
	}
	return h
}

// scaled multiplies embeddings by sqrt(D) if the configuration says so.
func (e Embedding) scaled(h *Node) *Node {
	if !e.Scale {
		return h
	}
	return MulScalar(h, math.Sqrt(float64(e.Width)))
}

// LargestTokens returns one token per position, [B, M]: the source itself or, if positions hold several tokens, the largest, which is
// 0 only for padding.
func (e Embedding) LargestTokens(tokens *Node) *Node {
	if e.TokensPerPosition <= 1 {
		return tokens
	}
	return ReduceMax(e.byPosition(tokens), -1)
}

// byPosition reshapes tokens [B, M*W] to [B, M, W].
func (e Embedding) byPosition(tokens *Node) *Node {
	dims := tokens.Shape().Dimensions
	if dims[1]%e.TokensPerPosition != 0 {
		panic(fmt.Errorf("universal: a source of %d tokens cannot be split into positions of %d", dims[1], e.TokensPerPosition))
	}
	return Reshape(tokens, dims[0], dims[1]/e.TokensPerPosition, e.TokensPerPosition)
}
