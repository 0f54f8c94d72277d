package replay

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/gobackend"
	"github.com/gomlx/compute/shapes"
	"universal-transformer/cpu/internal/ir"
)

// graph is a recorded main function and the values of its parameters.
type graph struct {
	*ir.Function
	inputs []any
}

func newGraph() *graph {
	m := &ir.Module{Name: "test"}
	m.Main = &ir.Function{Module: m, Name: compute.MainName}
	return &graph{Function: m.Main}
}

// input records a parameter with values, a slice.
func (g *graph) input(flat any, dims ...int) *ir.Node {
	g.inputs = append(g.inputs, flat)
	return parameter(g.Function, shapes.Make(dtypes.FromGoType(reflect.TypeOf(flat).Elem()), dims...))
}

func parameter(f *ir.Function, shape shapes.Shape) *ir.Node {
	n := f.Add(compute.OpTypeParameter, shape, &ir.ParamAttr{Name: fmt.Sprint("p", len(f.Params))})
	f.Params = append(f.Params, n)
	return n
}

// outputs records the outputs of an operation with several.
func outputs(f *ir.Function, n *ir.Node, each ...shapes.Shape) []*ir.Node {
	for _, shape := range each {
		out := f.Add(ir.OpOutput, shape, nil, n)
		n.Outputs = append(n.Outputs, out)
	}
	return n.Outputs
}

// run replays the graph on the portable backend and returns what it gives.
func (g *graph) run(t *testing.T, results ...*ir.Node) []any {
	t.Helper()
	g.Results = results
	backend, err := gobackend.New("ops_sequential")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(backend.Finalize)
	builder := backend.Builder("test")
	if err := Module(g.Function.Module, builder); err != nil {
		t.Fatal(err)
	}
	exec, err := builder.Compile()
	if err != nil {
		t.Fatal(err)
	}
	var in []compute.Buffer
	for i, flat := range g.inputs {
		buffer, err := backend.BufferFromFlatData(0, flat, g.Params[i].Shape)
		if err != nil {
			t.Fatal(err)
		}
		in = append(in, buffer)
	}
	buffers, err := exec.Execute(in, make([]bool, len(in)), 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []any
	for _, b := range buffers {
		flat, err := b.Data()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, flat)
	}
	return out
}

