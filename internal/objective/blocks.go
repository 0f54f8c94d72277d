package objective

import (
	"fmt"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"universal-transformer/engine"
	"universal-transformer/internal/backward"
	"universal-transformer/universal"
)

// leastWords is the number of words from which on the loss is computed from the factors of the logits: the backend then computes sums over
// the vocabulary and their gradients in blocks of positions and words, which takes less time and memory than logits of all positions.
const leastWords = 2048

// usable returns the factors of logits if the loss is to be computed from them, otherwise nil. The divergence of R-Drop and weights of single
// positions need the logits themselves.
func (o Objective) usable(f *universal.Factors, logits *Node) *universal.Factors {
	weighs := o.Supervision != nil && o.Supervision.weighsPositions()
	if f == nil || o.RDrop > 0 || weighs || logits.Shape().Dimensions[2] < leastWords || engine.CrossEntropyFunction(f.States.Graph().Backend()) == "" {
		return nil
	}
	return f
}

// measureFactors is like Measure for factors of logits. Only Smoothed has a gradient, with respect to both factors.
func measureFactors(f *universal.Factors, target *Node, vocabulary int, smoothing float64, unknown int32) CrossEntropy {
	g, dims := f.States.Graph(), target.Shape().Dimensions // [B, N]
	mask := ConvertDType(NotEqual(target, ScalarZero(g, target.DType())), f.States.DType())
	ofTruth, ofAll := MulScalar(mask, -1.0), ZerosLike(mask) // d Smoothed / d ln p(target), and / d sum over v of ln p(v)
	if smoothing > 0 && vocabulary > 1 {
		rest := smoothing / float64(vocabulary-1)
		ofTruth, ofAll = MulScalar(mask, rest+smoothing-1), MulScalar(mask, -rest)
	}
	rows := Reshape(f.States, -1, f.States.Shape().Dimensions[2]) // [R, D], R = B N
	out := crossEntropyFunction(rows, f).Call(rows, f.Weights, Reshape(target, -1), Reshape(ofTruth, -1), Reshape(ofAll, -1))
	for i := range out {
		out[i] = StopGradient(out[i])
	}
	truth, total, correct := Reshape(out[0], dims...), Reshape(out[1], dims...), Reshape(out[2], dims...)
	p := predictions{
		func() (*Node, func() *Node) { return truth, func() *Node { return Sub(total, truth) } },
		func() *Node { return GreaterThan(correct, ZerosLike(correct)) },
	}
	m := p.measure(target, f.States.DType(), vocabulary, smoothing, unknown)
	m.costs = func() *Node {
		panic(fmt.Errorf("objective: costs of single positions are not computed from factors of logits: a Supervision that reads them must return true from weighsPositions"))
	}
	dStates := Reshape(out[3], f.States.Shape().Dimensions...)
	m.Smoothed = backward.With(StopGradient(m.Smoothed), []*Node{f.States, f.Weights}, func(d *Node) []*Node {
		return []*Node{Mul(dStates, d), Mul(out[4], d)}
	})
	return m
}

// crossEntropyFunction returns a new function that engine.CrossEntropyFunction describes, for states [R, D].
func crossEntropyFunction(rows *Node, f *universal.Factors) *Function {
	layout := "columns"
	if f.Tied {
		layout = "rows"
	}
	name := fmt.Sprintf("%s%s#%d", engine.CrossEntropyFunction(rows.Graph().Backend()), layout, rows.Id())
	perRow := shapes.Make(rows.DType(), rows.Shape().Dimensions[0])
	return NewFunction(rows.Graph(), name, func(g *Graph) []*Node {
		h, w := Parameter(g, "h", rows.Shape()), Parameter(g, "w", f.Weights.Shape())
		target := Parameter(g, "target", shapes.Make(dtypes.Int32, perRow.Dimensions...))
		return wholeCrossEntropy(h, w, f.Tied, target, Parameter(g, "a", perRow), Parameter(g, "b", perRow))
	})
}

// wholeCrossEntropy is the body of the function: the same with whole logits [R, V]. Its scalars are constants of its own, as GoMLX would
// share those of [Scalar] with the rest of the graph, which a function cannot see.
func wholeCrossEntropy(h, w *Node, tied bool, target, a, b *Node) []*Node {
	channels := 0
	if tied {
		channels = 1
	}
	z := DotGeneral(h, []int{1}, nil, w, []int{channels}, nil) // [R, V]
	g, words := z.Graph(), z.Shape().Dimensions[1]
	constant := func(x float64) *Node { return Const(g, shapes.CastAsDType(x, z.DType())) }
	shifted := Sub(z, ReduceAndKeep(z, ReduceMax, -1))
	exp := Exp(shifted)
	sum := ReduceAndKeep(exp, ReduceSum, -1)
	logP, p := Sub(shifted, Log(sum)), Div(exp, sum)
	oneHot := ConvertDType(Equal(InsertAxes(target, -1), Iota(g, shapes.Make(target.DType(), 1, words), 1)), z.DType())
	scale := Add(a, Mul(b, constant(float64(words))))
	dz := Sub(Add(Mul(oneHot, InsertAxes(a, -1)), InsertAxes(b, -1)), Mul(p, InsertAxes(scale, -1)))
	counts := ConvertDType(LogicalOr(NotEqual(a, constant(0)), NotEqual(b, constant(0))), z.DType()) // [R]
	correct := ConvertDType(Equal(Best(z, target.DType()), target), z.DType())
	dh := DotGeneral(dz, []int{1}, nil, w, []int{1 - channels}, nil)
	dw := DotGeneral(h, []int{0}, nil, dz, []int{0}, nil) // [D, V]
	if tied {
		dw = DotGeneral(dz, []int{0}, nil, h, []int{0}, nil)
	}
	truth, total := ReduceSum(Mul(logP, oneHot), -1), ReduceSum(logP, -1)
	return []*Node{Mul(truth, counts), Mul(total, counts), Mul(correct, counts), dh, dw}
}
