package universal

import (
	"fmt"
	"math"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/layers"
	"github.com/gomlx/gomlx/ml/model"
)

// embedSource is embed of the source; where a position holds several symbols, embedWords.
func (c Config) embedSource(scope *model.Scope, symbols *Node) *Node {
	if c.Words > 1 {
		return c.embedWords(scope, c.sourceTable(scope), symbols)
	}
	return c.embed(scope, c.sourceTable(scope), symbols)
}

// embedWords gives every position the sum of its words' embeddings, each times a learned mask that belongs to its place among
// them (section 3.1, after Henaff et al., 2016):
//
//	h_i = sum over w of mask_w * embedding(symbol_{i,w})
//
// symbols [B, M*W] become H^0 [B, M, D]. Padding adds nothing. The masks start at random around one: if they start at one, as in the
// authors' code, the order of words has to be found first (LOG.md).
func (c Config) embedWords(scope *model.Scope, table *model.Variable, symbols *Node) *Node {
	symbols = c.byPosition(symbols)                                // [B, M, W]
	h := Gather(table.NodeValue(symbols), InsertAxes(symbols, -1)) // [B, M, W, D]
	h = Mul(h, InsertAxes(ConvertDType(real(symbols), h.DType()), -1))
	if c.ScaleEmbedding {
		h = MulScalar(h, math.Sqrt(float64(c.Width)))
	}
	mask := c.weights().parameter(scope.At("embedding"), "mask", aroundOne, c.Words, c.Width).NodeValue(h)
	h = ReduceSum(Mul(h, InsertAxes(mask, 0, 0)), 2) // [B, M, D]
	return layers.DropoutStatic(scope, h, c.Dropout.Embedding)
}

// occupied is a symbol a position, [B, M]: the source itself, or, where positions hold several, their largest: 0 if all are padding.
func (c Config) occupied(symbols *Node) *Node {
	if c.Words <= 1 {
		return symbols
	}
	return ReduceMax(c.byPosition(symbols), -1)
}

// byPosition is symbols [B, M*W] as [B, M, W].
func (c Config) byPosition(symbols *Node) *Node {
	dims := symbols.Shape().Dimensions
	if dims[1]%c.Words != 0 {
		panic(fmt.Errorf("universal: a source of %d symbols is no whole number of positions of %d", dims[1], c.Words))
	}
	return Reshape(symbols, dims[0], dims[1]/c.Words, c.Words)
}
