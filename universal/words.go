package universal

import (
	"fmt"
	"math"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
)

// embedSource is embed of the source; where a position holds several tokens, embedWords.
func (c Config) embedSource(scope *model.Scope, tokens *Node) *Node {
	if c.TokensPerPosition > 1 {
		return c.embedWords(scope, c.sourceTable(scope), tokens)
	}
	return c.embed(scope, c.sourceTable(scope), tokens)
}

// embedWords gives every position the sum of its words' embeddings, each times a learned mask that belongs to its place among
// them (section 3.1, after Henaff et al., 2016):
//
//	h_i = sum over w of mask_w * embedding(token_{i,w})
//
// tokens [B, M*W] become H^0 [B, M, D]. Padding adds nothing. The masks start at random around one: if they start at one, as in the
// authors' code, the order of words has to be found first (LOG.md).
func (c Config) embedWords(scope *model.Scope, table *model.Variable, tokens *Node) *Node {
	tokens = c.byPosition(tokens)                                // [B, M, W]
	h := Gather(table.NodeValue(tokens), InsertAxes(tokens, -1)) // [B, M, W, D]
	h = Mul(h, InsertAxes(ConvertDType(real(tokens), h.DType()), -1))
	if c.ScaleEmbedding {
		h = MulScalar(h, math.Sqrt(float64(c.Width)))
	}
	mask := c.weights().parameter(scope.At("embedding"), "mask", aroundOne, c.TokensPerPosition, c.Width).NodeValue(h)
	return ReduceSum(Mul(h, InsertAxes(mask, 0, 0)), 2) // [B, M, D]
}

// occupied is a token a position, [B, M]: the source itself, or, where positions hold several, their largest: 0 if all are padding.
func (c Config) occupied(tokens *Node) *Node {
	if c.TokensPerPosition <= 1 {
		return tokens
	}
	return ReduceMax(c.byPosition(tokens), -1)
}

// byPosition is tokens [B, M*W] as [B, M, W].
func (c Config) byPosition(tokens *Node) *Node {
	dims := tokens.Shape().Dimensions
	if dims[1]%c.TokensPerPosition != 0 {
		panic(fmt.Errorf("universal: a source of %d tokens is no whole number of positions of %d", dims[1], c.TokensPerPosition))
	}
	return Reshape(tokens, dims[0], dims[1]/c.TokensPerPosition, c.TokensPerPosition)
}
