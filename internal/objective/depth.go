package objective

import (
	. "github.com/gomlx/gomlx/core/graph"
	"universal-transformer/universal"
)

// Depths holds sums over the real positions of adaptive stacks. With the counts of a [Tally] they tell whether the number of steps varies
// and what the last step contributes.
type Depths struct {
	EncoderSquares, EncoderRemainders float64 // sums of n^2, and of the weights of the last steps
	DecoderSquares, DecoderRemainders float64
}

// DepthsOf returns the sums of one batch that [UnpackDepths] reads. Stacks that are missing or of fixed depth count as 0.
func DepthsOf(result universal.Result) *Node {
	zero := ScalarZero(result.Logits.Graph(), result.Logits.DType())
	sums := []*Node{zero, zero, zero, zero}
	for i, pass := range []*universal.Pass{result.Encoder, result.Decoder} {
		if pass == nil || !pass.Weighted() {
			continue
		}
		sums[2*i] = ReduceAllSum(Mul(pass.Updates, pass.Updates)) // n is 0 at padding
		sums[2*i+1] = ReduceAllSum(Mul(pass.Remainders, ConvertDType(pass.Mask, pass.Remainders.DType())))
	}
	return Stack(sums, 0)
}

// UnpackDepths converts the packed sums of DepthsOf.
func UnpackDepths(v []float32) Depths {
	return Depths{float64(v[0]), float64(v[1]), float64(v[2]), float64(v[3])}
}

// Plus returns the sums of two sets of batches.
func (d Depths) Plus(e Depths) Depths {
	return Depths{
		d.EncoderSquares + e.EncoderSquares, d.EncoderRemainders + e.EncoderRemainders,
		d.DecoderSquares + e.DecoderSquares, d.DecoderRemainders + e.DecoderRemainders,
	}
}
