package cpu

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
)

// expr is a value of the graph being compiled: recorded nodes after rewriting, equal ones shared.
// Element-wise operations have operands of exactly their own dimensions: broadcasting is a view.
type expr struct {
	id     int
	op     compute.OpType
	dtype  dtypes.DType
	dims   []int
	in     []*expr
	attr   any
	outs   []*expr // operations with several outputs
	index  int     // of an opOutput or of a parameter
	view   view    // how users read it; base is the expr itself unless it only rearranges
	unit   *unit   // what computes it; nil for parameters, constants and views
	kind   memberKind
	users  []*expr
	result int // position among the results that own this memory, or -1
}

// opCopy writes any view as contiguous storage.
const opCopy = compute.OpTypeLast + 2

func (e *expr) size() int { return product(e.dims) }

func (e *expr) bytes() int { return e.size() * e.dtype.Size() }

// isLeaf tells whether the memory of e exists before the program runs.
func (e *expr) isLeaf() bool {
	return e.op == compute.OpTypeParameter || e.op == compute.OpTypeConstant
}

// graph is a function being compiled.
type graph struct {
	exprs   []*expr // inputs before users
	params  []*expr
	results []*expr
	unique  map[string]*expr
}

func newGraph() *graph {
	return &graph{unique: make(map[string]*expr)}
}

// add makes an expr, or returns the one that computes the same. Operations with several outputs
// and those that run other functions are never shared.
func (g *graph) add(op compute.OpType, dtype dtypes.DType, dims []int, attr any, in ...*expr) *expr {
	key := g.key(op, dtype, dims, attr, in)
	if key != "" {
		if e, ok := g.unique[key]; ok {
			return e
		}
	}
	e := &expr{id: len(g.exprs), op: op, dtype: dtype, dims: slices.Clone(dims), attr: attr, in: in, result: -1}
	e.view = view{base: e, dims: e.dims, strides: contiguous(e.dims)}
	g.exprs = append(g.exprs, e)
	if key != "" {
		g.unique[key] = e
	}
	return e
}

// key names what an expr computes; empty if it must not be shared.
func (g *graph) key(op compute.OpType, dtype dtypes.DType, dims []int, attr any, in []*expr) string {
	switch op {
	case compute.OpTypeParameter, opOutput, compute.OpTypeCall, compute.OpTypeIf, compute.OpTypeWhile, compute.OpTypeSort,
		compute.OpTypeRNGBitGenerator:
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d %d %v", op, dtype, dims)
	for _, x := range in {
		fmt.Fprintf(&b, " %d", x.id)
	}
	if c, ok := attr.(*constAttr); ok {
		data := constBytes(c)
		if len(data) > 1<<16 {
			return ""
		}
		b.WriteByte(' ')
		b.Write(data)
		return b.String()
	}
	fmt.Fprintf(&b, " %+v", attr)
	return b.String()
}

// constBytes are the raw bytes of a constant.
func constBytes(c *constAttr) []byte { return dtypes.UnsafeByteSliceFromAny(c.flat) }

// constant adds values of any shape.
func (g *graph) constant(flat any, dtype dtypes.DType, dims ...int) *expr {
	return g.add(compute.OpTypeConstant, dtype, dims, &constAttr{flat})
}

// scalar returns the value of an expr that is one constant repeated.
func (e *expr) scalar() (float64, bool) {
	base := e.view.base
	c, ok := base.attr.(*constAttr)
	if !ok || base.op != compute.OpTypeConstant || base.size() != 1 || !(base.dtype.IsFloat() || base.dtype.IsInt()) {
		return 0, false
	}
	return asFloat(c.flat), true
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

// The view builders return the operand itself when nothing changes.

func (g *graph) reshape(x *expr, dims []int) *expr {
	if slices.Equal(x.dims, dims) {
		return x
	}
	if x.op == compute.OpTypeReshape {
		return g.reshape(x.in[0], dims)
	}
	v, ok := x.view.reshape(dims)
	if !ok {
		x = g.dense(x)
		v, _ = x.view.reshape(dims)
	}
	return g.addView(compute.OpTypeReshape, v, nil, x)
}

func (g *graph) addView(op compute.OpType, v view, attr any, x *expr) *expr {
	e := g.add(op, x.dtype, v.dims, attr, x)
	e.view = v
	return e
}

func (g *graph) transpose(x *expr, permutation []int) *expr {
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
	return g.addView(compute.OpTypeTranspose, x.view.transpose(permutation), permutation, x)
}

func (g *graph) broadcast(x *expr, dims, axes []int) *expr {
	if slices.Equal(x.dims, dims) {
		return x
	}
	return g.addView(compute.OpTypeBroadcastInDim, x.view.broadcast(dims, axes), axes, x)
}

// broadcastTo follows the implicit rules: a scalar or axes of size one repeat.
func (g *graph) broadcastTo(x *expr, dims []int) *expr {
	axes := make([]int, len(x.dims))
	for i := range axes {
		axes[i] = i
	}
	return g.broadcast(x, dims, axes)
}

// dense returns x, or a copy of it, so that its elements lie one after the other.
func (g *graph) dense(x *expr) *expr {
	if x.view.isDense() {
		return x
	}
	return g.add(opCopy, x.dtype, x.dims, nil, x)
}

// prune drops what no result needs and notes who uses what remains.
func (g *graph) prune() {
	live := make(map[*expr]bool)
	var mark func(e *expr)
	mark = func(e *expr) {
		if live[e] {
			return
		}
		live[e] = true
		for _, x := range e.in {
			mark(x)
			mark(x.view.base)
		}
	}
	for _, r := range g.results {
		mark(r)
		mark(r.view.base)
	}
	g.exprs = slices.DeleteFunc(g.exprs, func(e *expr) bool { return !live[e] })
	for _, e := range g.exprs {
		if e.view.base != e {
			continue // a view: its users read the base
		}
		for _, x := range e.in {
			x.view.base.users = append(x.view.base.users, e)
		}
	}
}
