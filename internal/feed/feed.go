// Package feed turns batches of ids into tensors and finds them again as nodes of a graph. It is the only place where ids
// and tensors meet.
package feed

import (
	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"universal-transformer/batch"
	"universal-transformer/universal"
)

// Integer is the type of tokens and positions in graphs.
const Integer = dtypes.Int32

// Positions says where the positions of a batch stand, one number each, in the order of the batch's rectangles.
type Positions struct {
	Source, Target []int32
}

// Tensors lists what a graph reads of a batch: source, if it has one, and target, each followed by its positions if
// positions is not nil.
func Tensors(b batch.Batch, positions *Positions) []any {
	var list []any
	add := func(ids []int32, at func(*Positions) []int32, length, positionsLength int) {
		if length == 0 {
			return
		}
		list = append(list, tensors.FromFlatDataAndDimensions(ids, b.Rows, length))
		if positions != nil {
			list = append(list, tensors.FromFlatDataAndDimensions(at(positions), b.Rows, positionsLength))
		}
	}
	add(b.Source, func(p *Positions) []int32 { return p.Source }, b.SourceLength, b.SourcePositions())
	add(b.Target, func(p *Positions) []int32 { return p.Target }, b.TargetLength, b.TargetLength)
	return list
}

// Inputs finds in the nodes of a graph what Tensors listed, and returns the nodes that follow.
func Inputs(nodes []*Node, source, positions bool) (in universal.Inputs, rest []*Node) {
	take := func() *Node {
		first := nodes[0]
		nodes = nodes[1:]
		return first
	}
	if source {
		in.Source = take()
		if positions {
			in.SourcePositions = take()
		}
	}
	in.Target = take()
	if positions {
		in.TargetPositions = take()
	}
	return in, nodes
}
