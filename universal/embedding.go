package universal

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
)

// An Embedding converts between tokens and vectors of D channels, for any model. It consists of a table of source tokens, a table of
// target tokens, and the matrix that computes logits.
type Embedding struct {
	SourceVocabulary, TargetVocabulary int
	TokensPerPosition                  int // W, tokens at each position of the source, whose embeddings are summed; 0 means 1
	Width                              int // D
	TableWidth                         int // E: tables have E channels, and a matrix [E, D] projects them (Lan et al., 2020); 0: tables have D channels

	Scale       bool // multiply embeddings by sqrt(D)
	Shared      bool // one table for source and target
	TiedReadout bool // logits from the target embedding, transposed, instead of a separate matrix

	// Evidence adds features of the tokens to the source of a [Pointer], whose context ends in Separator.
	Evidence  bool
	Separator int32

	Weights Weights
}

func (c Config) embedding() Embedding {
	return Embedding{
		SourceVocabulary: c.SourceVocabulary, TargetVocabulary: c.TargetVocabulary, TokensPerPosition: c.TokensPerPosition, Width: c.Width, TableWidth: c.EmbeddingWidth,
		Scale: c.ScaleEmbedding, Shared: c.SharedEmbedding, TiedReadout: c.TiedReadout,
		Weights: c.weights(),
	}
}

// sourceTable returns the source embedding, [V, D] or, with a projection, [V, E].
func (e Embedding) sourceTable(scope *model.Scope) *model.Variable {
	return e.table(scope, "source", e.SourceVocabulary)
}

// targetTable returns the target embedding, of the same shape; it is the source embedding if they are shared.
func (e Embedding) targetTable(scope *model.Scope) *model.Variable {
	if e.Shared && e.SourceVocabulary > 0 {
		return e.sourceTable(scope)
	}
	return e.table(scope, "target", e.TargetVocabulary)
}

func (e Embedding) table(scope *model.Scope, name string, vocabulary int) *model.Variable {
	channels := e.Width
	if e.TableWidth > 0 {
		channels = e.TableWidth
	}
	return e.Weights.Parameter(scope.At("embedding"), name, normal(1/math.Sqrt(float64(channels))), vocabulary, channels)
}

// projection returns the matrix [E, D] between the tables and the model. Embeddings and logits have the same initial scale as without
// it.
func (e Embedding) projection(scope *model.Scope, like *Node) *Node {
	return e.Weights.Parameter(scope.At("embedding"), "projection", normal(e.deviation()), e.TableWidth, e.Width).NodeValue(like)
}

func (e Embedding) deviation() float64 { return 1 / math.Sqrt(float64(e.Width)) }

// Target returns the embeddings of target tokens [B, N]: H^0 [B, N, D], zero at padding.
func (e Embedding) Target(scope *model.Scope, tokens *Node) *Node {
	return e.embed(scope, e.targetTable(scope), tokens)
}

// Source returns the embeddings of source tokens: of [B, M] as in Target or, if a position holds several tokens, of [B, M*W] as in
// embedSum: [B, M, D].
func (e Embedding) Source(scope *model.Scope, tokens *Node) *Node {
	if e.TokensPerPosition > 1 {
		return e.embedSum(scope, e.sourceTable(scope), tokens)
	}
	h := e.embed(scope, e.sourceTable(scope), tokens)
	if e.Evidence {
		h = Add(h, e.evidence(scope, tokens))
	}
	return h
}

func (e Embedding) embed(scope *model.Scope, table *model.Variable, tokens *Node) *Node {
	h := Gather(table.NodeValue(tokens), InsertAxes(tokens, -1))
	if e.TableWidth > 0 {
		h = matmul(h, e.projection(scope, h))
	}
	return Mul(e.scaled(h), InsertAxes(ConvertDType(Mask(tokens), h.DType()), -1))
}

// ShiftTargets moves embedded targets one position to the right and inserts a zero vector at the first position: position i reads
// token i-1.
func ShiftTargets(h *Node) *Node {
	if h.Shape().Dimensions[1] == 1 {
		return ZerosLike(h)
	}
	return ShiftWithScalar(h, 1, ShiftDirRight, 1, 0)
}

// Readout maps states to logits over the target vocabulary, whose softmax is the distribution of the next token.
func (e Embedding) Readout(scope *model.Scope, h *Node) *Node {
	return e.Factors(scope, h).Logits()
}

// Factors are two factors whose product are logits. A loss that is computed from them needs no logits.
type Factors struct {
	States  *Node // [B, N, D], or [B, N, E]
	Weights *Node // [D, V] or, if they are an embedding, [V, D]; or with E
	Tied    bool  // Weights are an embedding
}

// Factors returns the factors of the logits of states [B, N, D].
func (e Embedding) Factors(scope *model.Scope, h *Node) *Factors {
	if e.TiedReadout && e.TableWidth > 0 {
		h = matmul(h, Transpose(e.projection(scope, h), 0, 1)) // [B, N, E]
	}
	if e.TiedReadout {
		return &Factors{h, e.targetTable(scope).NodeValue(h), true}
	}
	return &Factors{h, e.Weights.Parameter(scope.At("readout"), "weight", glorot, e.Width, e.TargetVocabulary).NodeValue(h), false}
}

// Logits returns the product, [B, N, V].
func (f *Factors) Logits() *Node {
	o := f.Weights
	if f.Tied {
		o = Transpose(o, 0, 1)
	}
	return matmul(f.States, o) // (eq. 8)
}
