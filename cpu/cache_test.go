package cpu_test

import (
	"math/rand/v2"
	"testing"

	"github.com/gomlx/compute"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/layers/attention"
)

// update writes two updates into a tensor and reads what the first made of it.
func update(x, a, b, at *Node) []*Node {
	zero := ScalarZero(x.Graph(), at.DType())
	first := DynamicUpdateSlice(x, a, []*Node{zero, at})
	return []*Node{ReduceAllSum(Square(first)), DynamicUpdateSlice(first, b, []*Node{at, zero})}
}

// An update of a tensor that is given away writes into its memory; of one that is not, into other memory.
// Caught when planted: an update that never copies; the memory of one tensor for two results.
func TestUpdatesInPlace(t *testing.T) {
	backend := newBackend(t, "cpu")
	exec := MustNewExec(backend, func(nodes []*Node) []*Node {
		x, y, a, b, at := nodes[0], nodes[1], nodes[2], nodes[3], nodes[4]
		before := ReduceAllSum(y)
		return append(append(update(x, a, b, at), update(y, a, b, at)...), before)
	})
	defer exec.Finalize()
	values := func(from float32) *tensors.Tensor {
		flat := make([]float32, 12)
		for i := range flat {
			flat[i] = from + float32(i)
		}
		return tensors.FromFlatDataAndDimensions(flat, 3, 4)
	}
	address := func(x *tensors.Tensor) (p *float32) {
		tensors.MustConstFlatData(x, func(flat []float32) { p = &flat[0] })
		return p
	}
	a, b := [][]float32{{100}, {200}}, [][]float32{{7, 8}}
	want := func(from float32) (sum float32, flat []float32) { // in plain loops
		flat = make([]float32, 12)
		for i := range flat {
			flat[i] = from + float32(i)
		}
		flat[1], flat[5] = 100, 200
		for _, v := range flat {
			sum += v * v
		}
		flat[4], flat[5] = 7, 8
		return sum, flat
	}
	for _, give := range []bool{false, true} {
		x, y := values(0), values(50)
		if err := x.MaterializeOnDevice(backend, true, 0); err != nil {
			t.Fatal(err)
		}
		if err := y.MaterializeOnDevice(backend, true, 0); err != nil {
			t.Fatal(err)
		}
		args := []any{x, y, a, b, int32(1)}
		memory := []*float32{address(x), address(y)}
		if give {
			for i, given := range []*tensors.Tensor{x, y} {
				donated, err := DonateTensorBuffer(given, backend, 0)
				if err != nil {
					t.Fatal(err)
				}
				args[i] = donated
			}
		}
		out := exec.MustCall(args...)
		for i, from := range []float32{0, 50} {
			sum, flat := want(from)
			if got := tensors.ToScalar[float32](out[2*i]); got != sum {
				t.Errorf("given away %v: the first update sums to %v, want %v", give, got, sum)
			}
			for j, v := range tensors.MustCopyFlatData[float32](out[2*i+1]) {
				if v != flat[j] {
					t.Errorf("given away %v: element %d is %v, want %v", give, j, v, flat[j])
				}
			}
			if !give && tensors.MustCopyFlatData[float32]([]*tensors.Tensor{x, y}[i])[1] != from+1 {
				t.Error("an update wrote into memory that was not given away")
			}
			if give && i == 1 && address(out[2*i+1]) == memory[0] {
				t.Error("results are in each other's memory")
			}
		}
		if got := tensors.ToScalar[float32](out[4]); got != 12*50+66 {
			t.Errorf("given away %v: what the tensor was sums to %v, want %v", give, got, 12*50+66)
		}
	}
}

// One update of each of several tensors of one size, as a cache is revised: each stays where it is.
// Caught when planted: updates that do not count as being in step with what they update.
func TestCacheStaysInPlace(t *testing.T) {
	backend := newBackend(t, "cpu")
	exec := MustNewExec(backend, func(nodes []*Node) []*Node {
		out := []*Node{}
		for _, x := range nodes[1:] {
			zero := ScalarZero(x.Graph(), nodes[0].DType())
			out = append(out, DynamicUpdateSlice(x, OnePlus(ReduceAndKeep(x, ReduceSum, -1)), []*Node{zero, nodes[0]}))
		}
		return append(out, ReduceAllSum(out[0]))
	})
	defer exec.Finalize()
	cache := make([]*tensors.Tensor, 3)
	for i := range cache {
		cache[i] = tensors.FromFlatDataAndDimensions(make([]float32, 8), 2, 4)
	}
	var memory []*float32
	for n := range 4 {
		args := []any{int32(n)}
		for _, x := range cache {
			donated, err := DonateTensorBuffer(x, backend, 0)
			if err != nil {
				t.Fatal(err)
			}
			args = append(args, donated)
		}
		cache = exec.MustCall(args...)[:3]
		for i, x := range cache {
			tensors.MustConstFlatData(x, func(flat []float32) {
				if n == 0 {
					memory = append(memory, &flat[0])
				} else if memory[i] != &flat[0] {
					t.Errorf("update %d: tensor %d has moved", n, i)
				}
				if flat[n] != float32(int(1)<<n) || flat[4+n] != flat[n] { // one more than the sum of those before
					t.Errorf("update %d: tensor %d holds %v", n, i, flat)
				}
			})
		}
	}
}

// Attention to keys that lie channel by channel is attention. Caught when planted: the distance of positions for that of channels.
func TestAttentionToTransposedKeys(t *testing.T) {
	graph := func(q, k, v, seen *Node) *Node {
		mask := LessOrEqual(Iota(q.Graph(), seen.Shape(), 3), seen)
		y, _ := attention.Core(q, TransposeAllAxes(k, 0, 3, 1, 2), TransposeAllAxes(v, 0, 2, 1, 3), attention.LayoutBSHD, attention.CoreOptions{AttentionMask: mask})
		return y
	}
	rng := rand.New(rand.NewPCG(3, 1))
	random := func(dims ...int) *tensors.Tensor {
		n := 1
		for _, d := range dims {
			n *= d
		}
		flat := make([]float32, n)
		for i := range flat {
			flat[i] = float32(rng.NormFloat64())
		}
		return tensors.FromFlatDataAndDimensions(flat, dims...)
	}
	for _, c := range []struct{ rows, queries, keys int }{{1, 1, 64}, {3, 1, 13}, {2, 5, 32}, {2, 7, 9}} {
		seen := make([]int32, c.queries*c.keys)
		for i := range seen {
			seen[i] = int32(c.keys/2 + i/c.keys)
		}
		inputs := []*tensors.Tensor{random(c.rows, c.queries, 3, 8), random(c.rows, 3, 8, c.keys), random(c.rows, 3, c.keys, 8),
			tensors.FromFlatDataAndDimensions(seen, 1, c.queries, 1, c.keys)}
		call := func(b compute.Backend) *tensors.Tensor {
			var copies []any
			for _, x := range inputs {
				clone, err := x.LocalClone()
				if err != nil {
					t.Fatal(err)
				}
				copies = append(copies, clone)
			}
			out := MustNewExec(b, graph).MustCall(copies...)[0]
			if err := out.ToLocal(); err != nil {
				t.Fatal(err)
			}
			return out
		}
		want := call(reference(t))
		for _, config := range configs {
			b, err := compute.NewWithConfig(config)
			if err != nil {
				continue
			}
			if got := call(b); !got.InDelta(want, 1e-5) {
				t.Errorf("%s, %+v: %v, want %v", config, c, got, want)
			}
			b.Finalize()
		}
	}
}