// Operations arrive with their attributes: each result is computed by hand.
func TestOperations(t *testing.T) {
	g := newGraph()
	x := g.input([]int32{1, 2, 3, 4, 5, 6}, 2, 3)
	i32 := func(dims ...int) shapes.Shape { return shapes.Make(dtypes.Int32, dims...) }
	constant := func(flat []int32, dims ...int) *ir.Node {
		return g.Add(compute.OpTypeConstant, i32(dims...), &ir.ConstAttr{Flat: flat})
	}
	zero, nine := constant([]int32{0}), constant([]int32{9})
	cases := []struct {
		node *ir.Node
		want []int32
	}{
		{g.Add(compute.OpTypeNeg, i32(2, 3), nil, x), []int32{-1, -2, -3, -4, -5, -6}},
		{g.Add(compute.OpTypeSub, i32(2, 3), nil, nine, x), []int32{8, 7, 6, 5, 4, 3}},
		{g.Add(compute.OpTypeReduceSum, i32(3), []int{0}, x), []int32{5, 7, 9}},
		{g.Add(compute.OpTypeReduceMax, i32(2), []int{1}, x), []int32{3, 6}},
		{g.Add(compute.OpTypeTranspose, i32(3, 2), []int{1, 0}, x), []int32{1, 4, 2, 5, 3, 6}},
		{g.Add(compute.OpTypeReshape, i32(3, 2), nil, x), []int32{1, 2, 3, 4, 5, 6}},
		{g.Add(compute.OpTypeReverse, i32(2, 3), []int{1}, x), []int32{3, 2, 1, 6, 5, 4}},
		{g.Add(compute.OpTypeSlice, i32(1, 2), &ir.SliceAttr{Starts: []int{1, 0}, Limits: []int{2, 3}, Strides: []int{1, 2}}, x), []int32{4, 6}},
		{g.Add(compute.OpTypeIota, i32(2, 2), 1), []int32{0, 1, 0, 1}},
		{g.Add(compute.OpTypePad, i32(3, 3), []compute.PadAxis{{Start: 1}, {}}, x, nine), []int32{9, 9, 9, 1, 2, 3, 4, 5, 6}},
		{g.Add(compute.OpTypeConcatenate, i32(4, 3), 0, x, x), []int32{1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6}},
		{g.Add(compute.OpTypeBroadcastInDim, i32(2, 2), []int{0}, constant([]int32{3, 4}, 2)), []int32{3, 3, 4, 4}},
		{g.Add(compute.OpTypeDotGeneral, i32(2, 2), &ir.DotAttr{LHSContract: []int{1}, RHSContract: []int{1}}, x, x), []int32{14, 32, 32, 77}},
		{g.Add(compute.OpTypeGather, i32(2, 3), &ir.GatherAttr{IndexVectorAxis: 1, OffsetOutputAxes: []int{1}, CollapsedSliceAxes: []int{0}, StartIndexMap: []int{0}, Sizes: []int{1, 3}}, x, constant([]int32{1, 0}, 2, 1)), []int32{4, 5, 6, 1, 2, 3}},
		{g.Add(compute.OpTypeScatterSum, i32(3), &ir.ScatterAttr{IndexVectorAxis: 1, InsertedWindowAxes: []int{0}, ScatterAxesToOperandAxes: []int{0}}, constant([]int32{1, 1, 1}, 3), constant([]int32{2, 0, 2}, 3, 1), constant([]int32{10, 20, 30}, 3)), []int32{21, 1, 41}},
		{g.Add(compute.OpTypeArgMinMax, i32(2), &ir.ArgAttr{Axis: 1, DType: dtypes.Int32}, x), []int32{2, 2}},
		{g.Add(compute.OpTypeWhere, i32(2, 3), nil, g.Add(compute.OpTypeGreaterThan, shapes.Make(dtypes.Bool, 2, 3), nil, x, constant([]int32{3})), x, g.Add(compute.OpTypeBroadcastInDim, i32(2, 3), []int{}, zero)), []int32{0, 0, 0, 4, 5, 6}},
	}
	var nodes []*ir.Node
	for _, c := range cases {
		nodes = append(nodes, c.node)
	}
	for i, got := range g.run(t, nodes...) {
		if !reflect.DeepEqual(got, cases[i].want) {
			t.Errorf("%s: %v, want %v", cases[i].node.Op, got, cases[i].want)
		}
	}
}

