package objective

import (
	"fmt"
	"math"

	. "github.com/gomlx/gomlx/core/graph"
	"universal-transformer/universal"
)

// An Objective is what training minimises, without the weight of pondering, which changes during training.
type Objective struct {
	LabelSmoothing float64 `json:"label_smoothing"`  // share of the probability that the other tokens get in targets, such as 0.1; 0: none
	RDrop          float64 `json:"r_drop,omitempty"` // weight of the divergence between two predictions with different dropout, such as 5 (Liang et al., "R-Drop", 2021), which doubles the time of an update because every batch is computed twice; 0: none
	Unknown        int32   `json:"-"`                // target id that never counts as correct; 0: none

	PonderCost  PonderCost  `json:"-"` // cost of the steps of adaptive stacks; nil means Graves
	Supervision Supervision `json:"-"` // which steps must answer; nil: only the last one
}

// Options returns what the loss needs from the model besides logits.
func (o Objective) Options() universal.Options {
	return universal.Options{ReturnReadouts: o.Supervision != nil}
}

// ForValidation returns the objective without R-Drop and the supervision of every step, which only serve training. Its loss is that of
// the answers.
func (o Objective) ForValidation() Objective {
	o.RDrop, o.Supervision = 0, nil
	return o
}

// Of returns, for one batch, the loss and the tally that [Unpack] reads. The loss is the smoothed cross entropy per real token plus
// ponderWeight (a scalar) times the ponder cost of every adaptive stack. With Supervision, the cross entropy is that of the answers after
// every step; the tally is always that of the last one. The result must be that of a model run with [Objective.Options]. With RDrop, rows
// 2i and 2i+1 of the batch must be the same example ([batch.Batch.Twice]) at the same positions, so that the two differ in dropout only, and
// in depth under [halting.Random], which draws a depth per row. The loss is then half of equation 4 of R-Drop, with its alpha:
//
//	L = mean of -log p and -log q  +  alpha/4 (KL(p||q) + KL(q||p))
func (o Objective) Of(result universal.Result, target, ponderWeight *Node) (loss, tally *Node) {
	return o.OfPart(result, target, ponderWeight, Share{})
}

// A Share is the part that one of several batches has in an update, relative to the mean: for B batches with n_b target tokens,
// B n_b / sum of n, and the same for source positions. Both are scalars; nil means 1.
type Share struct{ Targets, Sources *Node }

// shareOf multiplies a mean by a share.
func shareOf(mean, share *Node) *Node {
	if share == nil {
		return mean
	}
	return Mul(share, mean)
}

// OfPart is like Of for one of several batches of an update. The mean over the batches of the losses is the loss of all of them as one
// batch: each mean over target tokens or source positions counts as often as the batch has them.
func (o Objective) OfPart(result universal.Result, target, ponderWeight *Node, share Share) (loss, tally *Node) {
	m, loss := o.crossEntropy(result, target)
	if o.RDrop > 0 {
		loss = Add(loss, MulScalar(Divergence(result.Logits, target), o.RDrop/4))
	}
	loss = shareOf(loss, share.Targets)
	sums := []*Node{m.Nats, m.Tokens, m.CorrectTokens, m.Sequences, m.CorrectSequences}
	for i, pass := range []*universal.Pass{result.Encoder, result.Decoder} {
		if pass == nil {
			sums = append(sums, ZerosLike(m.Nats), ZerosLike(m.Nats))
			continue
		}
		sums = append(sums, ReduceAllSum(pass.Updates), ReduceAllSum(ConvertDType(pass.Mask, m.Nats.DType())))
		if pass.Weighted() {
			ponder := shareOf(o.ponderCost().Of(pass), []*Node{share.Sources, share.Targets}[i])
			loss = Add(loss, Mul(ponderWeight, ponder))
		}
	}
	return loss, Stack(append(append([]*Node{loss}, sums...), m.Smoothed), 0)
}

func (o Objective) ponderCost() PonderCost {
	if o.PonderCost == nil {
		return Graves{}
	}
	return o.PonderCost
}

