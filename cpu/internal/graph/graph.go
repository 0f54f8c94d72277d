// Package graph optimizes a recorded function. Its input is an ir.Function; its output is groups of operations, in an order in which
// they can run.
//
// Build (simplify.go, dot.go) makes expressions of nodes. Equal operations become one, and operations that only rearrange elements
// become views (view.go): strides that the consumer reads, without a copy. Partition puts element-wise operations and reductions over
// rows, columns or everything into fused groups (fuse.go, fuse_shapes.go, fuse_beside.go), lets a group recompute values that are
// cheaper to compute than to read (recompute.go), and sorts the groups (order.go). The package knows neither memory nor kernels.
package graph

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"universal-transformer/cpu/internal/ir"
)

// An Expr is an expression of the graph being compiled, and its value: recorded nodes after rewriting, with equal ones shared.
// Element-wise operations have operands of exactly their own dimensions, as broadcasting is a view.
type Expr struct {
	ID       int
	Op       compute.OpType
	DType    dtypes.DType
	Dims     []int
	Operands []*Expr
	Attr     any
	Outputs  []*Expr // operations with several outputs
	View     View    // how users read it; its base is the expression itself unless it only rearranges elements
	Group    *Group  // the group that computes it; nil for parameters, constants and views
	Kind     MemberKind
	Users    []*Expr
	Result   int // position among the results that own this memory, or -1
}

// OpCopy copies a view to contiguous memory.
const OpCopy = compute.OpTypeLast + 2

// Name returns the name of the operation.
func (e *Expr) Name() string {
	switch e.Op {
	case OpCopy:
		return "Copy"
	case ir.OpOutput:
		return "Output"
	}
	return e.Op.String()
}

// Size returns the number of elements.
func (e *Expr) Size() int { return Product(e.Dims) }

// Bytes returns the memory of the elements in contiguous storage.
func (e *Expr) Bytes() int { return e.Size() * e.DType.Size() }

// IsLeaf reports whether the memory of e exists before the program runs.
func (e *Expr) IsLeaf() bool {
	return e.Op == compute.OpTypeParameter || e.Op == compute.OpTypeConstant
}

// Graph is a function being compiled.
type Graph struct {
	Exprs   []*Expr // inputs before users
	Params  []*Expr
	Results []*Expr
	unique  map[string]*Expr
}

func newGraph() *Graph {
	return &Graph{unique: make(map[string]*Expr)}
}

// add returns a new expression, or an existing one that computes the same. Operations with several outputs, and those that run other
// functions, are never shared.
func (g *Graph) add(op compute.OpType, dtype dtypes.DType, dims []int, attr any, in ...*Expr) *Expr {
	key := g.key(op, dtype, dims, attr, in)
	if key != "" {
		if e, ok := g.unique[key]; ok {
			return e
		}
	}
	e := &Expr{ID: len(g.Exprs), Op: op, DType: dtype, Dims: slices.Clone(dims), Attr: attr, Operands: in, Result: -1}
	e.View = View{Base: e, Dims: e.Dims, Strides: Contiguous(e.Dims)}
	g.Exprs = append(g.Exprs, e)
	if key != "" {
		g.unique[key] = e
	}
	return e
}

// key returns a string that identifies what an expression computes, or "" if it must not be shared.
func (g *Graph) key(op compute.OpType, dtype dtypes.DType, dims []int, attr any, in []*Expr) string {
	switch op {
	case compute.OpTypeParameter, ir.OpOutput, compute.OpTypeCall, compute.OpTypeIf, compute.OpTypeWhile, compute.OpTypeSort,
		compute.OpTypeRNGBitGenerator:
		return ""
	}
	b := make([]byte, 0, 64)
	b = strconv.AppendInt(b, int64(op), 10)
	b = strconv.AppendInt(append(b, ' '), int64(dtype), 10)
	b = appendInts(b, dims)
	for _, x := range in {
		b = strconv.AppendInt(append(b, ' '), int64(x.ID), 10)
	}
	switch a := attr.(type) {
	case nil:
	case []int:
		b = appendInts(b, a)
	case *ir.ConstAttr:
		data := constBytes(a)
		if len(data) > 1<<16 {
			return ""
		}
		b = append(append(b, ' '), data...)
	default:
		b = fmt.Appendf(b, " %+v", attr)
	}
	return string(b)
}

