package graph

import (
	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"universal-transformer/cpu/internal/ir"
)

// dot adds a product of tensors, in the accumulator type if one is given.
func (g *Graph) dot(a *ir.DotAttr, dtype dtypes.DType, dims []int, l, r *Expr) *Expr {
	if acc := a.Config.AccumulatorDType; acc != dtypes.InvalidDType {
		l, r = g.converted(l, acc), g.converted(r, acc)
	}
	axes := ir.DotAttr{LHSContract: a.LHSContract, LHSBatch: a.LHSBatch, RHSContract: a.RHSContract, RHSBatch: a.RHSBatch}
	return g.converted(g.add(compute.OpTypeDotGeneral, l.DType, dims, axes, l, r), dtype)
}

func (g *Graph) converted(x *Expr, dtype dtypes.DType) *Expr {
	if x.DType == dtype {
		return x
	}
	return g.add(compute.OpTypeConvertDType, dtype, x.Dims, nil, x)
}

// transposedDot swaps the operands of a product if that has the effect of the permutation of its result.
func (g *Graph) transposedDot(x *Expr, permutation []int) *Expr {
	a, ok := x.Attr.(ir.DotAttr)
	if !ok || x.Op != compute.OpTypeDotGeneral {
		return nil
	}
	batch := len(a.LHSBatch)
	left := len(x.Operands[0].Dims) - batch - len(a.LHSContract)
	right := len(x.Dims) - batch - left
	dims := make([]int, len(x.Dims))
	for i, p := range permutation {
		want := i
		if i >= batch {
			want = i + left
			if i >= batch+right {
				want = i - right
			}
		}
		if p != want {
			return nil
		}
		dims[i] = x.Dims[p]
	}
	swapped := ir.DotAttr{LHSContract: a.RHSContract, LHSBatch: a.RHSBatch, RHSContract: a.LHSContract, RHSBatch: a.LHSBatch}
	return g.add(compute.OpTypeDotGeneral, x.DType, dims, swapped, x.Operands[1], x.Operands[0])
}