// crossEntropy compares the answer with target, and returns the mean cross entropy to minimize: of the answer, or of those that are supervised.
func (o Objective) crossEntropy(result universal.Result, target *Node) (answer CrossEntropy, loss *Node) {
	if o.Supervision == nil {
		answer = o.measure(result.Logits, result.Factors, target)
		return answer, answer.Mean()
	}
	if len(result.Readouts) == 0 {
		panic(fmt.Errorf("objective: the model has no readouts of steps to supervise"))
	}
	var steps []CrossEntropy
	for t, logits := range result.Readouts {
		var factors *universal.Factors
		if len(result.ReadoutFactors) > 0 {
			factors = result.ReadoutFactors[t]
		}
		steps = append(steps, o.measure(logits, factors, target))
	}
	return steps[len(steps)-1], o.Supervision.loss(steps, result) // the readout after the last step is the answer
}

// measure compares logits with target. Logits that nothing else uses are not computed if the loss needs only their factors, which may be nil.
func (o Objective) measure(logits *Node, factors *universal.Factors, target *Node) CrossEntropy {
	if f := o.usable(factors, logits); f != nil {
		return measureFactors(f, target, logits.Shape().Dimensions[2], o.LabelSmoothing, o.Unknown)
	}
	return Measure(logits, target, o.LabelSmoothing, o.Unknown)
}

// A Tally holds sums over the real tokens and positions of batches.
type Tally struct {
	Loss                             float64 // sum over batches of the loss
	Batches                          float64
	Nats                             float64 // cross entropy, without smoothing
	Tokens, CorrectTokens            float64
	Sequences, CorrectSequences      float64
	EncoderUpdates, EncoderPositions float64 // sum of n over real positions, and number of these positions
	DecoderUpdates, DecoderPositions float64
	Smoothed                         float64 // cross entropy with smoothed targets, minus their entropy; equals Nats without smoothing
}

// Unpack converts the packed tally of Objective.Of.
func Unpack(v []float32) Tally {
	f := func(i int) float64 { return float64(v[i]) }
	return Tally{Loss: f(0), Batches: 1, Nats: f(1), Tokens: f(2), CorrectTokens: f(3), Sequences: f(4), CorrectSequences: f(5),
		EncoderUpdates: f(6), EncoderPositions: f(7), DecoderUpdates: f(8), DecoderPositions: f(9), Smoothed: f(10)}
}

// Plus returns the sum of two tallies.
func (t Tally) Plus(u Tally) Tally {
	return Tally{t.Loss + u.Loss, t.Batches + u.Batches, t.Nats + u.Nats, t.Tokens + u.Tokens, t.CorrectTokens + u.CorrectTokens,
		t.Sequences + u.Sequences, t.CorrectSequences + u.CorrectSequences, t.EncoderUpdates + u.EncoderUpdates,
		t.EncoderPositions + u.EncoderPositions, t.DecoderUpdates + u.DecoderUpdates, t.DecoderPositions + u.DecoderPositions,
		t.Smoothed + u.Smoothed}
}

// Finite reports whether all fields are finite numbers.
func (t Tally) Finite() bool {
	sum := t.Loss + t.Batches + t.Nats + t.Tokens + t.CorrectTokens + t.Sequences + t.CorrectSequences +
		t.EncoderUpdates + t.EncoderPositions + t.DecoderUpdates + t.DecoderPositions + t.Smoothed
	return !math.IsNaN(sum) && !math.IsInf(sum, 0)
}

// Means of a tally; 0 if nothing was counted.
func (t Tally) MeanLoss() float64         { return ratio(t.Loss, t.Batches) }
func (t Tally) CrossEntropy() float64     { return ratio(t.Nats, t.Tokens) }     // nats per token
func (t Tally) SmoothedEntropy() float64  { return ratio(t.Smoothed, t.Tokens) } // nats per token
func (t Tally) TokenAccuracy() float64    { return ratio(t.CorrectTokens, t.Tokens) }
func (t Tally) SequenceAccuracy() float64 { return ratio(t.CorrectSequences, t.Sequences) }
func (t Tally) EncoderPonder() float64    { return ratio(t.EncoderUpdates, t.EncoderPositions) } // steps per position
func (t Tally) DecoderPonder() float64    { return ratio(t.DecoderUpdates, t.DecoderPositions) }

// Ponder returns the mean number of steps over the positions of both stacks.
func (t Tally) Ponder() float64 {
	return ratio(t.EncoderUpdates+t.DecoderUpdates, t.EncoderPositions+t.DecoderPositions)
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