// appendInts appends a list to a key.
func appendInts(b []byte, list []int) []byte {
	b = append(b, " ["...)
	for _, n := range list {
		b = strconv.AppendInt(append(b, ' '), int64(n), 10)
	}
	return append(b, ']')
}

// constBytes returns the raw bytes of a constant.
func constBytes(c *ir.ConstAttr) []byte { return dtypes.UnsafeByteSliceFromAny(c.Flat) }

// constant adds values of any shape.
func (g *Graph) constant(flat any, dtype dtypes.DType, dims ...int) *Expr {
	return g.add(compute.OpTypeConstant, dtype, dims, &ir.ConstAttr{Flat: flat})
}

// scalar returns the value of an expression that is a repeated constant.
func (e *Expr) scalar() (float64, bool) {
	base := e.View.Base
	c, ok := base.Attr.(*ir.ConstAttr)
	if !ok || base.Op != compute.OpTypeConstant || base.Size() != 1 || !(base.DType.IsFloat() || base.DType.IsInt()) {
		return 0, false
	}
	return asFloat(c.Flat), true
}

func asFloat(flat any) float64 {
	switch f := flat.(type) {
	case []float32:
		return float64(f[0])
	case []float64:
		return f[0]
	case []int8:
		return float64(f[0])
	case []int16:
		return float64(f[0])
	case []int32:
		return float64(f[0])
	case []int64:
		return float64(f[0])
	case []uint8:
		return float64(f[0])
	case []uint16:
		return float64(f[0])
	case []uint32:
		return float64(f[0])
	case []uint64:
		return float64(f[0])
	}
	panic(fmt.Sprintf("no number in %T", flat))
}

// The view functions return the operand itself if nothing changes.

func (g *Graph) reshape(x *Expr, dims []int) *Expr {
	if slices.Equal(x.Dims, dims) {
		return x
	}
	if x.Op == compute.OpTypeReshape {
		return g.reshape(x.Operands[0], dims)
	}
	v, ok := x.View.reshape(dims)
	if !ok {
		x = g.dense(x)
		v, _ = x.View.reshape(dims)
	}
	return g.addView(compute.OpTypeReshape, v, nil, x)
}

func (g *Graph) addView(op compute.OpType, v View, attr any, x *Expr) *Expr {
	e := g.add(op, x.DType, v.Dims, attr, x)
	e.View = v
	return e
}

func (g *Graph) transpose(x *Expr, permutation []int) *Expr {
	identity := true
	for i, p := range permutation {
		identity = identity && i == p
	}
	if identity {
		return x
	}
	if d := g.transposedDot(x, permutation); d != nil {
		return d
	}
	return g.addView(compute.OpTypeTranspose, x.View.transpose(permutation), permutation, x)
}

func (g *Graph) broadcast(x *Expr, dims, axes []int) *Expr {
	if slices.Equal(x.Dims, dims) {
		return x
	}
	return g.addView(compute.OpTypeBroadcastInDim, x.View.broadcast(dims, axes), axes, x)
}

// broadcastTo applies implicit broadcasting: a scalar, or axes of size one, repeat.
func (g *Graph) broadcastTo(x *Expr, dims []int) *Expr {
	axes := make([]int, len(x.Dims))
	for i := range axes {
		axes[i] = i
	}
	return g.broadcast(x, dims, axes)
}

// dense returns x, or a copy of it whose elements are consecutive.
func (g *Graph) dense(x *Expr) *Expr {
	if x.View.IsDense() {
		return x
	}
	return g.add(OpCopy, x.DType, x.Dims, nil, x)
}

// Prune removes expressions that no result depends on, and records the users of the others.
func (g *Graph) Prune() {
	live := make(map[*Expr]bool)
	var mark func(e *Expr)
	mark = func(e *Expr) {
		if live[e] {
			return
		}
		live[e] = true
		for _, x := range e.Operands {
			mark(x)
			mark(x.View.Base)
		}
	}
	for _, r := range g.Results {
		mark(r)
		mark(r.View.Base)
	}
	g.Exprs = slices.DeleteFunc(g.Exprs, func(e *Expr) bool { return !live[e] })
	for _, e := range g.Exprs {
		if e.View.Base != e {
			continue // a view: its users read the base
		}
		for _, x := range e.Operands {
			x.View.Base.Users = append(x.View.Base.Users, e)
		}
	}
}
