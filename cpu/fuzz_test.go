package cpu_test

import (
	"fmt"
	"math"
	"math/rand"
	"os"
	"reflect"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/layers/attention"
	"universal-transformer/cpu"
)

// Random graphs, forward and gradient, must give what the portable backend gives, to rounding.

// graphsVariable sets how many graphs TestGraphs draws: UT_FUZZ_GRAPHS=20000 go test -run TestGraphs ./cpu
const graphsVariable = "UT_FUZZ_GRAPHS"

func TestGraphs(t *testing.T) {
	n := 400
	if cpu.RaceEnabled {
		n = 15
	}
	if s := os.Getenv(graphsVariable); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatalf("%s: %v", graphsVariable, err)
		}
	}
	want := reference(t)
	for _, config := range configs {
		t.Run(config, func(t *testing.T) {
			got := newBackend(t, config)
			said := captureLog(func() {
				for seed := range int64(n) {
					compareGraph(t, got, want, seed)
				}
				compareGraph(t, got, want, 10141) // once a chain packed what a product of few rows read where it was
			})
			if strings.Contains(said, "portable") {
				t.Errorf("not all graphs ran on the kernels: %s", said)
			}
			t.Logf("%d graphs compared, %d that the portable backend cannot run", compared, skipped)
		})
	}
}

func FuzzGraphs(f *testing.F) {
	for seed := range int64(20) {
		f.Add(seed)
	}
	got, err := compute.NewWithConfig("cpu")
	if err != nil {
		f.Fatal(err)
	}
	want := reference(f)
	f.Fuzz(func(t *testing.T, seed int64) { compareGraph(t, got, want, seed) })
}

// A product that sums no terms is zero, whatever was in the memory before, and so are the gradients through it.
// Caught when planted: a product that leaves its result as it was.
func TestEmptySums(t *testing.T) {
	for _, config := range configs {
		t.Run(config, func(t *testing.T) {
			exec, err := NewExec(newBackend(t, config), func(x, y, dirt *Node) []*Node {
				dirt = Tanh(dirt) // what the memory held
				product := Add(EinsumAxes(x, y, [][2]int{{1, 0}}, nil), MulScalar(ReduceAllSum(dirt), 0))
				loss := ReduceAllSum(Mul(Exp(product), Slice(dirt, AxisRange(0, 5), AxisRange(0, 7))))
				return append([]*Node{product}, Gradient(loss, x, y, dirt)...)
			})
			if err != nil {
				t.Fatal(err)
			}
			defer exec.Finalize()
			dirt := make([]float32, 40*40)
			for i := range dirt {
				dirt[i] = float32(i%13) + 1
			}
			for range 3 {
				out, err := exec.Call(tensors.FromFlatDataAndDimensions([]float32{}, 5, 0), tensors.FromFlatDataAndDimensions([]float32{}, 0, 7),
					tensors.FromFlatDataAndDimensions(dirt, 40, 40))
				if err != nil {
					t.Fatal(err)
				}
				for i, v := range numbers(out[0]) {
					if v != 0 {
						t.Fatalf("element %d is %v", i, v)
					}
				}
			}
		})
	}
}

var compared, skipped int

// compareGraph runs graph number seed on both backends.
func compareGraph(t *testing.T, got, want compute.Backend, seed int64) {
	t.Helper()
	var story []string
	run := func(b compute.Backend, double bool) (out []*tensors.Tensor, err error) {
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("%v\n%s", r, debug.Stack())
			}
		}()
		w := newWriter(seed, double)
		exec, err := NewExec(b, func(inputs []*Node) []*Node { return w.graph(inputs) })
		if err != nil {
			return nil, err
		}
		out, err = exec.Call(w.inputs...)
		story = w.story
		exec.Finalize() // not deferred: after a panic it would wait forever
		return out, err
	}
	wantOut, err := run(want, false)
	if err != nil {
		skipped++
		return // not a graph for the portable backend: nothing to compare with
	}
	compared++
	gotOut, err := run(got, false)
	if err != nil {
		t.Errorf("graph %d: %v\n%q", seed, err, story)
		return
	}
	for i := range wantOut {
		why := difference(gotOut[i], wantOut[i])
		if why == "" || isSingle(seed) && excused(run, want, i, gotOut[i], wantOut[i]) {
			continue
		}
		t.Errorf("graph %d, result %d %s: %s\n%q", seed, i, wantOut[i].Shape(), why, story)
		return
	}
}

