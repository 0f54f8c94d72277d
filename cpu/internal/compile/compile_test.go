package compile

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"universal-transformer/cpu/internal/exec"
	"universal-transformer/cpu/internal/ir"
	"universal-transformer/cpu/internal/kernel"
)

// newMain returns a module with an empty main function.
func newMain() *ir.Function {
	m := &ir.Module{Name: "test"}
	m.Main = &ir.Function{Module: m, Name: compute.MainName}
	return m.Main
}

func parameter(f *ir.Function, shape shapes.Shape) *ir.Node {
	n := f.Add(compute.OpTypeParameter, shape, &ir.ParamAttr{Name: fmt.Sprint("p", len(f.Params))})
	f.Params = append(f.Params, n)
	return n
}

// machine returns one with the best kernels, whose threads stop when the test ends. It shares even small work.
func machine(t testing.TB, threads int) *exec.Machine {
	m := exec.NewMachine(kernel.Best(), threads, 32)
	t.Cleanup(m.Close)
	return m
}

func compiled(t testing.TB, f *ir.Function, m *exec.Machine) *exec.Program {
	t.Helper()
	p, err := Module(f.Module, m)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// execute runs a program whose results have as many elements as sizes says.
func execute(p *exec.Program, inputs [][]float32, sizes ...int) [][]float32 {
	var params, results []unsafe.Pointer
	for _, in := range inputs {
		params = append(params, unsafe.Pointer(unsafe.SliceData(in)))
	}
	var out [][]float32
	for _, n := range sizes {
		out = append(out, make([]float32, n))
		results = append(results, unsafe.Pointer(unsafe.SliceData(out[len(out)-1])))
	}
	p.Execute(params, results, nil)
	return out
}

func draw(rng *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	return x
}

// want compares with values in double precision, up to an error relative to a scale, the largest value that they are computed from.
func want(t *testing.T, what string, got []float32, values []float64, scale float64) {
	t.Helper()
	for i, v := range values {
		if !(math.Abs(float64(got[i])-v) <= 1e-5*scale) {
			t.Errorf("%s: element %d is %v, want %v", what, i, got[i], v)
			return
		}
	}
}

// Random graphs of element-wise operations, broadcast rows and columns, sums over rows, and products agree with loops that compute one
// operation after the other: more values live at once than there would be room for if registers were given away too early.
func TestRandomGraphsAgreeWithLoops(t *testing.T) {
	f32 := func(dims ...int) shapes.Shape { return shapes.Make(dtypes.Float32, dims...) }
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 1))
		rows, cols := 1+rng.IntN(40), 1+rng.IntN(70)
		n := rows * cols
		f := newMain()
		var nodes []*ir.Node
		var values [][]float64
		var inputs [][]float32
		add := func(node *ir.Node, at func(i int) float64) {
			v := make([]float64, n)
			for i := range v {
				v[i] = at(i)
			}
			nodes, values = append(nodes, node), append(values, v)
		}
		for range 3 {
			in := draw(rng, n)
			inputs = append(inputs, in)
			add(parameter(f, f32(rows, cols)), func(i int) float64 { return float64(in[i]) })
		}
		row := draw(rng, cols)
		inputs = append(inputs, row)
		spread := f.Add(compute.OpTypeBroadcastInDim, f32(rows, cols), []int{1}, parameter(f, f32(cols)))
		add(spread, func(i int) float64 { return float64(row[i%cols]) })
		weights := draw(rng, cols*cols)
		inputs = append(inputs, weights)
		w := parameter(f, f32(cols, cols))
		for range 25 {
			a, b := rng.IntN(len(nodes)), rng.IntN(len(nodes))
			x, y := values[a], values[b]
			switch rng.IntN(7) {
			case 0:
				add(f.Add(compute.OpTypeAdd, f32(rows, cols), nil, nodes[a], nodes[b]), func(i int) float64 { return x[i] + y[i] })
			case 1:
				add(f.Add(compute.OpTypeSub, f32(rows, cols), nil, nodes[a], nodes[b]), func(i int) float64 { return x[i] - y[i] })
			case 2:
				add(f.Add(compute.OpTypeMax, f32(rows, cols), nil, nodes[a], nodes[b]), func(i int) float64 { return max(x[i], y[i]) })
			case 3:
				add(f.Add(compute.OpTypeTanh, f32(rows, cols), nil, nodes[a]), func(i int) float64 { return math.Tanh(x[i]) })
			case 4:
				add(f.Add(compute.OpTypeNeg, f32(rows, cols), nil, nodes[a]), func(i int) float64 { return -x[i] })
			case 5:
				sum := f.Add(compute.OpTypeReduceSum, f32(rows), []int{1}, f.Add(compute.OpTypeTanh, f32(rows, cols), nil, nodes[a]))
				add(f.Add(compute.OpTypeBroadcastInDim, f32(rows, cols), []int{0}, sum), func(i int) float64 {
					total := 0.0
					for j := range cols {
						total += math.Tanh(x[i/cols*cols+j])
					}
					return total
				})
			case 6:
				bounded := f.Add(compute.OpTypeTanh, f32(rows, cols), nil, nodes[a])
				add(f.Add(compute.OpTypeDotGeneral, f32(rows, cols), &ir.DotAttr{LHSContract: []int{1}, RHSContract: []int{0}}, bounded, w), func(i int) float64 {
					total := 0.0
					for k := range cols {
						total += math.Tanh(x[i/cols*cols+k]) * float64(weights[k*cols+i%cols])
					}
					return total
				})
			}
		}
		scale := 1.0
		for _, list := range values {
			for _, v := range list {
				scale = max(scale, math.Abs(v))
			}
		}
		results := []int{len(nodes) - 1, len(nodes) - 2, 4 + rng.IntN(10)}
		var sizes []int
		for _, r := range results {
			f.Results, sizes = append(f.Results, nodes[r]), append(sizes, n)
		}
		out := execute(compiled(t, f, machine(t, 1+rng.IntN(3))), inputs, sizes...)
		for i, r := range results {
			want(t, fmt.Sprintf("seed %d, %dx%d, value %d", seed, rows, cols, r), out[i], values[r], scale)
		}
	}
}

