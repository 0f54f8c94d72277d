package cpu

import (
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
)

// dot adds a product of tensors, in the accumulator type if one is asked for.
func (g *graph) dot(a *dotAttr, dtype dtypes.DType, dims []int, l, r *expr) *expr {
	if acc := a.config.AccumulatorDType; acc != dtypes.InvalidDType {
		l, r = g.converted(l, acc), g.converted(r, acc)
	}
	axes := &dotAttr{lhsContract: a.lhsContract, lhsBatch: a.lhsBatch, rhsContract: a.rhsContract, rhsBatch: a.rhsBatch}
	return g.converted(g.add(compute.OpTypeDotGeneral, l.dtype, dims, *axes, l, r), dtype)
}

func (g *graph) converted(x *expr, dtype dtypes.DType) *expr {
	if x.dtype == dtype {
		return x
	}
	if !slices.Contains(nativeDTypes, dtype) {
		panic(unsupported{"DotGeneral with type " + dtype.String()})
	}
	return g.add(compute.OpTypeConvertDType, dtype, x.dims, nil, x)
}

// transposedDot swaps the operands of a product if that is all that the permutation does to its result.
func (g *graph) transposedDot(x *expr, permutation []int) *expr {
	a, ok := x.attr.(dotAttr)
	if !ok || x.op != compute.OpTypeDotGeneral {
		return nil
	}
	batch := len(a.lhsBatch)
	left := len(x.in[0].dims) - batch - len(a.lhsContract)
	right := len(x.dims) - batch - left
	dims := make([]int, len(x.dims))
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
		dims[i] = x.dims[p]
	}
	swapped := dotAttr{lhsContract: a.rhsContract, lhsBatch: a.rhsBatch, rhsContract: a.lhsContract, rhsBatch: a.lhsBatch}
	return g.add(compute.OpTypeDotGeneral, x.dtype, dims, swapped, x.in[1], x.in[0])
}