// excused tells whether a result in float32 is as near to that in float64 as the portable backend's: some graphs
// lose digits whoever runs them.
func excused(run func(b compute.Backend, double bool) ([]*tensors.Tensor, error), want compute.Backend, i int, got, single *tensors.Tensor) bool {
	exact, err := run(want, true)
	return err == nil && distance(got, exact[i]) <= 8*distance(single, exact[i])
}

// distance is the largest difference between elements of tensors of the same shape.
func distance(x, y *tensors.Tensor) float64 {
	a, b := numbers(x), numbers(y)
	d := 0.0
	for i := range a {
		if diff := math.Abs(a[i] - b[i]); !(diff <= d) && a[i] != b[i] {
			d = diff
		}
	}
	return d
}

func isSingle(seed int64) bool { return newWriter(seed, false).dtype == dtypes.Float32 }

// difference tells how two tensors differ by more than rounding.
func difference(got, want *tensors.Tensor) string {
	if !got.Shape().Equal(want.Shape()) {
		return fmt.Sprintf("shape %s", got.Shape())
	}
	tolerance := map[dtypes.DType]float64{dtypes.Float32: 3e-4, dtypes.Float64: 1e-10}[want.DType()]
	x, y := numbers(got), numbers(want)
	largest := 1.0
	for _, v := range y {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			largest = max(largest, math.Abs(v))
		}
	}
	for i := range x {
		if math.IsNaN(x[i]) && math.IsNaN(y[i]) || x[i] == y[i] {
			continue
		}
		if !(math.Abs(x[i]-y[i]) <= tolerance*largest) {
			return fmt.Sprintf("element %d is %v, want %v", i, x[i], y[i])
		}
	}
	return ""
}

// numbers are the elements of a tensor as float64.
func numbers(t *tensors.Tensor) []float64 {
	var out []float64
	t.MustConstFlatData(func(flat any) {
		v := reflect.ValueOf(flat)
		for i := range v.Len() {
			switch x := v.Index(i); x.Kind() {
			case reflect.Bool:
				out = append(out, map[bool]float64{true: 1}[x.Bool()])
			case reflect.Float32, reflect.Float64:
				out = append(out, x.Float())
			case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
				out = append(out, float64(x.Int()))
			default:
				out = append(out, float64(x.Uint()))
			}
		}
	})
	return out
}

// writer draws a graph: first its inputs, then operations on what there is so far.
type writer struct {
	rng      *rand.Rand
	dtype    dtypes.DType
	sizes    []int // dimensions to draw from
	inputs   []any
	gradient bool
	floats   []*Node
	exact    []*Node // floats without rounding: comparisons of others would turn rounding into different results
	story    []string
}

// newWriter draws the type and the inputs of graph number seed; double asks for the same in float64.
func newWriter(seed int64, double bool) *writer {
	w := &writer{rng: rand.New(rand.NewSource(seed))}
	w.dtype = []dtypes.DType{dtypes.Float32, dtypes.Float64}[w.rng.Intn(2)]
	if double {
		w.dtype = dtypes.Float64
	}
	w.gradient = w.rng.Intn(2) == 0
	all := []int{1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 31, 32, 33, 64, 67}
	for range 3 {
		w.sizes = append(w.sizes, all[w.rng.Intn(len(all))])
	}
	if w.rng.Intn(30) == 0 {
		w.sizes[0] = 0
	}
	for range 2 + w.rng.Intn(3) {
		w.inputs = append(w.inputs, w.tensor(w.shape()))
	}
	return w
}

// shape draws dimensions; larger ones less often, so that tensors stay small.
func (w *writer) shape() []int {
	var dims []int
	for n := 1; len(dims) < 4 && w.rng.Intn(4) > 0; {
		d := w.sizes[w.rng.Intn(len(w.sizes))]
		if w.rng.Intn(8) == 0 {
			d = 1
		}
		if n *= d; n > 20000 {
			break
		}
		dims = append(dims, d)
	}
	return dims
}

// tensor draws numbers on a grid, so that ties occur.
func (w *writer) tensor(dims []int) *tensors.Tensor {
	n := shapes.Make(w.dtype, dims...).Size()
	if w.dtype == dtypes.Float32 {
		flat := make([]float32, n)
		for i := range flat {
			flat[i] = float32(w.rng.Intn(33)-16) / 8
		}
		return tensors.FromFlatDataAndDimensions(flat, dims...)
	}
	flat := make([]float64, n)
	for i := range flat {
		flat[i] = float64(w.rng.Intn(33)-16) / 8
	}
	return tensors.FromFlatDataAndDimensions(flat, dims...)
}

