package universal

import (
	"fmt"

	"github.com/gomlx/compute"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
)

// A Transition revises each position after attention. Its weights are shared by all positions and steps. The implementations are
// [FeedForward] and [SeparableConvolution].
type Transition interface {
	// Apply maps x [B, M, D] to [B, M, D]. x may hold selected positions only, [1, A, D]. If positions depend on others, it then gets
	// them from c.Neighbours.
	Apply(scope *model.Scope, x *Node, c TransitionContext) *Node
	// CacheWindows lists the windows of earlier positions that a position depends on in a causal stack of D channels, in the order in
	// which Apply calls c.Previous. It is empty if a position depends only on itself. In an encoder, half of the positions of each
	// window may be later ones, the larger half if their number is odd.
	CacheWindows(width int) []Window
	// Validate returns an error that names the first invalid field, its value, and valid values.
	Validate() error
}

// TransitionContext holds what a transition knows about the sequence besides its input.
type TransitionContext struct {
	Mask    *Node   // [B, M] bool, true at real positions
	Causal  bool    // a position may depend only on itself and earlier ones
	Weights Weights // makes the transition's parameters

	Drop func(x *Node) *Node // dropout of the inner activations x [B, M, ...]; may be nil

	// Previous prepends a window of earlier positions to x. It is nil unless a causal stack computes only its newest positions.
	Previous func(x *Node) *Node

	// Neighbours returns x of the positions from before to after places away, as halting.Selection.Neighbours does. It is nil unless x
	// holds selected positions only.
	Neighbours func(x *Node, before, after int) []*Node
}

func (c TransitionContext) drop(x *Node) *Node {
	if c.Drop == nil {
		return x
	}
	return c.Drop(x)
}

// A Window is a number of positions with a number of channels.
type Window struct{ Positions, Channels int }

// FeedForward is two affine maps with a rectified linear unit in between, applied to each position.
type FeedForward struct {
	Filter int `json:"filter"` // F, inner channels
}

// Apply computes max(0, x inner + b) outer + b'.
func (f FeedForward) Apply(scope *model.Scope, x *Node, c TransitionContext) *Node {
	inner := rectify(c.Weights.Affine(scope.At("inner"), "weight", x, f.Filter))
	inner = c.drop(inner)
	return c.Weights.Affine(scope.At("outer"), "weight", inner, x.Shape().Dimensions[2])
}

// CacheWindows returns nil: a position depends only on itself.
func (f FeedForward) CacheWindows(int) []Window { return nil }

// Validate returns an error if the filter is out of range.
func (f FeedForward) Validate() error {
	if f.Filter < 1 {
		return fmt.Errorf("filter is %d: it must be positive", f.Filter)
	}
	if f.Filter > maxChannels {
		return fmt.Errorf("filter is %d: it must be at most %d", f.Filter, maxChannels)
	}
	return nil
}

// SeparableConvolution is two depthwise-separable convolutions over positions with a rectified linear unit in between (Chollet, 2016;
// Kaiser et al., 2017). An encoder's windows are centred and hold zeros at padding; a decoder's windows end at the position itself.
// Initial kernels are near one at the position itself and near zero elsewhere, so that the layer initially acts as the feed-forward
// one. With random kernels, models memorised neighbouring tokens before attention learned anything (docs/log.md, 2026-11-21).
type SeparableConvolution struct {
	Filter int    `json:"filter"`          // F, inner channels
	Widths [2]int `json:"widths,omitzero"` // number of positions in the window of each convolution; 0 means 3 and 5, as in the authors' code
}

// WindowWidths returns the number of positions in the window of each convolution, including the position itself.
func (f SeparableConvolution) WindowWidths() [2]int {
	if f.Widths == [2]int{} {
		return [2]int{3, 5}
	}
	return f.Widths
}

// Apply convolves D channels to F, rectifies, and convolves back to D.
func (f SeparableConvolution) Apply(scope *model.Scope, x *Node, c TransitionContext) *Node {
	widths := f.WindowWidths()
	inner := rectify(separable(scope.At("first"), x, c, widths[0], f.Filter))
	inner = c.drop(inner)
	return separable(scope.At("second"), inner, c, widths[1], x.Shape().Dimensions[2])
}

// CacheWindows returns the window of each of the two convolutions without the position itself.
func (f SeparableConvolution) CacheWindows(width int) (windows []Window) {
	for i, channels := range []int{width, f.Filter} {
		if w := f.WindowWidths()[i]; w > 1 {
			windows = append(windows, Window{w - 1, channels})
		}
	}
	return windows
}