// Closures, which see values around them, and functions, which are called twice and recorded once.
func TestFunctions(t *testing.T) {
	scalar, flag := shapes.Make(dtypes.Float32), shapes.Make(dtypes.Bool)
	g := newGraph()
	x := g.input([]float32{3})
	closure := func() *ir.Function { return &ir.Function{Module: g.Function.Module, Parent: g.Function} }

	condition, body := closure(), closure()
	y := parameter(condition, scalar)
	condition.Results = []*ir.Node{condition.Add(compute.OpTypeLessThan, flag, nil, y, x)}
	z := parameter(body, scalar)
	body.Results = []*ir.Node{body.Add(compute.OpTypeAdd, scalar, nil, z, z)}
	one := g.Add(compute.OpTypeConstant, scalar, &ir.ConstAttr{Flat: []float32{1}})
	loop := outputs(g.Function, g.Add(compute.OpTypeWhile, shapes.Invalid(), &ir.CallAttr{Functions: []*ir.Function{condition, body}}, one), scalar)[0]

	yes, no := closure(), closure()
	yes.Results = []*ir.Node{yes.Add(compute.OpTypeNeg, scalar, nil, x)}
	no.Results = []*ir.Node{x}
	test := g.Add(compute.OpTypeGreaterThan, flag, nil, x, loop)
	branch := outputs(g.Function, g.Add(compute.OpTypeIf, shapes.Invalid(), &ir.CallAttr{Functions: []*ir.Function{yes, no}}, test), scalar)[0]

	square := &ir.Function{Module: g.Function.Module, Name: "square"}
	s := parameter(square, scalar)
	square.Results = []*ir.Node{square.Add(compute.OpTypeMul, scalar, nil, s, s)}
	call := func(in *ir.Node) *ir.Node {
		return outputs(g.Function, g.Add(compute.OpTypeCall, shapes.Invalid(), &ir.CallAttr{Functions: []*ir.Function{square}}, in), scalar)[0]
	}
	fourth := call(call(x))

	list := g.input([]float32{2, 5, 1, 4}, 4)
	descending := closure()
	a, b := parameter(descending, scalar), parameter(descending, scalar)
	descending.Results = []*ir.Node{descending.Add(compute.OpTypeGreaterThan, flag, nil, a, b)}
	sorted := outputs(g.Function, g.Add(compute.OpTypeSort, shapes.Invalid(), &ir.SortAttr{Comparator: descending, Axis: 0}, list), list.Shape)[0]

	got := g.run(t, loop, branch, fourth, sorted)
	want := []any{[]float32{4}, []float32{3}, []float32{81}, []float32{5, 4, 2, 1}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("while, if, call, sort give %v, want %v", got, want)
	}
}

// What nothing depends on is not replayed; what cannot be is named.
func TestUnknownOperations(t *testing.T) {
	g := newGraph()
	x := g.input([]float32{1}, 1)
	unknown := g.Add(compute.OpTypeFFT, x.Shape, nil, x)
	if got := g.run(t, g.Add(compute.OpTypeNeg, x.Shape, nil, x)); !reflect.DeepEqual(got, []any{[]float32{-1}}) {
		t.Errorf("got %v, want -1", got)
	}
	g.Results = []*ir.Node{unknown}
	backend, err := gobackend.New("ops_sequential")
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Finalize()
	if err := Module(g.Function.Module, backend.Builder("test")); err == nil || !strings.Contains(err.Error(), compute.OpTypeFFT.String()) {
		t.Errorf("error %v, want one that names %s", err, compute.OpTypeFFT)
	}
}

// head is attention of one head in loops: M queries, N keys, D channels.
type head struct {
	m, n, d int
	q, k, v []float64
	scale   float64
	visible func(i, j int) bool
	add     func(i, j int) float64
}

// weights are the attention weights [M, N].
func (h *head) weights() []float64 {
	p := make([]float64, h.m*h.n)
	for i := range h.m {
		sum := 0.0
		for j := range h.n {
			if !h.visible(i, j) {
				continue
			}
			dot := 0.0
			for c := range h.d {
				dot += h.q[i*h.d+c] * h.k[j*h.d+c]
			}
			p[i*h.n+j] = math.Exp(h.scale*dot + h.add(i, j))
			sum += p[i*h.n+j]
		}
		for j := range h.n {
			p[i*h.n+j] /= sum
		}
	}
	return p
}

// output is [M, D].
func (h *head) output() []float64 {
	p, out := h.weights(), make([]float64, h.m*h.d)
	for i := range h.m {
		for j := range h.n {
			for c := range h.d {
				out[i*h.d+c] += p[i*h.n+j] * h.v[j*h.d+c]
			}
		}
	}
	return out
}