// product records a b, of n x n matrices.
func product(f *ir.Function, a, b *ir.Node) *ir.Node {
	return f.Add(compute.OpTypeDotGeneral, a.Shape, &ir.DotAttr{LHSContract: []int{1}, RHSContract: []int{0}}, a, b)
}

// multiply computes a b in loops.
func multiply(a, b []float64, n int) []float64 {
	c := make([]float64, n*n)
	for i := range n {
		for j := range n {
			for k := range n {
				c[i*n+j] += a[i*n+k] * b[k*n+j]
			}
		}
	}
	return c
}

func float64s(x []float32) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}

// The memory of products one after the other does not grow with their number: values that are dead make room. A transposed
// operand is read where it lies.
func TestMemoryIsUsedAgain(t *testing.T) {
	const n = 48
	rng := rand.New(rand.NewPCG(1, 1))
	a, b := draw(rng, n*n), draw(rng, n*n)
	for i := range b {
		b[i] /= n
	}
	program := func(depth int) *exec.Program {
		f := newMain()
		x, w := parameter(f, shapes.Make(dtypes.Float32, n, n)), parameter(f, shapes.Make(dtypes.Float32, n, n))
		for range depth {
			x = f.Add(compute.OpTypeTranspose, x.Shape, []int{1, 0}, product(f, x, w))
		}
		f.Results = []*ir.Node{x}
		return compiled(t, f, machine(t, 2))
	}
	expected := float64s(a)
	for range 12 {
		y := multiply(expected, float64s(b), n)
		for i := range n {
			for j := range n {
				expected[i*n+j] = y[j*n+i]
			}
		}
	}
	deep := program(12)
	got := execute(deep, [][]float32{a, b}, n*n)[0]
	want(t, "12 products", got, expected, 1)
	if short := program(4).ArenaBytes; deep.ArenaBytes > short {
		t.Errorf("12 products need %d bytes, 4 need %d", deep.ArenaBytes, short)
	}
}

// A result takes over a parameter of its size where both are read and written in step, and not if the parameter is read later.
func TestDonors(t *testing.T) {
	shape := shapes.Make(dtypes.Float32, 6, 10)
	f := newMain()
	x, y := parameter(f, shape), parameter(f, shapes.Make(dtypes.Float32, 10))
	f.Results = []*ir.Node{f.Add(compute.OpTypeMul, shape, nil, x, f.Add(compute.OpTypeBroadcastInDim, shape, []int{1}, y))}
	if p := compiled(t, f, machine(t, 1)); len(p.Donors) != 1 || p.Donors[0] != 0 {
		t.Errorf("donors %v, want parameter 0", p.Donors)
	}
	f = newMain()
	x = parameter(f, shapes.Make(dtypes.Float32, 10, 10))
	f.Results = []*ir.Node{product(f, x, x)}
	if p := compiled(t, f, machine(t, 1)); p.Donors[0] != -1 {
		t.Errorf("a product takes over parameter %d, which it reads while it writes", p.Donors[0])
	}
}

