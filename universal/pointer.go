package universal

import (
	"fmt"
	"math"

	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
)

// Pointer answers a question about a context with a word of the context (Kadlec et al., "Text Understanding with the Attention Sum
// Reader Network", 2016). A source consists of the context, the token Separator, and the question, whose last position is that of the
// answer:
//
//	a_i  = softmax over positions i of the context of q W h_i / sqrt(d)    with q the state of the last position
//	p(w) = sum of a_i over the positions i of w
//
// so the weights of all occurrences of a word add up, and a word that does not occur has probability 0.
type Pointer struct {
	Config
	Separator int32 // the token after the context
	Evidence  bool  // adds features, such as how often each token occurs in the context; see Embedding.evidence
}

// Forward returns ln p(w) as the logits of one class, [B, 1, V], where V is the vocabulary of the source. It does not read in.Target.
func (m Pointer) Forward(scope *model.Scope, in Inputs, options Options) Result {
	e := m.embedding()
	e.Evidence, e.Separator = m.Evidence, m.Separator
	s := m.newSourceStack(scope, e, in, options)
	s.readout = func(output *Node) *Node {
		return PointerSum(scope, m.weights(), output, s.mask, in.Source, m.Separator, m.TargetVocabulary)
	}
	pass := s.run()
	return Result{Logits: s.readout(pass.State), Encoder: pass, Readouts: s.readouts}
}

// Validate returns an error that names the first invalid field of those that this model reads.
func (m Pointer) Validate() error {
	if m.TiedReadout {
		return fmt.Errorf("tied_readout needs a readout, which a pointer does not have")
	}
	if err := ValidatePointer(m.SourceVocabulary, m.TargetVocabulary, m.TokensPerPosition, m.Separator); err != nil {
		return err
	}
	return m.validateWithSource()
}

// ValidatePointer returns an error unless the answers of a model can be words of its source.
func ValidatePointer(source, target, tokensPerPosition int, separator int32) error {
	switch {
	case source != target:
		return fmt.Errorf("a pointer answers with words of its source, but sources have %d tokens and answers %d: choose a classifier", source, target)
	case tokensPerPosition > 1:
		return fmt.Errorf("a pointer needs one token a position, but tokens_per_position is %d: choose a classifier", tokensPerPosition)
	case separator < 1:
		return fmt.Errorf("a pointer needs sources that consist of a context and a question, unlike those of the task: choose a classifier")
	}
	return nil
}

// notThere is far below the probability of any word of a context. It keeps the logarithms for words that do not occur finite.
const notThere = 1e-20

// PointerSum returns ln p(w) of [Pointer], [B, 1, V], given the states [B, M, D] of the tokens of a source [B, M], where present is true
// at tokens; it reads those before the separator.
func PointerSum(scope *model.Scope, weights Weights, states, present, tokens *Node, separator int32, vocabulary int) *Node {
	width := states.Shape().Dimensions[2]
	w := weights.Parameter(scope.At("pointer"), "weight", glorot, width, width).NodeValue(states)
	query := matmul(Last(states, present), w)                                           // [B, 1, D]
	scores := MulScalar(ReduceSum(Mul(states, query), -1), 1/math.Sqrt(float64(width))) // [B, M]
	mask := Squeeze(KeyMask(before(tokens, separator)), 1, 2)                           // [B, M]
	shares := MaskedSoftmax(scores, mask, -1)                                           // a
	return InsertAxes(Log(AddScalar(sumByToken(shares, tokens, vocabulary), notThere)), 1)
}

// before returns true for tokens [B, M] before the first separator, and for all tokens if there is no separator.
func before(tokens *Node, separator int32) *Node {
	g, length := tokens.Graph(), tokens.Shape().Dimensions[1]
	is := ConvertDType(Equal(tokens, Scalar(g, tokens.DType(), separator)), tokens.DType())
	row, column := Iota(g, shapes.Make(tokens.DType(), length, length), 0), Iota(g, shapes.Make(tokens.DType(), length, length), 1)
	upTo := ConvertDType(LessOrEqual(row, column), tokens.DType()) // [M, M], 1 where the row's index is at most the column's
	passed := ReduceSum(Mul(InsertAxes(is, -1), InsertAxes(upTo, 0)), 1)
	return LogicalAnd(Equal(passed, ZerosLike(passed)), Mask(tokens)) // [B, M]
}

// sumByToken sums the weights of equal tokens: shares [B, M] of tokens [B, M] become [B, V].
func sumByToken(shares, tokens *Node, vocabulary int) *Node {
	g, rows, length := shares.Graph(), shares.Shape().Dimensions[0], shares.Shape().Dimensions[1]
	row := Iota(g, shapes.Make(tokens.DType(), rows, length), 0)
	at := Add(MulScalar(row, vocabulary), tokens) // index in [B*V]
	flat := Scatter(Reshape(at, rows*length, 1), Reshape(shares, rows*length), shapes.Make(shares.DType(), rows*vocabulary), false, false)
	return Reshape(flat, rows, vocabulary)
}
