package cpu

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
)

// Weights that do not change are packed once, for all graphs that pack them alike, and the results are those of weights that may change.
// Those are packed for every execution. Caught when planted: a key without the kernel or without the offset; packings of weights that
// may change.
func TestFrozenWeightsArePackedOnce(t *testing.T) {
	const k, n = 70, 45
	rng := rand.New(rand.NewPCG(6, 0))
	draw := func(count int) []float32 {
		list := make([]float32, count)
		for i := range list {
			list[i] = float32(rng.NormFloat64())
		}
		return list
	}
	weights := draw(k * n)
	for _, config := range []string{"scalar,products=bf16", "threads=3,scalar,products=bf16", "scalar", "threads=1"} {
		made, err := New(config)
		if err != nil {
			t.Fatal(err)
		}
		b := made.(*Backend)
		defer b.Finalize()
		w, err := b.BufferFromFlatData(0, weights, shapes.Make(dtypes.Float32, k, n))
		if err != nil {
			t.Fatal(err)
		}
		frozen, err := b.BufferFromFlatData(0, weights, shapes.Make(dtypes.Float32, k, n))
		if err != nil {
			t.Fatal(err)
		}
		frozen.(*buffer).Freeze()
		for _, m := range []int{1, 5, 40, 700} { // few rows are multiplied in float32 without packing
			e := squares(t, b, m, k, n)
			for range 2 {
				x := draw(m * k)
				want, got := run(t, e, x, w), run(t, e, x, frozen)
				if !slices.Equal(want, got) {
					t.Errorf("%s, %d rows: results differ with frozen weights", config, m)
				}
			}
			if memory := w.(*buffer).packings; len(memory) > 0 {
				t.Errorf("%s, %d rows: weights that may change are kept packed", config, m)
			}
		}
		if kept := len(frozen.(*buffer).packings); kept != 1 {
			t.Errorf("%s: frozen weights are packed %d times, want once", config, kept)
		}
		flat, err := w.Data()
		if err != nil {
			t.Fatal(err)
		}
		e, x := squares(t, b, 700, k, n), draw(700*k)
		before := run(t, e, x, w)
		flat.([]float32)[k*n-1] += 1
		if after := run(t, e, x, w); before[n-1] == after[n-1] {
			t.Errorf("%s: changed weights have no effect", config)
		}
	}
}

// squares returns a computation of x w + (x x) w for x [m, k] and w [k, n], that is, two products with the same right operand.
func squares(t *testing.T, b *Backend, m, k, n int) compute.Executable {
	t.Helper()
	builder := b.Builder("squares")
	main := builder.Main()
	must := func(v compute.Value, err error) compute.Value {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	x := must(main.Parameter("x", shapes.Make(dtypes.Float32, m, k), nil))
	w := must(main.Parameter("w", shapes.Make(dtypes.Float32, k, n), nil))
	dot := func(a compute.Value) compute.Value {
		return must(main.DotGeneral(a, []int{1}, nil, w, []int{0}, nil, compute.DotGeneralConfig{}))
	}
	sum := must(main.Add(dot(x), dot(must(main.Mul(x, x)))))
	if err := main.Return([]compute.Value{sum}, nil); err != nil {
		t.Fatal(err)
	}
	e, err := builder.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func run(t *testing.T, e compute.Executable, x []float32, w compute.Buffer) []float32 {
	t.Helper()
	result, err := execute(e, x, w)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func execute(e compute.Executable, x []float32, w compute.Buffer) ([]float32, error) {
	_, in := e.Inputs()
	input, err := w.Backend().BufferFromFlatData(0, x, in[0])
	if err != nil {
		return nil, err
	}
	out, err := e.Execute([]compute.Buffer{input, w}, make([]bool, 2), 0)
	if err != nil {
		return nil, err
	}
	result := make([]float32, e.Outputs()[0].Size())
	return result, out[0].ToFlatData(result)
}

// A frozen matrix takes as much memory again in float32, half of it in bfloat16, and about a quarter in int8, whose blocks have scales.
// Caught when planted: twice the memory that a packing needs.
func TestMemoryOfFrozenWeights(t *testing.T) {
	const size = 512
	for config, want := range map[string]float64{"threads=1": 1, "threads=1,scalar": 1, "scalar,products=bf16": 0.5, "scalar,products=int8": 0.25} {
		made, err := New(config)
		if err != nil {
			t.Fatal(err)
		}
		b := made.(*Backend)
		defer b.Finalize()
		w, err := b.BufferFromFlatData(0, make([]float32, size*size), shapes.Make(dtypes.Float32, size, size))
		if err != nil {
			t.Fatal(err)
		}
		w.(*buffer).Freeze()
		for _, rows := range []int{1, 40} {
			run(t, squares(t, b, rows, size, size), make([]float32, rows*size), w)
		}
		bytes := 0
		for _, memory := range w.(*buffer).packings {
			bytes += len(memory)
		}
		if share := float64(bytes) / (4 * size * size); share < want || share > want+0.02 {
			t.Errorf("%s: frozen weights take %.3f of their size, want %.2f", config, share, want)
		}
	}
}
