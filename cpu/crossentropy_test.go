package cpu_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/dtypes/float16"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"universal-transformer/cpu"
)

// entropyCase has the inputs of a cross-entropy function, w as [V, D].
type entropyCase struct {
	rows, width, words int
	h, w, a, b         []float64
	target             []int32
}

func newEntropyCase(rows, width, words int) entropyCase {
	rng := rand.New(rand.NewPCG(5, 6))
	c := entropyCase{rows: rows, width: width, words: words}
	normal := func(n int, scale float64) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(float32(scale * rng.NormFloat64()))
		}
		return x
	}
	c.h, c.w, c.a, c.b = normal(rows*width, 1), normal(words*width, 0.7), normal(rows, 1), normal(rows, 0.01)
	for r := range rows {
		c.target = append(c.target, int32(rng.IntN(words)))
		switch r % 5 {
		case 0:
			c.a[r], c.b[r] = 0, 0 // left out
		case 1:
			c.a[r] = 0
		case 2:
			c.b[r] = 0
			for d := range width { // the target is likely
				c.h[r*width+d] += c.w[int(c.target[r])*width+d]
			}
		}
	}
	return c
}

// plain returns truth, total, correct, dh and dw in loops.
func (c entropyCase) plain() (out [5][]float64) {
	for i, n := range []int{c.rows, c.rows, c.rows, c.rows * c.width, c.words * c.width} {
		out[i] = make([]float64, n)
	}
	z := make([]float64, c.words)
	for r := range c.rows {
		if c.a[r] == 0 && c.b[r] == 0 {
			continue
		}
		h, t := c.h[r*c.width:][:c.width], int(c.target[r])
		sum, all := 0.0, 0.0
		for v := range z {
			z[v] = 0
			for d, x := range h {
				z[v] += x * c.w[v*c.width+d]
			}
			sum, all = sum+math.Exp(z[v]), all+z[v]
		}
		out[0][r], out[1][r] = z[t]-math.Log(sum), all-float64(c.words)*math.Log(sum)
		if slices.Max(z) == z[t] {
			out[2][r] = 1
		}
		for v := range z {
			dz := c.b[r] - (c.a[r]+float64(c.words)*c.b[r])*math.Exp(z[v])/sum
			if v == t {
				dz += c.a[r]
			}
			for d := range h {
				out[3][r*c.width+d] += dz * c.w[v*c.width+d]
				out[4][v*c.width+d] += dz * h[d]
			}
		}
	}
	return out
}

// turned returns the transposed matrix of rows of n elements.
func turned(x []float64, n int) []float64 {
	var y []float64
	for j := range n {
		for i := j; i < len(x); i += n {
			y = append(y, x[i])
		}
	}
	return y
}