// Fused attention agrees with loops, in both layouts, with each kind of mask, and its gradient with central differences of the loops.
func TestAttention(t *testing.T) {
	const b, heads, m, n, d = 2, 2, 3, 4, 5
	for _, layout := range []compute.AttentionAxesLayout{compute.AttentionAxesLayoutBHSD, compute.AttentionAxesLayoutBSHD} {
		for _, mask := range []string{"none", "causal", "boolean", "added"} {
			t.Run(fmt.Sprint(layout, "/", mask), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(1, 1))
				dims := func(length int) []int {
					if layout == compute.AttentionAxesLayoutBSHD {
						return []int{b, length, heads, d}
					}
					return []int{b, heads, length, d}
				}
				draw := func(length int) []float64 {
					x := make([]float64, b*heads*length*d)
					for i := range x {
						x[i] = rng.NormFloat64()
					}
					return x
				}
				q, k, v, dOut := draw(m), draw(n), draw(n), draw(m)
				shown, added := make([]bool, m*n), make([]float64, m*n)
				for i := range shown {
					shown[i], added[i] = i%n == 0 || rng.IntN(2) == 0, rng.NormFloat64()
				}
				// at is where a tensor holds channel c of a position.
				at := func(length, batch, h, position, c int) int {
					if layout == compute.AttentionAxesLayoutBSHD {
						return ((batch*length+position)*heads+h)*d + c
					}
					return ((batch*heads+h)*length+position)*d + c
				}
				part := func(x []float64, length, batch, h int) []float64 {
					out := make([]float64, length*d)
					for i := range out {
						out[i] = x[at(length, batch, h, i/d, i%d)]
					}
					return out
				}
				outputOf := func(batch, h int) []float64 {
					one := &head{m: m, n: n, d: d, q: part(q, m, batch, h), k: part(k, n, batch, h), v: part(v, n, batch, h), scale: 0.4,
						visible: func(i, j int) bool {
							return mask != "causal" && mask != "boolean" || mask == "causal" && j <= i || mask == "boolean" && shown[i*n+j]
						},
						add: func(i, j int) float64 { return map[bool]float64{true: added[i*n+j]}[mask == "added"] }}
					return one.output()
				}
				loss := func() (sum float64) { // the sum of outputs times dOut
					for batch := range b {
						for h := range heads {
							for i, y := range outputOf(batch, h) {
								sum += y * dOut[at(m, batch, h, i/d, i%d)]
							}
						}
					}
					return sum
				}

				g := newGraph()
				in := []*ir.Node{g.input(q, dims(m)...), g.input(k, dims(n)...), g.input(v, dims(n)...)}
				attr := &ir.AttentionAttr{Layout: layout, Scale: 0.4, Causal: mask == "causal", HasMask: mask == "boolean" || mask == "added"}
				if mask == "boolean" {
					in = append(in, g.input(shown, m, n))
				} else if mask == "added" {
					in = append(in, g.input(added, m, n))
				}
				state := shapes.Make(dtypes.Float64, b, heads, m)
				forward := outputs(g.Function, g.Add(compute.OpTypeFusedScaledDotProductAttention, shapes.Invalid(), attr, in...), in[0].Shape, state, state)
				backward := append(in[:len(in):len(in)], forward[1], forward[2], g.input(dOut, dims(m)...))
				grads := outputs(g.Function, g.Add(compute.OpTypeFusedScaledDotProductAttentionVJP, shapes.Invalid(), attr, backward...), in[0].Shape, in[1].Shape, in[2].Shape)
				got := g.run(t, forward[0], grads[0], grads[1], grads[2])

				out := got[0].([]float64)
				for batch := range b {
					for h := range heads {
						for i, y := range outputOf(batch, h) {
							if x := out[at(m, batch, h, i/d, i%d)]; math.Abs(x-y) > 1e-12 {
								t.Fatalf("batch %d, head %d, element %d: %v, want %v", batch, h, i, x, y)
							}
						}
					}
				}
				for i, x := range [][]float64{q, k, v} {
					for j := 0; j < len(x); j += 7 {
						const step = 1e-5
						before := x[j]
						x[j] = before + step
						up := loss()
						x[j] = before - step
						down := loss()
						x[j] = before
						if slope := got[1+i].([]float64)[j]; math.Abs(slope-(up-down)/(2*step)) > 1e-8 {
							t.Fatalf("gradient of %c, element %d: %v, want %v", "qkv"[i], j, slope, (up-down)/(2*step))
						}
					}
				}
			})
		}
	}
}