// graph returns a few of the values written, and their gradients.
func (w *writer) graph(inputs []*Node) []*Node {
	w.floats, w.exact = slices.Clone(inputs), slices.Clone(inputs)
	var others []*Node // of other types
	for range 3 + w.rng.Intn(22) {
		if !w.gradient && w.rng.Intn(3) == 0 {
			others = append(others, w.discrete())
			continue
		}
		w.floats = append(w.floats, w.bounded(w.operation()))
	}
	var results []*Node
	for range 3 {
		results = append(results, w.pick())
	}
	if len(others) > 0 {
		results = append(results, others[len(others)-1], others[0])
	}
	if w.gradient {
		loss := ScalarZero(inputs[0].Graph(), w.dtype)
		for _, r := range results {
			loss = Add(loss, ReduceAllSum(Mul(r, Sin(r))))
		}
		results = append(results, Gradient(loss, inputs...)...)
	}
	return results
}

// bounded keeps numbers in a range in which errors do not grow.
func (w *writer) bounded(x *Node) *Node {
	switch w.rng.Intn(3) {
	case 0:
		return Tanh(x)
	case 1:
		return Div(x, AddScalar(Abs(x), 1.5))
	}
	return Mul(x, Logistic(Neg(Abs(x))))
}

func (w *writer) pick() *Node { return w.floats[w.rng.Intn(len(w.floats))] }

func (w *writer) tell(format string, args ...any) {
	w.story = append(w.story, fmt.Sprintf(format, args...))
}

// axis draws an axis of x, which has some.
func (w *writer) axis(x *Node) int { return w.rng.Intn(x.Rank()) }

// permuted is x with its axes in random order.
func (w *writer) permuted(x *Node) *Node {
	if x.Rank() < 2 {
		return x
	}
	return TransposeAllAxes(x, w.rng.Perm(x.Rank())...)
}

// like makes an operand for an element-wise operation with x: the same shape, or one that is broadcast.
func (w *writer) like(x *Node) *Node {
	for range 8 {
		y := w.permuted(w.pick())
		if y.Rank() == 0 || y.Shape().EqualDimensions(x.Shape()) {
			return y
		}
		if y.Rank() == x.Rank() {
			ok := true
			for i, d := range y.Shape().Dimensions {
				ok = ok && (d == x.Shape().Dimensions[i] || d == 1)
			}
			if ok {
				return y
			}
		}
	}
	// A mean over some axes always fits.
	if x.Rank() == 0 || x.Shape().IsZeroSize() {
		return x
	}
	return ReduceAndKeep(x, ReduceMean, w.axis(x))
}

func (w *writer) operation() *Node {
	x := w.pick()
	choice := w.rng.Intn(22)
	w.tell("%d of %s", choice, x.Shape())
	if x.Rank() == 0 && choice >= 6 {
		choice = w.rng.Intn(6)
	}
	switch choice {
	case 0, 1, 2:
		return w.unary(x)
	case 3, 4, 5:
		return w.binary(x, w.like(x))
	case 6:
		return ReduceSum(x, w.someAxes(x)...)
	case 7:
		return ReduceMean(x, w.axis(x))
	case 8:
		if x.Shape().IsZeroSize() {
			return x
		}
		return ReduceMax(x, w.axis(x))
	case 9:
		return w.permuted(x)
	case 10:
		return Reshape(x, w.regroup(x.Shape().Dimensions)...)
	case 11:
		return w.slice(x)
	case 12:
		y := w.permuted(x)
		return Concatenate([]*Node{x, w.sameBut(x, y)}, w.axis(x))
	case 13, 14:
		return w.dot(x)
	case 15:
		return w.gather(x)
	case 16:
		if x.Shape().IsZeroSize() {
			return x
		}
		return Softmax(x, w.axis(x))
	case 17:
		if x.Shape().IsZeroSize() {
			return x
		}
		return LogSoftmax(x)
	case 18:
		centred := Sub(x, ReduceAndKeep(x, ReduceMean, -1))
		return Div(centred, Sqrt(AddScalar(ReduceAndKeep(Square(centred), ReduceMean, -1), 0.1)))
	case 19:
		return BroadcastPrefix(x, 1+w.rng.Intn(3))
	case 20:
		return w.attention()
	default:
		return Where(w.comparison(x), x, w.like(x))
	}
}

func (w *writer) unary(x *Node) *Node {
	fs := []func(*Node) *Node{Neg, Abs, Tanh, Logistic, Sin, Cos, Square,
		func(x *Node) *Node { return Exp(x) },
		func(x *Node) *Node { return Log(AddScalar(Abs(x), 0.5)) },
		func(x *Node) *Node { return Sqrt(AddScalar(Abs(x), 0.5)) },
		func(x *Node) *Node { return Inverse(AddScalar(Abs(x), 0.5)) },
		func(x *Node) *Node { return MaxScalar(x, 0) },
		func(x *Node) *Node { return Log1P(Abs(x)) },
		func(x *Node) *Node { return MulScalar(x, 0.25) },
		func(x *Node) *Node { return StopGradient(x) },
		func(x *Node) *Node { return Erf(x) },
	}
	return fs[w.rng.Intn(len(fs))](x)
}

