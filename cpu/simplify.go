package cpu

import (
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
)

// graphOf rewrites the live operations of a recorded function. Captured values of enclosing functions
// become parameters after its own.
func graphOf(f *irFunction, captured []*node) *graph {
	g := newGraph()
	values := make(map[*node]*expr)
	for _, n := range slices.Concat(f.params, captured) {
		e := g.add(compute.OpTypeParameter, n.shape.DType, n.shape.Dimensions, nil)
		e.index = len(g.params)
		g.params = append(g.params, e)
		values[n] = e
	}
	live := liveNodes(f)
	for _, n := range f.nodes {
		if live[n] && n.op != compute.OpTypeParameter && n.op != opOutput {
			g.rewrite(n, values)
		}
	}
	for _, n := range f.results {
		g.results = append(g.results, values[n])
	}
	return g
}

// rewrite adds what node n computes and notes it in values.
func (g *graph) rewrite(n *node, values map[*node]*expr) {
	defer blame(n.op.String())
	in := make([]*expr, len(n.inputs))
	for i, x := range n.inputs {
		in[i] = values[x]
	}
	if len(n.outputs) > 0 {
		g.rewriteMulti(n, in, values)
		return
	}
	values[n] = g.rewriteSingle(n, in)
}

func (g *graph) rewriteMulti(n *node, in []*expr, values map[*node]*expr) {
	for _, c := range closuresOf(n) {
		for _, v := range captures(c) {
			in = append(in, values[v])
		}
	}
	attention, _ := n.attr.(*attentionAttr)
	for i := range in {
		// Attention reads matrices whose rows are dense, forward also keys whose columns are: a cache may lie that way.
		if attention != nil && i < 3 {
			strides := in[i].view.strides
			columns := i == 1 && n.op == compute.OpTypeFusedScaledDotProductAttention && strides[attention.layout.SeqAxis()] == 1
			if strides[len(strides)-1] == 1 || columns {
				continue
			}
		}
		in[i] = g.dense(in[i])
	}
	e := g.add(n.op, dtypes.InvalidDType, nil, n.attr, in...)
	if len(e.outs) == 0 {
		for i, o := range n.outputs {
			out := g.add(opOutput, o.shape.DType, o.shape.Dimensions, nil, e)
			out.index = i
			e.outs = append(e.outs, out)
		}
	}
	for i, o := range n.outputs {
		values[o] = e.outs[i]
	}
}

func (g *graph) rewriteSingle(n *node, in []*expr) *expr {
	dtype, dims := n.shape.DType, n.shape.Dimensions
	switch n.op {
	case compute.OpTypeIdentity, compute.OpTypeOptimizationBarrier, compute.OpTypeSchedulingBarrier:
		return in[0]
	case compute.OpTypeConstant:
		return g.constant(n.attr.(*constAttr).flat, dtype, dims...)
	case compute.OpTypeIota:
		return g.iota(dtype, dims, n.attr.(int))
	case compute.OpTypeReshape:
		return g.reshape(in[0], dims)
	case compute.OpTypeTranspose:
		return g.transpose(in[0], n.attr.([]int))
	case compute.OpTypeBroadcastInDim:
		return g.broadcast(in[0], dims, n.attr.([]int))
	case compute.OpTypeSlice:
		a := n.attr.(*sliceAttr)
		if slices.Equal(in[0].dims, dims) {
			return in[0]
		}
		return g.addView(n.op, in[0].view.slice(a.starts, dims, a.strides), a, in[0])
	case compute.OpTypeReverse:
		return g.addView(n.op, in[0].view.reverse(n.attr.([]int)), n.attr, in[0])
	case compute.OpTypeBitcast:
		return g.add(n.op, dtype, dims, nil, g.dense(in[0]))
	case compute.OpTypeDotGeneral:
		return g.dot(n.attr.(*dotAttr), dtype, dims, in[0], in[1])
	}
	if isElementwise(n.op) {
		return g.elementwise(n.op, dtype, dims, in)
	}
	if _, ok := reduceOps[n.op]; ok {
		return g.reduce(n.op, dtype, dims, n.attr.([]int), in[0])
	}
	for i := range in {
		in[i] = g.dense(in[i])
	}
	return g.add(n.op, dtype, dims, n.attr, in...)
}

// isElementwise tells whether element i of the result depends on elements i of the operands only.
func isElementwise(op compute.OpType) bool {
	return unaryMethods[op] != nil || binaryMethods[op] != nil ||
		op == compute.OpTypeWhere || op == compute.OpTypeConvertDType || op == opCopy
}

// elementwise adds an operation on operands made equal in dimensions, without those that change nothing.
func (g *graph) elementwise(op compute.OpType, dtype dtypes.DType, dims []int, in []*expr) *expr {
	for i := range in {
		in[i] = g.broadcastTo(in[i], dims)
	}
	if op == compute.OpTypeMul {
		if one, ok := in[0].scalar(); ok && one == 1 {
			return in[1]
		}
	}
	if op == compute.OpTypeMul || op == compute.OpTypeDiv {
		if one, ok := in[1].scalar(); ok && one == 1 {
			return in[0]
		}
	}
	if op == compute.OpTypeSub {
		if zero, ok := in[1].scalar(); ok && zero == 0 {
			return in[0]
		}
	}
	if op == compute.OpTypeAdd || op == compute.OpTypeMul {
		// Commutative: constants and smaller ids second, so that equal pairs meet.
		_, constant := in[0].scalar()
		if _, both := in[1].scalar(); !both && (constant || in[0].id > in[1].id) {
			in[0], in[1] = in[1], in[0]
		}
	}
	return g.add(op, dtype, dims, nil, in...)
}

// iota is one row of numbers, repeated.
func (g *graph) iota(dtype dtypes.DType, dims []int, axis int) *expr {
	row := g.constant(countUp(dtype, dims[axis]), dtype, dims[axis])
	return g.broadcast(row, dims, []int{axis})
}

// reduce adds a reduction over leading or trailing axes; any other set of axes is moved to the end first.
func (g *graph) reduce(op compute.OpType, dtype dtypes.DType, dims, axes []int, x *expr) *expr {
	var kept, reduced []int // axes; those of size one do not matter
	for a, d := range x.dims {
		switch {
		case d == 1:
		case slices.Contains(axes, a):
			reduced = append(reduced, a)
		default:
			kept = append(kept, a)
		}
	}
	if len(reduced) == 0 {
		return g.reshape(x, dims)
	}
	attr := reduceAttr{}
	order := slices.Concat(kept, reduced)
	if len(kept) > 0 && kept[0] > reduced[len(reduced)-1] {
		attr.leading = true
		order = slices.Concat(reduced, kept)
	}
	for a, d := range x.dims {
		if d == 1 {
			order = append(order, a)
		}
	}
	squeezed := make([]int, len(kept)+len(reduced))
	attr.length = 1
	for i := range squeezed {
		squeezed[i] = x.dims[order[i]]
	}
	for _, a := range reduced {
		attr.length *= x.dims[a]
	}
	x = g.reshape(g.transpose(x, order), squeezed)
	return g.reshape(g.add(op, dtype, keptDims(squeezed, attr, len(reduced)), attr, x), dims)
}

// reduceAttr of a reduction: how many elements become one, and on which side of the dimensions they are.
type reduceAttr struct {
	leading bool
	length  int
}

func keptDims(dims []int, attr reduceAttr, reduced int) []int {
	if attr.leading {
		return dims[reduced:]
	}
	return dims[:len(dims)-reduced]
}
