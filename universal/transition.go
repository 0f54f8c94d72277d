package universal

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/layers"
	"github.com/gomlx/gomlx/ml/model"
)

// Transition revises each position after attention; its weights are shared by all positions and steps. Its
// implementations are [FeedForward] and [SeparableConvolution].
type Transition interface {
	// Apply maps x [B, M, D] to [B, M, D]. Of a positionwise one, x may hold some positions only.
	Apply(scope *model.Scope, x *Node, line Line) *Node
	// Positionwise tells whether what becomes of a position depends on that position alone. Only then can some be left out.
	Positionwise() bool
	// Validate names the first field that makes no sense, its value, and what would.
	Validate() error
}

// Line is what a transition knows about the sequence that it works on.
type Line struct {
	Mask    *Node   // [B, M] bool, true at real positions
	Causal  bool    // a position may depend on itself and those before it only
	Dropout float64 // rate for the inner activations, in training
	Weights Weights // makes the transition's parameters
}

// FeedForward is two affine maps around a rectified linear unit, position by position.
type FeedForward struct {
	Filter int `json:"filter"` // F, channels in between
}

// Apply computes max(0, x inner + b) outer + b'.
func (f FeedForward) Apply(scope *model.Scope, x *Node, line Line) *Node {
	inner := rectify(line.Weights.Affine(scope.At("inner"), "weight", x, f.Filter))
	inner = layers.DropoutStatic(scope, inner, line.Dropout)
	return line.Weights.Affine(scope.At("outer"), "weight", inner, x.Shape().Dimensions[2])
}

// Positionwise is true.
func (FeedForward) Positionwise() bool { return true }

// Validate rejects a filter below 1.
func (f FeedForward) Validate() error {
	if f.Filter < 1 {
		return fmt.Errorf("model.transition.filter is %d: it must be positive", f.Filter)
	}
	return nil
}

// SeparableConvolution is two depthwise-separable convolutions over positions with a rectified linear unit in between
// (Chollet, 2016; Kaiser et al., 2017), of widths 3 and 5 as in the authors' code. Encoders look both ways and see zeros
// at padding; decoders look back only.
type SeparableConvolution struct {
	Filter int `json:"filter"` // F, channels in between
}

// Widths of the two convolutions.
const (
	firstWidth  = 3
	secondWidth = 5
)

// Apply convolves D channels to F, rectifies, and convolves back to D.
func (f SeparableConvolution) Apply(scope *model.Scope, x *Node, line Line) *Node {
	inner := rectify(separable(scope.At("first"), x, line, firstWidth, f.Filter))
	inner = layers.DropoutStatic(scope, inner, line.Dropout)
	return separable(scope.At("second"), inner, line, secondWidth, x.Shape().Dimensions[2])
}

// Positionwise is false: a convolution sees neighbours.
func (SeparableConvolution) Positionwise() bool { return false }

// Validate rejects a filter below 1.
func (f SeparableConvolution) Validate() error { return FeedForward(f).Validate() }

// separable is a depthwise convolution over positions, one kernel of the given width a channel, and a pointwise affine map.
func separable(scope *model.Scope, x *Node, line Line, width, channels int) *Node {
	left := (width - 1) / 2
	if line.Causal {
		left = width - 1
	} else {
		x = Mul(x, InsertAxes(ConvertDType(line.Mask, x.DType()), -1))
	}
	kernel := line.Weights.parameter(scope, "depthwise", depthwise, width, x.Shape().Dimensions[2]).NodeValue(x)
	return line.Weights.Affine(scope, "pointwise", depthwiseConvolution(x, kernel, left), channels)
}

// depthwiseConvolution computes y_i = sum over r of kernel_r * x_{i + r - left}, channel by channel, with zeros beyond
// the ends. x: [B, M, C]; kernel: [width, C]
func depthwiseConvolution(x, kernel *Node, left int) *Node {
	width, length := kernel.Shape().Dimensions[0], x.Shape().Dimensions[1]
	padded := GrowRight(GrowLeft(x, 1, left, 0), 1, width-1-left, 0)
	var y *Node
	for r := range width {
		window := SliceAxis(padded, 1, AxisRange(r, r+length))
		term := Mul(window, expandTo(Slice(kernel, AxisElem(r)), x))
		if y == nil {
			y = term
		} else {
			y = Add(y, term)
		}
	}
	return y
}

func rectify(x *Node) *Node { return MaxScalar(x, 0.0) }