func (w *writer) binary(x, y *Node) *Node {
	if w.rng.Intn(2) == 0 {
		x, y = y, x
	}
	switch w.rng.Intn(7) {
	case 0, 1:
		return Add(x, y)
	case 2:
		return Sub(x, y)
	case 3:
		return Div(x, AddScalar(Abs(y), 0.5))
	case 4:
		return Max(x, y)
	case 5:
		return Min(x, y)
	}
	return Mul(x, y)
}

func (w *writer) someAxes(x *Node) []int {
	axes := w.rng.Perm(x.Rank())[:1+w.rng.Intn(x.Rank())]
	slices.Sort(axes)
	return axes
}

// regroup multiplies neighbours, or splits off ones.
func (w *writer) regroup(dims []int) []int {
	var out []int
	for _, d := range dims {
		switch {
		case len(out) > 0 && w.rng.Intn(2) == 0:
			out[len(out)-1] *= d
		case d%4 == 0 && d > 0 && w.rng.Intn(2) == 0:
			out = append(out, d/4, 4)
		default:
			out = append(out, d)
		}
	}
	if w.rng.Intn(4) == 0 {
		out = append(out, 1)
	}
	return out
}

func (w *writer) slice(x *Node) *Node {
	spec := make([]SliceAxisSpec, x.Rank())
	for i, d := range x.Shape().Dimensions {
		spec[i] = AxisRange()
		if d > 1 && w.rng.Intn(2) == 0 {
			from := w.rng.Intn(d)
			spec[i] = AxisRange(from, from+1+w.rng.Intn(d-from))
			if !w.gradient && w.rng.Intn(2) == 0 {
				spec[i] = spec[i].Stride(1 + w.rng.Intn(3))
			}
		}
	}
	return Slice(x, spec...)
}

// sameBut returns y if it has the shape of x, else x.
func (w *writer) sameBut(x, y *Node) *Node {
	if y.Shape().EqualDimensions(x.Shape()) {
		return y
	}
	return MulScalar(x, 0.5)
}

// dot contracts one or two axes of x with those of equal size of another value, some axes aligned.
func (w *writer) dot(x *Node) *Node {
	y := w.permuted(w.pick())
	if w.rng.Intn(2) == 0 {
		x = w.permuted(x)
	}
	var contract, batch [][2]int
	used := make(map[int]bool)
	for i, d := range x.Shape().Dimensions {
		for j, e := range y.Shape().Dimensions {
			if d == e && !used[j] {
				switch w.rng.Intn(4) {
				case 0, 1:
					contract = append(contract, [2]int{i, j})
					used[j] = true
				case 2:
					batch = append(batch, [2]int{i, j})
					used[j] = true
				default:
					continue
				}
				break
			}
		}
	}
	size := 1
	for i, d := range x.Shape().Dimensions {
		if !slices.ContainsFunc(contract, func(p [2]int) bool { return p[0] == i }) {
			size *= d
		}
	}
	for j, d := range y.Shape().Dimensions {
		if !used[j] {
			size *= d
		}
	}
	if size > 50000 || y.Rank() == 0 || x.Shape().IsZeroSize() || y.Shape().IsZeroSize() {
		return x // sums over no terms: TestEmptySums; the portable backend (v0.1.3) reads memory there that it has not cleared
	}
	w.tell("dot %s %s %v %v", x.Shape(), y.Shape(), contract, batch)
	return MulScalar(EinsumAxes(x, y, contract, batch), 0.3)
}

func (w *writer) gather(x *Node) *Node {
	d := x.Shape().Dimensions[0]
	if d == 0 {
		return x
	}
	indices := make([]int32, 1+w.rng.Intn(9))
	for i := range indices {
		indices[i] = int32(w.rng.Intn(d))
	}
	at := Const(x.Graph(), tensors.FromFlatDataAndDimensions(indices, len(indices), 1))
	if !w.gradient && w.rng.Intn(3) == 0 {
		return ScatterSum(x, at, Gather(x, at), false, false)
	}
	return Gather(x, at)
}