// run calls a function of the given name whose body returns some of its inputs, so that one that runs as written is noticed. Only the
// first results are used. With half, the graph also has a number without kernels.
func (c entropyCase) run(t *testing.T, backend compute.Backend, name string, columns bool, dtype, target dtypes.DType, results int, half bool) (out [][]float64) {
	t.Helper()
	w, dims := c.w, []int{c.words, c.width}
	if columns {
		w, dims = turned(c.w, c.width), []int{c.width, c.words}
	}
	exec, err := NewExec(backend, func(h, w, target64, a, b *Node) []*Node {
		in := []*Node{ConvertDType(h, dtype), ConvertDType(w, dtype), ConvertDType(target64, target), ConvertDType(a, dtype), ConvertDType(b, dtype)}
		f := NewFunction(h.Graph(), name, func(g *Graph) []*Node {
			var p []*Node
			for i, x := range in {
				p = append(p, Parameter(g, fmt.Sprint("x", i), x.Shape()))
			}
			return []*Node{Neg(p[3]), Neg(p[4]), Sub(p[4], p[3]), Neg(p[0]), Neg(p[1])}
		})
		list := f.Call(in...)[:results]
		for i := range list {
			list[i] = ConvertDType(list[i], dtypes.Float64)
		}
		if half {
			list = append(list, ConvertDType(Const(h.Graph(), float16.FromFloat32(1)), dtypes.Float64))
		}
		return list
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	vector := shapes.Make(dtypes.Float64, c.rows)
	got, err := exec.Call(tensors.FromFlatDataAndDimensions(c.h, c.rows, c.width), tensors.FromFlatDataAndDimensions(w, dims...),
		tensors.FromFlatDataAndDimensions(c.target, c.rows), tensors.FromFlatDataAndDimensions(c.a, vector.Dimensions...), tensors.FromFlatDataAndDimensions(c.b, vector.Dimensions...))
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range got[:results] {
		flat := tensors.MustCopyFlatData[float64](x)
		if i == 4 && columns {
			flat = turned(flat, c.words)
		}
		out = append(out, flat)
	}
	return out
}

// The blocks of the cross entropy have the results of plain loops at every level, in both types and layouts: rows that count for the
// target, for all words, for both and for neither. Threads change no bit, and neither does asking for fewer results. Two blocks of rows and
// of columns, and parts of both, none a multiple of a vector.
// Caught when planted: a block of rows more; largest and sums of another block of columns; rows that are left out in dw; the order of
// rows after one is left out; a sum for all words of the columns behind the last.
func TestCrossEntropy(t *testing.T) {
	c := newEntropyCase(821, 19, 1123)
	want := c.plain()
	if n := slices.Index(want[2], 1); n < 0 {
		t.Fatal("no target is the most probable word: the case shows nothing")
	}
	for _, level := range []string{"scalar", "avx2", "avx512", "neon"} {
		for _, columns := range []bool{false, true} {
			for dtype, limit := range map[dtypes.DType]float64{dtypes.Float32: 2e-5, dtypes.Float64: 1e-12} {
				layout, first := cpu.CrossEntropyFunction+"rows", [][]float64(nil)
				if columns {
					layout = cpu.CrossEntropyFunction + "columns"
				}
				for _, threads := range []int{1, 3} {
					backend, err := compute.NewWithConfig(fmt.Sprintf("cpu:%s,threads=%d", level, threads))
					if err != nil {
						continue
					}
					got := c.run(t, backend, layout, columns, dtype, dtypes.Int32, 5, false)
					if first == nil {
						first = got
						checkClose(t, fmt.Sprintf("%s, columns %v, %v", level, columns, dtype), got, want, limit)
					}
					fewer := c.run(t, backend, layout+"/fewer", columns, dtype, dtypes.Int32, 3, false)
					for i := range got {
						if !slices.Equal(got[i], first[i]) || i < len(fewer) && !slices.Equal(fewer[i], first[i]) {
							t.Errorf("%s, columns %v, %v: result %d depends on threads or on the results that are used", level, columns, dtype, i)
						}
					}
					backend.Finalize()
				}
			}
		}
	}
}

// checkClose compares results with those of plain loops, relative to the largest element of each.
func checkClose(t *testing.T, what string, got [][]float64, want [5][]float64, limit float64) {
	t.Helper()
	for i := range got {
		off, largest := 0.0, 1.0
		for j, x := range want[i] {
			off, largest = max(off, math.Abs(got[i][j]-x)), max(largest, math.Abs(x))
		}
		if math.IsNaN(off) || off > limit*largest {
			t.Errorf("%s: result %d is off by %g of %g", what, i, off, largest)
		}
	}
}

// A function of another name or other types runs as written, and so does one in a graph that runs on the portable backend.
func TestOtherFunctionsRunAsWritten(t *testing.T) {
	backend := newBackend(t, "cpu")
	c := newEntropyCase(12, 3, 40)
	for _, test := range []struct {
		name    string
		columns bool // of w
		target  dtypes.DType
		half    bool
	}{
		{"other/rows", false, dtypes.Int32, false}, {cpu.CrossEntropyFunction + "rows", true, dtypes.Int32, false},
		{cpu.CrossEntropyFunction + "columns", false, dtypes.Int32, false}, {cpu.CrossEntropyFunction + "rows", false, dtypes.Int64, false},
		{cpu.CrossEntropyFunction + "rows", false, dtypes.Int32, true},
	} {
		got := c.run(t, backend, test.name, test.columns, dtypes.Float64, test.target, 5, test.half)
		difference := make([]float64, c.rows)
		for r := range difference {
			difference[r] = c.a[r] - c.b[r]
		}
		for i, x := range [][]float64{c.a, c.b, difference, c.h, c.w} {
			for j := range x {
				if got[i][j] != -x[j] {
					t.Fatalf("%+v: result %d was not computed as written", test, i)
				}
			}
		}
	}
}
