package cpu

import (
	"github.com/gomlx/compute"
	"universal-transformer/cpu/internal/ir"
)

// Cost returns the number of operations of an execution, which are the multiplications and additions of matrix products and
// convolutions, with one iteration of each loop. It also returns the execution's memory in bytes, without parameters. Callers that do
// not import this package use it through an interface.
func (e *executable) Cost() (operations float64, bytes int) {
	own, _ := e.main.Need()
	return e.operations, own
}

// operationsOf returns the number of operations that the results of a function depend on. Causal attention counts in full.
func operationsOf(f *ir.Function) (sum float64) {
	live := ir.Live(f)
	for _, n := range f.Nodes {
		if !live[n] {
			continue
		}
		for _, g := range ir.ClosuresOf(n) {
			sum += operationsOf(g)
		}
		switch n.Op {
		case compute.OpTypeCall:
			sum += callOperations(n, live)
		case compute.OpTypeDotGeneral:
			sum += 2 * float64(n.Shape.Size()) * contracted(n)
		case compute.OpTypeConvGeneral:
			sum += 2 * float64(n.Shape.Size()) * window(n)
		case compute.OpTypeFusedScaledDotProductAttention:
			sum += attentionForward * attentionProduct(n, n.Attr.(*ir.AttentionAttr).Layout.SeqAxis())
		case compute.OpTypeFusedScaledDotProductAttentionVJP:
			sum += attentionBackward * attentionProduct(n, n.Attr.(*ir.AttentionAttr).Layout.SeqAxis())
		}
	}
	return sum
}

// callOperations returns the number of operations of a call, given the values that results depend on.
func callOperations(n *ir.Node, live map[*ir.Node]bool) float64 {
	f := n.Attr.(*ir.CallAttr).Functions[0]
	if form, ok := ir.ParseBlockAttention(f); ok {
		operations := map[bool]float64{false: attentionForward, true: attentionBackward}[form.Backward]
		return operations * attentionProduct(n, 1)
	}
	if !ir.IsCrossEntropy(f) {
		return operationsOf(f)
	}
	products := 1.0
	if live[n.Outputs[3]] || live[n.Outputs[4]] {
		products = 3
	}
	return products * 2 * float64(n.Inputs[0].Shape.Dim(0)) * float64(n.Inputs[1].Shape.Size())
}

// contracted returns the number of products in the sum for an entry of a matrix product.
func contracted(n *ir.Node) float64 {
	terms := 1.0
	for _, axis := range n.Attr.(*ir.DotAttr).LHSContract {
		terms *= float64(n.Inputs[0].Shape.Dim(axis))
	}
	return terms
}

// window returns the number of products in the sum for an entry of a convolution.
func window(n *ir.Node) float64 {
	kernel, outputs := n.Inputs[1].Shape, n.Attr.(*ir.ConvAttr).Axes.KernelOutputChannels
	return float64(kernel.Size()) / float64(kernel.Dim(outputs))
}

// Operations of attention for each multiplication of a query and a key.
const (
	attentionForward  = 2 * 2 // scores and weighted sums
	attentionBackward = 4 * 2 // gradients of both factors of both products
)

// attentionProduct returns the number of multiplications of queries and keys, over all heads, given the axis of positions.
func attentionProduct(n *ir.Node, seq int) float64 {
	query, key := n.Inputs[0].Shape, n.Inputs[1].Shape
	return float64(query.Size()) * float64(key.Dim(seq))
}
