package halting

import (
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
)

// A Reach is the number of positions before and after a position that a step of it depends on besides attention: the windows of a
// convolution. Halted positions in the reach of a running one are computed with it. Their states do not change.
type Reach struct{ Before, After int }

// around returns the positions that a step of the running ones depends on, including themselves. running: [B, M, ...] bool
func (r Reach) around(running *Node) *Node {
	if r == (Reach{}) {
		return running
	}
	g, length := running.Graph(), running.Shape().Dimensions[1]
	beyond := func(positions int) *Node {
		shape := shapes.Make(dtypes.Float32, running.Shape().Dimensions...)
		shape.Dimensions[1] = positions
		return Zeros(g, shape)
	}
	parts := []*Node{ConvertDType(running, dtypes.Float32)}
	if r.After > 0 {
		parts = append([]*Node{beyond(r.After)}, parts...)
	}
	if r.Before > 0 {
		parts = append(parts, beyond(r.Before))
	}
	whole := Concatenate(parts, 1)
	count := ZerosLike(ConvertDType(running, dtypes.Float32))
	for offset := range r.After + r.Before + 1 { // position j is in the reach of i if -after <= i - j <= before
		count = Add(count, SliceAxis(whole, 1, AxisRange(offset, offset+length)))
	}
	return GreaterThan(count, ZerosLike(count))
}
