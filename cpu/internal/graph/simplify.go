package graph

import (
	"reflect"
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"universal-transformer/cpu/internal/ir"
)

// Build rewrites the live operations of a recorded function. Captured values of enclosing functions become parameters after its own.
func Build(f *ir.Function, captured []*ir.Node) *Graph {
	g := newGraph()
	values := make(map[*ir.Node]*Expr)
	for _, n := range slices.Concat(f.Params, captured) {
		e := g.add(compute.OpTypeParameter, n.Shape.DType, n.Shape.Dimensions, nil)
		g.Params = append(g.Params, e)
		values[n] = e
	}
	live := ir.Live(f)
	for _, n := range f.Nodes {
		if live[n] && n.Op != compute.OpTypeParameter && n.Op != ir.OpOutput {
			g.rewrite(n, values)
		}
	}
	for _, n := range f.Results {
		g.Results = append(g.Results, values[n])
	}
	return g
}

// rewrite adds what node n computes and records it in values.
func (g *Graph) rewrite(n *ir.Node, values map[*ir.Node]*Expr) {
	defer ir.Blame(n.Op.String())
	in := make([]*Expr, len(n.Inputs))
	for i, x := range n.Inputs {
		in[i] = values[x]
	}
	if len(n.Outputs) > 0 {
		g.rewriteMulti(n, in, values)
		return
	}
	values[n] = g.rewriteSingle(n, in)
}

func (g *Graph) rewriteMulti(n *ir.Node, in []*Expr, values map[*ir.Node]*Expr) {
	for _, c := range ir.ClosuresOf(n) {
		for _, v := range ir.Captures(c) {
			in = append(in, values[v])
		}
	}
	attention, _ := n.Attr.(*ir.AttentionAttr)
	for i := range in {
		// Attention reads matrices with dense rows. The forward pass also reads keys with dense columns, which occur in caches.
		if attention != nil && i < 3 {
			strides := in[i].View.Strides
			columns := i == 1 && n.Op == compute.OpTypeFusedScaledDotProductAttention && strides[attention.Layout.SeqAxis()] == 1
			if strides[len(strides)-1] == 1 || columns {
				continue
			}
		}
		in[i] = g.dense(in[i])
	}
	e := g.add(n.Op, dtypes.InvalidDType, nil, n.Attr, in...)
	if len(e.Outputs) == 0 {
		for _, o := range n.Outputs {
			out := g.add(ir.OpOutput, o.Shape.DType, o.Shape.Dimensions, nil, e)
			e.Outputs = append(e.Outputs, out)
		}
	}
	for i, o := range n.Outputs {
		values[o] = e.Outputs[i]
	}
}

func (g *Graph) rewriteSingle(n *ir.Node, in []*Expr) *Expr {
	dtype, dims := n.Shape.DType, n.Shape.Dimensions
	switch n.Op {
	case compute.OpTypeIdentity, compute.OpTypeOptimizationBarrier, compute.OpTypeSchedulingBarrier:
		return in[0]
	case compute.OpTypeConstant:
		return g.constant(n.Attr.(*ir.ConstAttr).Flat, dtype, dims...)
	case compute.OpTypeIota:
		return g.addIota(dtype, dims, n.Attr.(int))
	case compute.OpTypeReshape:
		return g.reshape(in[0], dims)
	case compute.OpTypeTranspose:
		return g.transpose(in[0], n.Attr.([]int))
	case compute.OpTypeBroadcastInDim:
		return g.broadcast(in[0], dims, n.Attr.([]int))
	case compute.OpTypeSlice:
		a := n.Attr.(*ir.SliceAttr)
		if slices.Equal(in[0].Dims, dims) {
			return in[0]
		}
		return g.addView(n.Op, in[0].View.slice(a.Starts, dims, a.Strides), a, in[0])
	case compute.OpTypeReverse:
		return g.addView(n.Op, in[0].View.reverse(n.Attr.([]int)), n.Attr, in[0])
	case compute.OpTypeBitcast:
		return g.add(n.Op, dtype, dims, nil, g.dense(in[0]))
	case compute.OpTypeDotGeneral:
		return g.dot(n.Attr.(*ir.DotAttr), dtype, dims, in[0], in[1])
	}
	if isElementwise(n.Op) {
		return g.elementwise(n.Op, dtype, dims, in)
	}
	if _, ok := ir.ReduceOps[n.Op]; ok {
		return g.reduce(n.Op, dtype, dims, n.Attr.([]int), in[0])
	}
	for i := range in {
		in[i] = g.dense(in[i])
	}
	return g.add(n.Op, dtype, dims, n.Attr, in...)
}

// isElementwise reports whether element i of the result depends only on elements i of the operands.
func isElementwise(op compute.OpType) bool {
	return ir.UnaryMethods[op] != nil || ir.BinaryMethods[op] != nil ||
		op == compute.OpTypeWhere || op == compute.OpTypeConvertDType || op == OpCopy
}

// elementwise adds an operation on operands of equal dimensions. It omits operations that change nothing.
func (g *Graph) elementwise(op compute.OpType, dtype dtypes.DType, dims []int, in []*Expr) *Expr {
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
		// Commutative operations have constants and smaller ids second, so that equal pairs are recognized.
		_, constant := in[0].scalar()
		if _, both := in[1].scalar(); !both && (constant || in[0].ID > in[1].ID) {
			in[0], in[1] = in[1], in[0]
		}
	}
	return g.add(op, dtype, dims, nil, in...)
}

// addIota adds one row of numbers, repeated.
func (g *Graph) addIota(dtype dtypes.DType, dims []int, axis int) *Expr {
	row := g.constant(countUp(dtype, dims[axis]), dtype, dims[axis])
	return g.broadcast(row, dims, []int{axis})
}

// countUp returns 0, 1, 2, ... as a slice of the type.
func countUp(dtype dtypes.DType, n int) any {
	flat := dtypes.MakeAnySlice(dtype, n)
	if dtype == dtypes.Bool {
		for i := range n {
			flat.([]bool)[i] = i != 0
		}
		return flat
	}
	values := reflect.ValueOf(flat)
	for i := range n {
		values.Index(i).Set(reflect.ValueOf(i).Convert(dtype.GoType()))
	}
	return flat
}

// reduce adds a reduction over leading or trailing axes. Other axes are moved to the end first.
func (g *Graph) reduce(op compute.OpType, dtype dtypes.DType, dims, axes []int, x *Expr) *Expr {
	var kept, reduced []int // axes other than those of size one
	for a, d := range x.Dims {
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
	attr := ReduceAttr{}
	order := slices.Concat(kept, reduced)
	if len(kept) > 0 && kept[0] > reduced[len(reduced)-1] {
		attr.Leading = true
		order = slices.Concat(reduced, kept)
	}
	for a, d := range x.Dims {
		if d == 1 {
			order = append(order, a)
		}
	}
	squeezed := make([]int, len(kept)+len(reduced))
	attr.Length = 1
	for i := range squeezed {
		squeezed[i] = x.Dims[order[i]]
	}
	for _, a := range reduced {
		attr.Length *= x.Dims[a]
	}
	x = g.reshape(g.transpose(x, order), squeezed)
	return g.reshape(g.add(op, dtype, keptDims(squeezed, attr, len(reduced)), attr, x), dims)
}

// ReduceAttr describes a reduction: how many elements become one, and on which side of the dimensions they are.
type ReduceAttr struct {
	Leading bool
	Length  int
}

func keptDims(dims []int, attr ReduceAttr, reduced int) []int {
	if attr.Leading {
		return dims[reduced:]
	}
	return dims[:len(dims)-reduced]
}
