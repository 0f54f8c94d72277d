package graph

import (
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
)

// Products with the same tensor of which only the sums over rows are needed share a group, which reads the tensor once. A product that is
// also a result has a group of its own, as it would otherwise be computed early and kept. So has a product of other dimensions.
// Caught when planted: no such groups; results among them.
func TestSumsOfProductsWithOneTensorShareAGroup(t *testing.T) {
	const positions, channels, taps = 40, 8, 3
	for _, kept := range []bool{false, true} {
		g := newGraph()
		parameter := func(dims ...int) *Expr { return g.add(compute.OpTypeParameter, dtypes.Float32, dims, nil) }
		v, x := parameter(positions, channels), parameter(positions+taps-1, channels)
		sum := func(a, b *Expr) *Expr {
			product := g.elementwise(compute.OpTypeMul, dtypes.Float32, a.Dims, []*Expr{a, b})
			return g.reduce(compute.OpTypeReduceSum, dtypes.Float32, []int{channels}, []int{0}, product)
		}
		var sums []*Expr
		for tap := range taps {
			window := g.addView(compute.OpTypeSlice, x.View.slice([]int{tap, 0}, v.Dims, []int{1, 1}), tap, x)
			sums = append(sums, sum(v, window))
		}
		g.Results = append(g.Results, sums...)
		if kept {
			g.Results = append(g.Results, sums[taps-1].Operands[0])
		}
		g.Results = append(g.Results, sum(x, parameter(positions+taps-1, channels)))
		for i, r := range g.Results {
			r.Result = i
		}
		g.Prune()
		groups := g.Partition(1)
		want := 2
		if kept {
			want = 3
		}
		if len(groups) != want {
			t.Errorf("kept %v: %d groups, want %d", kept, len(groups), want)
		}
		for tap, s := range sums {
			if own := kept && tap == taps-1; (s.Group != sums[0].Group) != own || s.Kind != KindColumn {
				t.Errorf("kept %v: tap %d has a group of its own: %v, kind %d", kept, tap, s.Group != sums[0].Group, s.Kind)
			}
		}
	}
}