// Validate returns an error if the filter or a width is out of range.
func (f SeparableConvolution) Validate() error {
	for _, w := range f.WindowWidths() {
		if w < 1 || w > 99 {
			return fmt.Errorf("widths has %d: each must be from 1 to 99", w)
		}
	}
	return FeedForward{Filter: f.Filter}.Validate()
}

// separable is a depthwise convolution over positions, with one kernel of the given width per channel, and a pointwise affine map.
func separable(scope *model.Scope, x *Node, c TransitionContext, width, channels int) *Node {
	own := width - 1 // index of the position itself in its window
	if !c.Causal && c.Previous == nil && width > 1 {
		own = (width - 1) / 2
		if c.Neighbours == nil { // which have no padding
			x = Mul(x, InsertAxes(ConvertDType(c.Mask, x.DType()), -1))
		}
	}
	kernel := c.Weights.Parameter(scope, "depthwise", nearIdentity(own), width, x.Shape().Dimensions[2]).NodeValue(x)
	var y *Node
	switch {
	case width == 1:
		y = weighted([]*Node{x}, kernel)
	case c.Previous != nil:
		y = weighted(windows(c.Previous(x), width), kernel)
	case c.Neighbours != nil:
		y = depthwiseConvolution(x, kernel, own, c.Neighbours)
	default:
		y = depthwiseConvolution(x, kernel, own, neighbours)
	}
	return c.Weights.Affine(scope, "pointwise", y, channels)
}

// depthwiseConvolution computes y_i = sum over r of kernel_r * x_{i+r-own} for each channel, with zeros where there is no position. x,
// y: [B, M, C]; kernel: [width, C]. around returns the positions from before to after places away.
//
// The gradient of x is also such a convolution, of the gradient v of y with the reversed kernel:
//
//	dx_j = sum over r of kernel_r * v_{j-r+own}
//
// It is attached to a term that is always zero: differentiating the windows one by one would pad and add one tensor each, which takes
// more time.
func depthwiseConvolution(x, kernel *Node, own int, around func(x *Node, before, after int) []*Node) *Node {
	after := kernel.Shape().Dimensions[0] - 1 - own
	y := weighted(around(StopGradient(x), own, after), kernel)
	carrier := IdentityWithCustomGradient(x, func(_, v *Node) *Node { return weighted(around(v, after, own), Reverse(kernel, 0)) })
	return Add(y, Sub(carrier, StopGradient(x)))
}

// neighbours returns x [B, M, C] of the positions from before to after places away, with zeros beyond the ends.
func neighbours(x *Node, before, after int) []*Node {
	return windows(surround(x, before, after), before+after+1)
}

// surround inserts zeros before and after the positions of x [B, M, C].
func surround(x *Node, before, after int) *Node {
	if !x.Graph().Backend().Capabilities().Operations[compute.OpTypePad] {
		return surroundByConcatenating(x, before, after)
	}
	return Pad(x, ScalarZero(x.Graph(), x.DType()), compute.PadAxis{}, compute.PadAxis{Start: before, End: after})
}

// surroundByConcatenating is surround for backends that cannot pad.
func surroundByConcatenating(x *Node, before, after int) *Node {
	parts := []*Node{x}
	zeros := func(positions int) *Node {
		shape := x.Shape().Clone()
		shape.Dimensions[1] = positions
		return Zeros(x.Graph(), shape)
	}
	if before > 0 {
		parts = append([]*Node{zeros(before)}, parts...)
	}
	if after > 0 {
		parts = append(parts, zeros(after))
	}
	return Concatenate(parts, 1)
}

// windows returns x [B, M + width - 1, C], which includes positions beyond the ends, from each of the first width positions: a list of
// [B, M, C].
func windows(x *Node, width int) (list []*Node) {
	length := x.Shape().Dimensions[1] - width + 1
	for r := range width {
		list = append(list, SliceAxis(x, 1, AxisRange(r, r+length)))
	}
	return list
}

// weighted computes y = sum over r of kernel_r * list_r for each channel. list: [B, M, C] each; kernel: [width, C]
func weighted(list []*Node, kernel *Node) (y *Node) {
	for r, x := range list {
		term := Mul(x, expandTo(Slice(kernel, AxisElem(r)), x))
		if y == nil {
			y = term
		} else {
			y = Add(y, term)
		}
	}
	return y
}

func rectify(x *Node) *Node { return MaxScalar(x, 0.0) }
