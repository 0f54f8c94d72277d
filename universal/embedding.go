package universal

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
)

// sourceTable is the source embedding [V, D].
func (c Config) sourceTable(scope *model.Scope) *model.Variable {
	return c.weights().parameter(scope.At("embedding"), "source", normal(c.embeddingDeviation()), c.SourceVocabulary, c.Width)
}

// targetTable is the target embedding [V, D]; the source's if they share one.
func (c Config) targetTable(scope *model.Scope) *model.Variable {
	if c.SharedEmbedding && c.SourceVocabulary > 0 {
		return c.sourceTable(scope)
	}
	return c.weights().parameter(scope.At("embedding"), "target", normal(c.embeddingDeviation()), c.TargetVocabulary, c.Width)
}

func (c Config) embeddingDeviation() float64 { return 1 / math.Sqrt(float64(c.Width)) }

// embed gives the embeddings of tokens [B, M], H^0 [B, M, D], zero at padding.
func (c Config) embed(scope *model.Scope, table *model.Variable, tokens *Node) *Node {
	h := Gather(table.NodeValue(tokens), InsertAxes(tokens, -1))
	if c.ScaleEmbedding {
		h = MulScalar(h, math.Sqrt(float64(c.Width)))
	}
	return Mul(h, InsertAxes(ConvertDType(isToken(tokens), h.DType()), -1))
}

// shift moves embedded targets one position to the right and puts a zero vector in front: position i reads token i-1.
func shift(h *Node) *Node {
	if h.Shape().Dimensions[1] == 1 {
		return ZerosLike(h)
	}
	return ShiftWithScalar(h, 1, ShiftDirRight, 1, 0)
}

// readout maps states to logits over the target vocabulary, whose softmax is the distribution of the next token.
func (c Config) readout(scope *model.Scope, h *Node) *Node {
	var o *Node // [D, V]
	if c.TiedReadout {
		o = Transpose(c.targetTable(scope).NodeValue(h), 0, 1)
	} else {
		o = c.weights().parameter(scope.At("readout"), "weight", glorot, c.Width, c.TargetVocabulary).NodeValue(h)
	}
	return times(h, o) // (eq. 8)
}
