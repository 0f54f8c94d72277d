// Package feed converts batches of ids to tensors and finds the corresponding nodes in a graph. It is the only place where ids and
// tensors meet.
package feed

import (
	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"universal-transformer/internal/batch"
	"universal-transformer/universal"
)

// Integer is the type of tokens and positions in graphs.
const Integer = dtypes.Int32

// Tensors lists the inputs of a graph for a batch: the source, if it has one, the target, and positions [rows, R] if they are not
// nil.
func Tensors(b batch.Batch, positions []int32) []any {
	var list []any
	add := func(ids []int32, length int) {
		if length > 0 {
			list = append(list, tensors.FromFlatDataAndDimensions(ids, b.Rows, length))
		}
	}
	add(b.Source, b.SourceLength)
	add(b.Target, b.TargetLength)
	if positions != nil {
		add(positions, len(positions)/b.Rows)
	}
	return list
}

// Inputs returns the nodes of a graph that correspond to the result of Tensors, and the nodes that follow.
func Inputs(nodes []*Node, source, positions bool) (in universal.Inputs, rest []*Node) {
	take := func() *Node {
		first := nodes[0]
		nodes = nodes[1:]
		return first
	}
	if source {
		in.Source = take()
	}
	in.Target = take()
	if positions {
		in.Positions = take()
	}
	return in, nodes
}
