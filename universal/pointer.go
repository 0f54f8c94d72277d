package universal

import (
	"fmt"
	"math"

	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
)

// Pointer answers a question about a context with a word of the context (Kadlec et al., "Text Understanding with the Attention Sum
// Reader Network", 2016). A source is the context, the token Separator, and the question, whose last position asks:
//
//	a_i  = softmax over positions i of the context of h_i W q / sqrt(d)    with q the state of the last position
//	p(w) = sum of a_i over the positions i at which w stands
//
// so a word that stands there often has all its places for it, and one that does not has none.
type Pointer struct {
	Config
	Separator int32 // the token behind the context
	Evidence  bool  // tells every position how often its token stands in the context, and more: see Embedding.evidence
}

// Forward gives ln p(w) as the logits of one class, [B, 1, V]: V is the vocabulary of the source. in.Target is not read.
func (m Pointer) Forward(scope *model.Scope, in Inputs, options Options) Result {
	c := m.Config
	c.evidence, c.separator = m.Evidence, m.Separator
	pass := c.encode(scope, in, options)
	return Result{Logits: PointerSum(scope, m.weights(), pass, in.Source, m.Separator, m.TargetVocabulary), Encoder: pass}
}

// Validate checks the fields that this model reads.
func (m Pointer) Validate() error {
	if m.TiedReadout {
		return fmt.Errorf("tied_readout needs a readout, which a pointer has not")
	}
	if err := ValidatePointer(m.SourceVocabulary, m.TargetVocabulary, m.TokensPerPosition, m.Separator); err != nil {
		return err
	}
	return m.validateWithSource()
}

// ValidatePointer names what does not let the answers of a model be words of its source.
func ValidatePointer(source, target, tokensPerPosition int, separator int32) error {
	switch {
	case source != target:
		return fmt.Errorf("a pointer answers with words of its source, but sources have %d tokens and answers %d: choose a classifier", source, target)
	case tokensPerPosition > 1:
		return fmt.Errorf("a pointer needs one token a position, but tokens_per_position is %d: choose a classifier", tokensPerPosition)
	case separator < 1:
		return fmt.Errorf("a pointer needs sources of a context and a question, which those of the task are not: choose a classifier")
	}
	return nil
}

// notThere is far below the probability of any word of a context, and keeps logarithms of words that are not there finite.
const notThere = 1e-20

// PointerSum gives ln p(w) of [Pointer], [B, 1, V], from the states of the tokens of a source [B, M] in front of the separator.
func PointerSum(scope *model.Scope, weights Weights, pass *Pass, tokens *Node, separator int32, vocabulary int) *Node {
	states := pass.State // [B, M, D]
	width := states.Shape().Dimensions[2]
	w := weights.Parameter(scope.At("pointer"), "weight", glorot, width, width).NodeValue(states)
	query := times(Last(states, pass.Mask), w)                                          // [B, 1, D]
	scores := MulScalar(ReduceSum(Mul(states, query), -1), 1/math.Sqrt(float64(width))) // [B, M]
	mask := Squeeze(KeyMask(before(tokens, separator)), 1, 2)                           // [B, M]
	shares := MaskedSoftmax(scores, mask, -1)                                           // a
	return InsertAxes(Log(AddScalar(sumByToken(shares, tokens, vocabulary), notThere)), 1)
}

// before is true at the places of tokens [B, M] in front of the first separator; everywhere where there is none.
func before(tokens *Node, separator int32) *Node {
	g, length := tokens.Graph(), tokens.Shape().Dimensions[1]
	is := ConvertDType(Equal(tokens, Scalar(g, tokens.DType(), separator)), tokens.DType())
	row, column := Iota(g, shapes.Make(tokens.DType(), length, length), 0), Iota(g, shapes.Make(tokens.DType(), length, length), 1)
	upTo := ConvertDType(LessOrEqual(row, column), tokens.DType()) // [M, M], 1 where the row's place is not behind the column's
	passed := ReduceSum(Mul(InsertAxes(is, -1), InsertAxes(upTo, 0)), 1)
	return LogicalAnd(Equal(passed, ZerosLike(passed)), Mask(tokens)) // [B, M]
}

// sumByToken adds up what stands at the places of the same token: shares [B, M] of tokens [B, M] become [B, V].
func sumByToken(shares, tokens *Node, vocabulary int) *Node {
	g, rows, length := shares.Graph(), shares.Shape().Dimensions[0], shares.Shape().Dimensions[1]
	row := Iota(g, shapes.Make(tokens.DType(), rows, length), 0)
	at := Add(MulScalar(row, vocabulary), tokens) // in [B*V]
	flat := Scatter(Reshape(at, rows*length, 1), Reshape(shares, rows*length), shapes.Make(shares.DType(), rows*vocabulary), false, false)
	return Reshape(flat, rows, vocabulary)
}
