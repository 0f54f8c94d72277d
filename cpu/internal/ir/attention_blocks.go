package ir

import (
	"slices"
	"strings"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
)

// BlockAttentionName is the beginning of the names of functions that are computed as attention in blocks; see package cpu.
const BlockAttentionName = "attention_in_blocks/"

// A BlockAttention is the form of such a function.
type BlockAttention struct {
	Backward, Causal, Keys, Last, Dropout bool
}

// ParseBlockAttention returns the form of a function, and whether it has the name, the parameters and the results of attention in blocks.
func ParseBlockAttention(f *Function) (form BlockAttention, ok bool) {
	name, ok := strings.CutPrefix(f.Name, BlockAttentionName)
	name, _, _ = strings.Cut(name, "#")
	words := strings.Split(name, ",")
	form.Backward = slices.Contains(words, "backward")
	form.Causal, form.Keys = slices.Contains(words, "causal"), slices.Contains(words, "keys")
	form.Last, form.Dropout = slices.Contains(words, "last"), slices.Contains(words, "dropout")
	if !ok || len(f.Params) < 3 || f.Params[0].Shape.Rank() != 4 || f.Params[1].Shape.Rank() != 4 {
		return form, false
	}
	params, results := form.signature(f.Params[0].Shape, f.Params[1].Shape)
	if form.Causal && f.Params[0].Shape.Dim(1) != f.Params[1].Shape.Dim(1) || form.Causal && (form.Keys || form.Last) || form.Keys && form.Last {
		return form, false
	}
	return form, haveShapes(f.Params, params) && haveShapes(f.Results, results)
}

// signature returns the shapes of parameters and results for those of queries and keys.
func (form BlockAttention) signature(q, k shapes.Shape) (params, results []shapes.Shape) {
	if q.DType != dtypes.Float32 && q.DType != dtypes.Float64 || q.Size() == 0 || k.Size() == 0 {
		return nil, nil
	}
	of := func(dims ...int) shapes.Shape { return shapes.Make(q.DType, dims...) }
	b, m, h, d, n := q.Dim(0), q.Dim(1), q.Dim(2), q.Dim(3), k.Dim(1)
	queries, keys, state := of(b, m, h, d), of(b, n, h, d), of(b, h, m)
	params, results = []shapes.Shape{queries, keys, keys}, []shapes.Shape{queries, state, state}
	if form.Keys {
		params = append(params, shapes.Make(dtypes.Bool, b, n))
	}
	if form.Last {
		params = append(params, shapes.Make(dtypes.Int32, b, m))
	}
	if form.Dropout {
		params = append(params, of(b, m, 2), of(3, h, n), of(4))
	}
	if form.Backward {
		params, results = append(params, queries, state, state, queries), []shapes.Shape{queries, keys, keys}
	}
	return params, results
}

func haveShapes(nodes []*Node, want []shapes.Shape) bool {
	return slices.EqualFunc(nodes, want, func(n *Node, s shapes.Shape) bool { return n.Shape.Equal(s) })
}
