// Package backward gives results of a graph gradients that other nodes compute.
package backward

import (
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
)

// With returns x, whose gradients with respect to inputs are those that gradients returns for the gradient dx of x, in the order of inputs. Other
// gradients of x remain: pass StopGradient(x) if there are none. GoMLX only has nodes with a gradient of their own that have one input;
// so each input gets such a node, on which the result depends by a difference of 0.
func With(x *Node, inputs []*Node, gradients func(dx *Node) []*Node) *Node {
	var computed []*Node // set before they are read: the gradient of the result is computed before those of the inputs
	for i, input := range inputs {
		own := IdentityWithCustomGradient(input, func(_, _ *Node) *Node { return computed[i] })
		element := Reshape(Slice(own, slices.Repeat([]SliceAxisSpec{AxisElem(0)}, own.Rank())...))
		x = Add(x, Sub(element, StopGradient(element)))
	}
	return IdentityWithCustomGradient(x, func(_, dx *Node) *Node {
		computed = gradients(dx)
		return dx
	})
}