// attention draws queries, keys and values of its own size, sometimes so many that they are computed in blocks, and a mask.
func (w *writer) attention() *Node {
	g := w.floats[0].Graph()
	b, h, m, d := 1+w.rng.Intn(3), 1+w.rng.Intn(3), 1+w.rng.Intn(40), []int{1, 3, 8, 16, 24, 32}[w.rng.Intn(6)]
	n := m
	causal := w.rng.Intn(3) == 0
	if !causal {
		n = 1 + w.rng.Intn(40)
	}
	if (b+h+m+n+d)%13 == 0 { // in blocks
		m, n = m+513, n+513
	}
	value := func(length int) *Node { // numbers that depend on an input
		grid := Iota(g, shapes.Make(w.dtype, b, length, h, d), w.rng.Intn(4))
		waves := Add(Sin(grid), Cos(MulScalar(Iota(g, shapes.Make(w.dtype, b, length, h, d), 1), 0.7)))
		x := w.pick()
		if x.Shape().IsZeroSize() {
			return waves
		}
		return Mul(waves, ReduceAllMean(x))
	}
	options := attention.CoreOptions{UseCausalMask: causal}
	if !causal && w.rng.Intn(3) > 0 {
		dims := []int{b, m, h, n}
		for i := range 3 {
			if w.rng.Intn(2) == 0 {
				dims[i] = 1
			}
		}
		mask := make([]bool, dims[0]*dims[1]*dims[2]*dims[3])
		for i := range mask {
			// Every query sees its first key: the plain form has no gradient for those that see none.
			mask[i] = w.rng.Intn(3) > 0 || i%n == 0
		}
		options.AttentionMask = Const(g, tensors.FromFlatDataAndDimensions(mask, dims...))
	}
	w.tell("attention %v %v causal %v", []int{b, h, m, n, d}, options.AttentionMask != nil, causal)
	y, _ := attention.Core(value(m), value(n), value(n), attention.LayoutBSHD, options)
	return y
}

// comparison of an exact value, with the shape of x.
func (w *writer) comparison(x *Node) *Node {
	for _, i := range w.rng.Perm(len(w.exact)) {
		if y := w.exact[i]; y.Shape().EqualDimensions(x.Shape()) {
			return w.compare(y, w.exact[w.rng.Intn(len(w.exact))])
		}
	}
	half := Iota(x.Graph(), shapes.Make(dtypes.Int32, x.Shape().Dimensions...), w.axis(x))
	return GreaterThan(half, Scalar(x.Graph(), dtypes.Int32, 2))
}

func (w *writer) compare(x, y *Node) *Node {
	if !x.Shape().EqualDimensions(y.Shape()) {
		y = Scalar(x.Graph(), w.dtype, 0.25)
	}
	fs := []func(*Node, *Node) *Node{Equal, NotEqual, LessThan, LessOrEqual, GreaterThan, GreaterOrEqual}
	return fs[w.rng.Intn(len(fs))](x, y)
}

// discrete makes a value of another type from an exact one.
func (w *writer) discrete() *Node {
	x := w.exact[w.rng.Intn(len(w.exact))]
	choice := w.rng.Intn(13)
	w.tell("discrete %d of %s", choice, x.Shape())
	integers := ConvertDType(MulScalar(x, 4), []dtypes.DType{dtypes.Int8, dtypes.Int16, dtypes.Int32, dtypes.Int64}[w.rng.Intn(4)])
	if x.Rank() == 0 || x.Shape().IsZeroSize() {
		choice %= 5
	}
	switch choice {
	case 0:
		return w.compare(x, x)
	case 1:
		return Sign(x)
	case 2:
		return Mul(integers, Add(integers, OnesLike(integers)))
	case 3:
		return Div(integers, AddScalar(Abs(integers), 1))
	case 4:
		return ConvertDType(w.compare(x, w.exact[0]), dtypes.Int64)
	case 5:
		return ArgMax(x, w.axis(x))
	case 6:
		return ReduceSum(ConvertDType(w.compare(x, x), dtypes.Int32), w.someAxes(x)...)
	case 7:
		return Reverse(integers, w.someAxes(x)...)
	case 8:
		pads := make([]compute.PadAxis, x.Rank())
		for i := range pads {
			pads[i] = compute.PadAxis{Start: w.rng.Intn(4), End: w.rng.Intn(4), Interior: w.rng.Intn(3)}
		}
		return Pad(integers, ScalarOne(x.Graph(), integers.DType()), pads...)
	case 9:
		return Sort(x, w.axis(x), w.rng.Intn(2) == 0)
	case 10:
		return ReduceLogicalOr(w.compare(x, x), w.someAxes(x)...)
	case 11:
		return BitwiseXor(integers, BitwiseShiftLeft(integers, OnesLike(integers)))
	default:
		return ReduceMin(integers, w.someAxes(x)...)
	}
}
