package universal

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
)

// Transition revises each position after attention; its weights are shared by all positions and steps. Its
// implementations are [FeedForward] and [SeparableConvolution].
type Transition interface {
	// Apply maps x [B, M, D] to [B, M, D]. Where LooksBack is empty, x may hold some positions only.
	Apply(scope *model.Scope, x *Node, line Line) *Node
	// LooksBack lists how many positions before its own a position depends on in a causal stack of D channels, and in how
	// many channels: an entry for each call of line.Before, in their order. Empty if it depends on itself alone.
	LooksBack(width int) []Window
	// Validate names the first field that makes no sense, its value, and what would.
	Validate() error
}

// Line is what a transition knows about the sequence that it works on.
type Line struct {
	Mask    *Node   // [B, M] bool, true at real positions
	Causal  bool    // a position may depend on itself and those before it only
	Weights Weights // makes the transition's parameters

	Drop func(x *Node) *Node // dropout of the inner activations x [B, M, ...]; nil: none

	// Before puts the positions before x in front of it, as many as LooksBack says. It is set where a causal stack sees only
	// its newest positions, nil where it sees all.
	Before func(x *Node) *Node
}

func (l Line) drop(x *Node) *Node {
	if l.Drop == nil {
		return x
	}
	return l.Drop(x)
}

// Window is some positions of some channels.
type Window struct{ Positions, Channels int }

// FeedForward is two affine maps around a rectified linear unit, position by position.
type FeedForward struct {
	Filter int `json:"filter"` // F, channels in between
}

// Apply computes max(0, x inner + b) outer + b'.
func (f FeedForward) Apply(scope *model.Scope, x *Node, line Line) *Node {
	inner := rectify(line.Weights.Affine(scope.At("inner"), "weight", x, f.Filter))
	inner = line.drop(inner)
	return line.Weights.Affine(scope.At("outer"), "weight", inner, x.Shape().Dimensions[2])
}

// LooksBack is empty: positions do not meet here.
func (f FeedForward) LooksBack(int) []Window { return nil }

// Validate rejects a filter below 1.
func (f FeedForward) Validate() error {
	if f.Filter < 1 {
		return fmt.Errorf("filter is %d: it must be positive", f.Filter)
	}
	return nil
}

// SeparableConvolution is two depthwise-separable convolutions over positions with a rectified linear unit in between
// (Chollet, 2016; Kaiser et al., 2017). Encoders look both ways and see zeros at padding; decoders look back only. Kernels start
// as little more than the position itself, so that the layer starts as the feed-forward one: with kernels at random, neighbours
// are learned by heart before attention learns anything (LOG.md).
type SeparableConvolution struct {
	Filter int    `json:"filter"`          // F, channels in between
	Widths [2]int `json:"widths,omitzero"` // positions that each of the two sees; none given: 3 and 5, as in the authors' code
}

// widths is how many positions each of the two convolutions sees, its own included.
func (f SeparableConvolution) widths() [2]int {
	if f.Widths == [2]int{} {
		return [2]int{3, 5}
	}
	return f.Widths
}

// Apply convolves D channels to F, rectifies, and convolves back to D.
func (f SeparableConvolution) Apply(scope *model.Scope, x *Node, line Line) *Node {
	widths := f.widths()
	inner := rectify(separable(scope.At("first"), x, line, widths[0], f.Filter))
	inner = line.drop(inner)
	return separable(scope.At("second"), inner, line, widths[1], x.Shape().Dimensions[2])
}

// LooksBack is what each of the two convolutions sees besides a position itself.
func (f SeparableConvolution) LooksBack(width int) (windows []Window) {
	for i, channels := range []int{width, f.Filter} {
		if w := f.widths()[i]; w > 1 {
			windows = append(windows, Window{w - 1, channels})
		}
	}
	return windows
}

// Validate rejects a filter below 1, and widths that are not from 1 to 99.
func (f SeparableConvolution) Validate() error {
	for _, w := range f.widths() {
		if w < 1 || w > 99 {
			return fmt.Errorf("widths has %d: each must be from 1 to 99", w)
		}
	}
	return FeedForward{Filter: f.Filter}.Validate()
}

// separable is a depthwise convolution over positions, one kernel of the given width a channel, and a pointwise affine map.
func separable(scope *model.Scope, x *Node, line Line, width, channels int) *Node {
	own := width - 1 // where a window has the position itself
	switch {
	case width == 1: // nobody else is seen
	case line.Before != nil:
		x = line.Before(x)
	case line.Causal:
		x = GrowLeft(x, 1, width-1, 0)
	default:
		x = Mul(x, InsertAxes(ConvertDType(line.Mask, x.DType()), -1))
		own = (width - 1) / 2
		x = GrowRight(GrowLeft(x, 1, own, 0), 1, width-1-own, 0)
	}
	kernel := line.Weights.parameter(scope, "depthwise", tap(own), width, x.Shape().Dimensions[2]).NodeValue(x)
	return line.Weights.Affine(scope, "pointwise", depthwiseConvolution(x, kernel), channels)
}

// depthwiseConvolution computes y_i = sum over r of kernel_r * x_{i+r}, channel by channel.
// x: [B, M + width - 1, C], the positions beyond the ends included; kernel: [width, C]; y: [B, M, C]
func depthwiseConvolution(x, kernel *Node) *Node {
	width := kernel.Shape().Dimensions[0]
	length := x.Shape().Dimensions[1] - width + 1
	var y *Node
	for r := range width {
		window := SliceAxis(x, 1, AxisRange(r, r+length))
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
