package cpu_test

import (
	"bytes"
	"fmt"
	"log"
	"math"
	"math/rand"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/compute/support/testutil"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/layers/attention"
	"universal-transformer/cpu"
)

// run executes a graph of one result.
func run(t *testing.T, b compute.Backend, inputs []any, build func(f compute.Function, in []compute.Value) (compute.Value, error)) any {
	t.Helper()
	got, err := testutil.Exec1(b, inputs, build)
	if err != nil {
		t.Fatalf("%+v", err)
	}
	return got
}

// TestBeyondPortable checks by hand what the portable backend does not do.
func TestBeyondPortable(t *testing.T) {
	b := newBackend(t, "cpu")
	for _, c := range []struct {
		name   string
		inputs []any
		build  func(f compute.Function, in []compute.Value) (compute.Value, error)
		want   any
	}{
		{"negative padding cuts", []any{[]int32{1, 2, 3, 4}, int32(9)}, func(f compute.Function, in []compute.Value) (compute.Value, error) {
			return f.Pad(in[0], in[1], compute.PadAxis{Start: -1, End: 2})
		}, []int32{2, 3, 4, 9, 9}},
		{"negative padding between inserted elements", []any{[]int32{1, 2, 3}, int32(9)}, func(f compute.Function, in []compute.Value) (compute.Value, error) {
			return f.Pad(in[0], in[1], compute.PadAxis{Start: -2, End: -1, Interior: 2}) // 1 9 9 2 9 9 3
		}, []int32{9, 2, 9, 9}},
		{"a dynamic slice stays inside", []any{[]float32{1, 2, 3, 4, 5}, int32(4)}, func(f compute.Function, in []compute.Value) (compute.Value, error) {
			return f.DynamicSlice(in[0], in[1:], []int{3})
		}, []float32{3, 4, 5}},
		{"a dynamic update stays inside", []any{[][]float32{{1, 2}, {3, 4}, {5, 6}}, [][]float32{{8, 9}}, int64(-3), int64(0)}, func(f compute.Function, in []compute.Value) (compute.Value, error) {
			return f.DynamicUpdateSlice(in[0], in[1], in[2:])
		}, [][]float32{{8, 9}, {3, 4}, {5, 6}}},
		{"integer division by zero has all bits set", []any{[]int32{7, -7}, []int32{0, 2}}, func(f compute.Function, in []compute.Value) (compute.Value, error) {
			return f.Div(in[0], in[1])
		}, []int32{-1, -3}},
		{"the remainder of a division by zero is the dividend", []any{[]uint8{7, 9}, []uint8{0, 4}}, func(f compute.Function, in []compute.Value) (compute.Value, error) {
			return f.Rem(in[0], in[1])
		}, []uint8{7, 1}},
		{"updates outside are dropped", []any{[]float32{1, 2, 3}, [][]int32{{2}, {5}, {-1}}, []float32{10, 20, 30}}, func(f compute.Function, in []compute.Value) (compute.Value, error) {
			return f.ScatterSum(in[0], in[1], in[2], 1, nil, []int{0}, []int{0}, false, false)
		}, []float32{1, 2, 13}},
		{"a shift by more than the width", []any{[]int32{-8}, []int32{40}}, func(f compute.Function, in []compute.Value) (compute.Value, error) {
			return f.ShiftRightArithmetic(in[0], in[1])
		}, []int32{-1}},
	} {
		if got := run(t, b, c.inputs, c.build); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// TestFirstExtreme: of equals the first, and what is not a number before all, in rows of any length. Caught when planted: the last of
// equals; the largest for the smallest.
func TestFirstExtreme(t *testing.T) {
	b := newBackend(t, "cpu")
	rng := rand.New(rand.NewSource(1))
	for length := 1; length < 40; length++ {
		rows := make([][]float32, 7)
		want := map[bool][]int32{}
		for r := range rows {
			rows[r] = make([]float32, length)
			for i := range rows[r] {
				rows[r][i] = float32(rng.Intn(5) - 2)
				if r == 6 && rng.Intn(length) == 0 {
					rows[r][i] = float32(math.NaN())
				}
			}
			for _, isMin := range []bool{false, true} {
				best := 0
				for i, v := range rows[r] {
					old := rows[r][best]
					if old == old && (v != v || isMin && v < old || !isMin && v > old) {
						best = i
					}
				}
				want[isMin] = append(want[isMin], int32(best))
			}
		}
		for isMin, positions := range want {
			got := run(t, b, []any{rows}, func(f compute.Function, in []compute.Value) (compute.Value, error) {
				return f.ArgMinMax(in[0], 1, dtypes.Int32, isMin)
			})
			if !reflect.DeepEqual(got, positions) {
				t.Errorf("%v, smallest %v: got %v, want %v", rows, isMin, got, positions)
			}
		}
	}
}

// captureLog returns what f logs.
func captureLog(f func()) string {
	var out bytes.Buffer
	defer log.SetOutput(log.Writer())
	log.SetOutput(&out)
	f()
	return out.String()
}

// TestReplay: a graph with a type that no kernel has runs whole on the portable backend, attention included, and one
// line says so, once.
func TestReplay(t *testing.T) {
	if pointersChecked {
		t.Skip("the portable backend breaks the rules of unsafe.Pointer that are checked here")
	}
	b := newBackend(t, "cpu")
	build := func(half bool) func(q *Node) []*Node {
		return func(q *Node) []*Node {
			mask := Const(q.Graph(), [][][][]bool{{{{true, true, false, true}}}, {{{true, false, false, false}}}})
			y, _ := attention.Core(q, Sin(q), Cos(q), attention.LayoutBSHD, attention.CoreOptions{AttentionMask: mask})
			causal, _ := attention.Core(q, Sin(q), y, attention.LayoutBSHD, attention.CoreOptions{UseCausalMask: true})
			loss := ReduceAllSum(Mul(causal, Exp(y)))
			out := []*Node{y, loss, Gradient(loss, q)[0]}
			if half {
				out = append(out, ConvertDType(loss, dtypes.Float16))
			}
			return out
		}
	}
	values := make([]float32, 2*4*3*16)
	for i := range values {
		values[i] = float32(math.Sin(float64(i)))
	}
	q := tensors.FromFlatDataAndDimensions(values, 2, 4, 3, 16)
	want := MustNewExec(b, build(false)).MustCall(q)
	var got []*tensors.Tensor
	said := captureLog(func() {
		for range 2 {
			got = MustNewExec(b, build(true)).MustCall(q)
		}
	})
	if strings.Count(said, "\n") != 1 || !strings.Contains(said, "Float16") {
		t.Errorf("logged %q, want one line that names the type", said)
	}
	for i := range want {
		if why := difference(got[i], want[i]); why != "" {
			t.Errorf("result %d: %s", i, why)
		}
	}
}

// TestHiddenRows: a query that sees no key gives zero and passes no gradient.
func TestHiddenRows(t *testing.T) {
	for _, config := range configs {
		t.Run(config, func(t *testing.T) {
			b := newBackend(t, config)
			exec := MustNewExec(b, func(q *Node) []*Node {
				mask := Const(q.Graph(), [][][][]bool{{{{true, true, false}}}, {{{false, false, false}}}}) // [2, 1, 1, 3]
				y, _ := attention.Core(q, q, q, attention.LayoutBSHD, attention.CoreOptions{AttentionMask: mask})
				return []*Node{y, Gradient(ReduceAllSum(y), q)[0]}
			})
			values := make([]float64, 2*3*1*5)
			for i := range values {
				values[i] = float64(i%7) - 3
			}
			for _, out := range exec.MustCall(tensors.FromFlatDataAndDimensions(values, 2, 3, 1, 5)) {
				x := numbers(out)
				for i, v := range x {
					if math.IsNaN(v) || i >= 15 && v != 0 {
						t.Errorf("%s: element %d is %v", config, i, v)
					}
				}
				if x[0] == 0 {
					t.Errorf("%s: nothing where keys are seen", config)
				}
			}
		})
	}
}

// TestCausal: what a position of a causal stack gives has the same bits whatever comes after it.
func TestCausal(t *testing.T) {
	for _, config := range configs {
		t.Run(config, func(t *testing.T) {
			b := newBackend(t, config)
			exec := MustNewExec(b, func(x *Node) *Node {
				for range 2 {
					heads := Reshape(x, 2, 37, 4, 16)
					y, _ := attention.Core(heads, Sin(heads), heads, attention.LayoutBSHD, attention.CoreOptions{UseCausalMask: true})
					x = Tanh(Add(x, Reshape(y, 2, 37, 64)))
					x = Einsum("bmd,dn->bmn", x, MulScalar(IotaFull(x.Graph(), shapes.Make(dtypes.Float32, 64, 64)), 1e-4))
				}
				return x
			})
			values := make([]float32, 2*37*64)
			for i := range values {
				values[i] = float32(math.Sin(float64(i)))
			}
			base := numbers(exec.MustCall1(tensors.FromFlatDataAndDimensions(values, 2, 37, 64)))
			for _, cut := range []int{1, 11, 12, 16, 30, 36} {
				changed := append([]float32(nil), values...)
				for i := range changed {
					if i/64%37 >= cut {
						changed[i] = float32(i % 5)
					}
				}
				got := numbers(exec.MustCall1(tensors.FromFlatDataAndDimensions(changed, 2, 37, 64)))
				for i := range got {
					if i/64%37 < cut && got[i] != base[i] {
						t.Fatalf("%s: position %d changes with those from %d on", config, i/64%37, cut)
					}
				}
			}
		})
	}
}

// losses runs a few updates.
func losses(tr *trainer, n int) string {
	var out strings.Builder
	for range n {
		fmt.Fprintf(&out, "%x ", math.Float64bits(tr.step()))
	}
	return out.String()
}

// TestSameBits: the same graph on the same threads gives the same bits, alone or among others.
func TestSameBits(t *testing.T) {
	c := small
	c.width, c.heads, c.length = 64, 4, 33
	for _, threads := range []int{1, 2, 3} {
		b := newBackend(t, fmt.Sprintf("cpu:threads=%d", threads))
		want := losses(c.trainer(b), 3)
		if got := losses(c.trainer(b), 3); got != want {
			t.Errorf("%d threads: %s, then %s", threads, want, got)
		}
		var wait sync.WaitGroup
		for range 4 {
			wait.Go(func() {
				if got := losses(c.trainer(b), 3); got != want {
					t.Errorf("%d threads, concurrently: %s, want %s", threads, got, want)
				}
			})
		}
		wait.Wait()
	}
}

// TestSteadyState: once warm, an execution allocates for its results only, and donated inputs become results.
func TestSteadyState(t *testing.T) {
	b := newBackend(t, "cpu")
	tr := base.trainer(b)
	tr.step()
	tr.step()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const steps = 5
	for range steps {
		tr.step()
	}
	runtime.ReadMemStats(&after)
	// GoMLX itself allocates for the handles of about a hundred variables; tensors would be megabytes.
	if grown := (after.TotalAlloc - before.TotalAlloc) / steps; grown > 200<<10 {
		t.Errorf("an update allocates %d bytes", grown)
	}
}

// TestFinalize: a finalized backend refuses to work, and says so.
func TestFinalize(t *testing.T) {
	b, err := compute.NewWithConfig("cpu")
	if err != nil {
		t.Fatal(err)
	}
	exec := MustNewExec(b, func(x *Node) *Node { return Neg(x) })
	if got := exec.MustCall1(float32(2)).Value(); got != float32(-2) {
		t.Fatalf("got %v", got)
	}
	b.Finalize()
	b.Finalize()
	if !b.IsFinalized() {
		t.Error("not finalized")
	}
	if _, err := b.BufferFromFlatData(0, []float32{1}, shapes.Make(dtypes.Float32, 1)); err == nil {
		t.Error("a finalized backend takes a buffer")
	}
}

// TestOptions: what New does not know is an error.
func TestOptions(t *testing.T) {
	for _, config := range []string{"threads=0", "threads=x", "sse", "avx512,fast"} {
		if _, err := cpu.New(config); err == nil {
			t.Errorf("%q is accepted", config)
		}
	}
	b, err := cpu.New("scalar,threads=3")
	if err != nil {
		t.Fatal(err)
	}
	defer b.Finalize()
	if d := b.Description(); !strings.Contains(d, "scalar") || !strings.Contains(d, "3 threads") {
		t.Errorf("description %q", d)
	}
	rounding, err := cpu.New("scalar,products=bf16")
	if err != nil {
		t.Fatal(err)
	}
	defer rounding.Finalize()
	if d := rounding.Description(); !strings.Contains(d, "products in bf16") { // checkpoints hold it
		t.Errorf("description %q", d)
	}
}