// Closures see values of the function around them; only the branch that is taken and only as many iterations as asked for run.
func TestControl(t *testing.T) {
	scalar, flag := shapes.Make(dtypes.Float32), shapes.Make(dtypes.Bool)
	f := newMain()
	limit := parameter(f, scalar)
	closure := func() *ir.Function { return &ir.Function{Module: f.Module, Parent: f} }
	condition, body := closure(), closure()
	x := parameter(condition, scalar)
	condition.Results = []*ir.Node{condition.Add(compute.OpTypeLessThan, flag, nil, x, limit)}
	y := parameter(body, scalar)
	body.Results = []*ir.Node{body.Add(compute.OpTypeAdd, scalar, nil, y, y)}
	one := f.Add(compute.OpTypeConstant, scalar, &ir.ConstAttr{Flat: []float32{1}})
	loop := f.Add(compute.OpTypeWhile, shapes.Invalid(), &ir.CallAttr{Functions: []*ir.Function{condition, body}}, one)
	out := f.Add(ir.OpOutput, scalar, nil, loop)
	loop.Outputs = []*ir.Node{out}
	f.Results = []*ir.Node{out}
	p := compiled(t, f, machine(t, 1))
	for bound, power := range map[float32]float32{0: 1, 1: 1, 1.5: 2, 100: 128} {
		if got := execute(p, [][]float32{{bound}}, 1)[0][0]; got != power {
			t.Errorf("doubling until %v gives %v, want %v", bound, got, power)
		}
	}
}

// A type without kernels is named, so that the caller can run the graph elsewhere, unless nothing needs it.
func TestUnsupportedTypes(t *testing.T) {
	f := newMain()
	x := parameter(f, shapes.Make(dtypes.Float32, 3))
	half := f.Add(compute.OpTypeConvertDType, shapes.Make(dtypes.Float16, 3), nil, x)
	f.Results = []*ir.Node{f.Add(compute.OpTypeNeg, x.Shape, nil, x)}
	compiled(t, f, machine(t, 1))
	f.Results = []*ir.Node{half}
	_, err := Module(f.Module, machine(t, 1))
	if unsupported := (ir.Unsupported{}); !errors.As(err, &unsupported) || !strings.Contains(err.Error(), "Float16") {
		t.Errorf("error %v, want one that says Float16 is not supported", err)
	}
}

// Memory that was taken and not returned never overlaps, holes are joined, and what is returned is used before the arena grows.
func TestFreeList(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 2))
		var list freeList
		type block struct{ offset, bytes int }
		var taken []block
		var owner [1 << 14]bool
		for range 400 {
			if len(taken) > 0 && rng.IntN(2) == 0 {
				i := rng.IntN(len(taken))
				b := taken[i]
				list.put(b.offset, b.bytes)
				for j := b.offset; j < b.offset+b.bytes; j++ {
					owner[j] = false
				}
				taken = append(taken[:i], taken[i+1:]...)
				continue
			}
			before, bytes := list.end, 1+rng.IntN(60)
			fits := 0 // the longest run of free bytes
			for j, run := 0, 0; j < before; j++ {
				if run++; owner[j] {
					run = 0
				}
				fits = max(fits, run)
			}
			at := list.take(bytes)
			if grown := list.end > before; grown == (fits >= bytes) {
				t.Fatalf("seed %d: %d bytes are free in one piece, %d are taken, the arena grows from %d to %d", seed, fits, bytes, before, list.end)
			}
			for j := at; j < at+bytes; j++ {
				if owner[j] || j >= list.end {
					t.Fatalf("seed %d: byte %d of %d is taken twice, or lies outside", seed, j, list.end)
				}
				owner[j] = true
			}
			taken = append(taken, block{at, bytes})
		}
		for _, b := range taken {
			list.put(b.offset, b.bytes)
		}
		if len(list.holes) != 1 || list.holes[0] != (hole{0, list.end}) {
			t.Errorf("seed %d: everything is free, in holes %v of %d bytes", seed, list.holes, list.end)
		}
	}
}
