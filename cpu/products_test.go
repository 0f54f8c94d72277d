package cpu_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"universal-transformer/cpu"
)

// rounding are the configurations that round the operands of products; those that this processor lacks are skipped.
var rounding = []string{"scalar,products=bf16", "avx512,products=bf16", "products=bf16"}

// eachRounding runs a test for every kernel that rounds, with one thread and more.
func eachRounding(t *testing.T, options string, f func(t *testing.T, backend compute.Backend)) {
	for _, config := range rounding {
		for _, threads := range []int{1, 2, 3} {
			name := fmt.Sprintf("cpu:%s,threads=%d%s", config, threads, options)
			backend, err := compute.NewWithConfig(name)
			if err != nil {
				continue
			}
			t.Run(name, func(t *testing.T) { f(t, backend) })
			backend.Finalize()
		}
	}
}

// bfloat16Of rounds a normal number to eight bits, ties to even.
func bfloat16Of(x float32) float64 {
	fraction, exponent := math.Frexp(float64(x))
	return math.Ldexp(math.RoundToEven(fraction*256), exponent-8)
}

// productForm is a way in which products occur: graph computes it of x and w, and term gives the operands of term l of element r, j.
type productForm struct {
	name  string
	graph func(x, w *Node) *Node
	x, w  func(s productSize) []int // shapes
	at    func(s productSize, batch, r, j, l int) (x, w int)
	relu  bool // with a bias of 1 and a rectifier behind
}

type productSize struct{ batch, m, n, k int }

var productForms = []productForm{
	{
		"dense", func(x, w *Node) *Node { return MaxScalar(AddScalar(Dot(x, w).Product(), 1), 0) },
		func(s productSize) []int { return []int{s.batch * s.m, s.k} }, func(s productSize) []int { return []int{s.k, s.n} },
		func(s productSize, b, r, j, l int) (int, int) { return (b*s.m+r)*s.k + l, l*s.n + j }, true,
	},
	{
		"gradient by input", func(x, w *Node) *Node { return DotGeneral(x, []int{1}, nil, w, []int{1}, nil) },
		func(s productSize) []int { return []int{s.batch * s.m, s.k} }, func(s productSize) []int { return []int{s.n, s.k} },
		func(s productSize, b, r, j, l int) (int, int) { return (b*s.m+r)*s.k + l, j*s.k + l }, false,
	},
	{
		"gradient by weights", func(x, w *Node) *Node { return DotGeneral(x, []int{0}, nil, w, []int{0}, nil) },
		func(s productSize) []int { return []int{s.k, s.batch * s.m} }, func(s productSize) []int { return []int{s.k, s.n} },
		func(s productSize, b, r, j, l int) (int, int) { return l*s.batch*s.m + b*s.m + r, l*s.n + j }, false,
	},
	{
		"batches", func(x, w *Node) *Node { return DotGeneral(x, []int{2}, []int{0}, w, []int{2}, []int{0}) },
		func(s productSize) []int { return []int{s.batch, s.m, s.k} }, func(s productSize) []int { return []int{s.batch, s.n, s.k} },
		func(s productSize, b, r, j, l int) (int, int) { return (b*s.m+r)*s.k + l, (b*s.n+j)*s.k + l }, false,
	},
}

// Products are those of rounded operands in float64, within what sums of k terms in float32 may be off, whatever their shape and however many threads
// there are; and threads change no bit.
// Caught when planted: a packed operand used before it is packed; rows behind the last whole strip left out; rows of another strip packed.
func TestRoundedProducts(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	sizes := []productSize{{1, 33, 35, 37}, {2, 67, 129, 64}, {1, 32, 32, 1025}, {3, 40, 96, 515}, {5, 90, 200, 33}}
	first := map[string][]float32{}
	for _, form := range productForms {
		for _, size := range sizes {
			x, w := drawValues(rng, form.x(size)), drawValues(rng, form.w(size))
			want, bound := form.reference(size, x, w)
			eachRounding(t, ",share=64", func(t *testing.T, backend compute.Backend) {
				exec := MustNewExec(backend, form.graph)
				got := tensors.MustCopyFlatData[float32](exec.MustCall1(tensors.FromFlatDataAndDimensions(x, form.x(size)...), tensors.FromFlatDataAndDimensions(w, form.w(size)...)))
				for i, v := range got {
					if !(math.Abs(float64(v)-want[i]) <= bound[i]) {
						t.Fatalf("%s, %+v: element %d is %v, want %v +- %.2g", form.name, size, i, v, want[i], bound[i])
					}
				}
				kernel, _, _ := strings.Cut(t.Name(), ",threads")
				key := fmt.Sprint(kernel, form.name, size)
				if one := first[key]; one == nil {
					first[key] = got
				} else if !slices.Equal(got, one) {
					t.Errorf("%s, %+v: not the bits of one thread", form.name, size)
				}
			})
		}
	}
}

// reference computes a product of rounded operands in float64, and how far each element may be off.
func (f productForm) reference(s productSize, x, w []float32) (want, bound []float64) {
	for b := range s.batch {
		for r := range s.m {
			for j := range s.n {
				sum, size := 0.0, 0.0
				for l := range s.k {
					xi, wi := f.at(s, b, r, j, l)
					term := bfloat16Of(x[xi]) * bfloat16Of(w[wi])
					sum, size = sum+term, size+math.Abs(term)
				}
				if f.relu {
					sum, size = max(sum+1, 0), size+2
				}
				want, bound = append(want, sum), append(bound, float64(s.k+1)*0x1p-24*size)
			}
		}
	}
	return want, bound
}

func drawValues(rng *rand.Rand, dims []int) []float32 {
	n := 1
	for _, d := range dims {
		n *= d
	}
	values := make([]float32, n)
	for i := range values {
		values[i] = float32(rng.NormFloat64())
	}
	return values
}

// Products of few rows and many by a parameter are those of the operands, within half a unit of each: a 127th of the largest of a row or column,
// with AVX2 a 63rd of that of a column.
// Threads change no bit, and neither do other rows. Products by what is no parameter and products with batches, as of attention to states that
// are an input of the graph, stay float32.
// Caught when planted: a product by what is no parameter rounded, or one with batches; the scale of another column; blocks of terms left out.
func TestInt8Products(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 6))
	for _, size := range []productSize{{1, 1, 64, 64}, {1, 3, 35, 37}, {1, 67, 129, 1025}, {2, 300, 96, 515}} {
		form := productForms[0]
		x, w := drawValues(rng, form.x(size)), drawValues(rng, form.w(size))
		rows := size.batch * size.m
		first := map[string][]float32{}
		for _, config := range []string{"scalar", "avx512", "avx2"} {
			steps, key := 127.0, ""
			if config == "avx2" {
				steps, key = 63, config
			}
			for _, threads := range []int{1, 2, 3} {
				backend, err := compute.NewWithConfig(fmt.Sprintf("cpu:%s,products=int8,threads=%d,share=64", config, threads))
				if err != nil {
					continue // not on this processor
				}
				run := func(f func(x, w *Node) *Node, x []float32) []float32 {
					return tensors.MustCopyFlatData[float32](MustExecOnce(backend, f, tensors.FromFlatDataAndDimensions(x, len(x)/size.k, size.k),
						tensors.FromFlatDataAndDimensions(w, size.k, size.n)))
				}
				product := func(x, w *Node) *Node { return Dot(x, w).Product() }
				got := run(product, x)
				for i, v := range got {
					exact, bound := int8Bound(x[i/size.n*size.k:][:size.k], w, i%size.n, size.n, steps)
					if !(math.Abs(float64(v)-exact) <= bound) || size.k > 60 && float64(v) == exact {
						t.Fatalf("%s, %+v: element %d is %v, want %v within %v, and not exactly", config, size, i, v, exact, bound)
					}
				}
				if first[key] == nil {
					first[key] = got
				}
				if alone := run(product, x[(rows-1)*size.k:]); !slices.Equal(got, first[key]) || !slices.Equal(alone, got[(rows-1)*size.n:]) {
					t.Errorf("%s, %d threads, %+v: not the bits of one thread, or with AVX-512 those of plain loops, or of the last row alone", config, threads, size)
				}
				for name, f := range map[string]func(x, w *Node) *Node{
					"by what is no parameter": func(x, w *Node) *Node { return Dot(x, Neg(w)).Product() },
					"with batches": func(x, w *Node) *Node {
						return DotGeneral(Reshape(x, 1, rows, size.k), []int{2}, []int{0}, Reshape(w, 1, size.k, size.n), []int{1}, []int{0})
					},
				} {
					if key := config + name; first[key] == nil {
						plain := newBackend(t, "cpu:"+config+",threads=1")
						first[key] = tensors.MustCopyFlatData[float32](MustExecOnce(plain, f,
							tensors.FromFlatDataAndDimensions(x, rows, size.k), tensors.FromFlatDataAndDimensions(w, size.k, size.n)))
					}
					if !slices.Equal(run(f, x), first[config+name]) {
						t.Errorf("%s, %+v: a product %s is not float32's", config, size, name)
					}
				}
				backend.Finalize()
			}
		}
	}
}

// int8Bound returns the product of a row by column j of n, and how far it may be off if each term is half a unit off. steps are the units
// of a column.
func int8Bound(row, w []float32, j, n int, steps float64) (exact, bound float64) {
	var largestX, largestW, sumX, sumW float64
	for l, x := range row {
		y := float64(w[l*n+j])
		exact += float64(x) * y
		largestX, largestW = max(largestX, math.Abs(float64(x))), max(largestW, math.Abs(y))
		sumX, sumW = sumX+math.Abs(float64(x)), sumW+math.Abs(y)
	}
	x, y := 0.501*largestX/127, 0.501*largestW/steps
	return exact, x*sumW + y*sumX + x*y*float64(len(row))
}

// Products with fewer rows, columns or terms than the least are float32's to the last bit, and so are those of float64; one that has as many is not,
// nor is one of few rows with a parameter.
// Caught when planted: the least not compared with the terms; float64 rounded.
func TestSmallProductsAreNotRounded(t *testing.T) {
	if cpu.BFloat16() == "" {
		t.Skip("the processor has no products of bfloat16")
	}
	rng := rand.New(rand.NewPCG(8, 2))
	run := func(config string, x, w []float32, m int, dtype dtypes.DType, computed bool) []float64 {
		backend, err := compute.NewWithConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		defer backend.Finalize()
		exec := MustNewExec(backend, func(x, w *Node) *Node {
			if w = ConvertDType(w, dtype); computed {
				w = Abs(w)
			}
			return Dot(ConvertDType(x, dtype), w).Product()
		})
		return numbers(exec.MustCall1(tensors.FromFlatDataAndDimensions(x, m, len(x)/m), tensors.FromFlatDataAndDimensions(w, len(x)/m, len(w)*m/len(x))))
	}
	for _, config := range []string{"cpu:scalar", "cpu:avx512"} {
		for _, c := range []struct {
			m, k, n  int
			dtype    dtypes.DType
			computed bool // the right operand is no parameter
			rounded  bool
		}{
			{32, 32, 32, dtypes.Float32, false, true}, {32, 32, 32, dtypes.Float32, true, true}, {31, 64, 64, dtypes.Float32, true, false},
			{1, 64, 64, dtypes.Float32, false, true}, {64, 31, 64, dtypes.Float32, false, false}, {64, 64, 31, dtypes.Float32, false, false},
			{64, 64, 64, dtypes.Float64, false, false},
		} {
			x, w := drawValues(rng, []int{c.m, c.k}), drawValues(rng, []int{c.k, c.n})
			plain, got := run(config, x, w, c.m, c.dtype, c.computed), run(config+",products=bf16", x, w, c.m, c.dtype, c.computed)
			if slices.Equal(plain, got) == c.rounded {
				t.Errorf("%s, %+v: rounded is %t", config, c, !c.rounded)
			}
		}
	}
}

// The gradients of a transformer all of whose products are rounded point where they point in float32: each within a tenth of its length,
// and not at it. Caught when planted: a weight and its transpose packed as if they were the same.
func TestRoundedGradients(t *testing.T) {
	c := middle
	c.dtype = dtypes.Float32
	want := c.gradients(newBackend(t, "cpu:threads=1"))
	eachRounding(t, ",least=2", func(t *testing.T, backend compute.Backend) {
		off, whole := 0.0, 0.0
		for i, got := range c.gradients(backend) {
			a, b := numbers(got), numbers(want[i])
			var d, length float64
			for j := range a {
				d, length = d+(a[j]-b[j])*(a[j]-b[j]), length+b[j]*b[j]
			}
			off, whole = off+d, whole+length
			if !(d <= 0.01*length) {
				t.Errorf("gradient %d %s is off by %.2g of its length", i, got.Shape(), math.Sqrt(d/length))
			}
		}
		if !(off >= 0x1p-20*whole) {
			t.Errorf("off by %.2g only: nothing is rounded", math.Sqrt(off/whole))
		}
	})
}

// Products that have a right operand in common are those that each gives in a graph of its own, to the last bit: a weight, its transpose, its
// rows from somewhere on, and two weights of one shape; for few rows and many, in every order of the graph's.
// Caught when planted: operands that are told apart without their offset, without their strides or without their tensor; a first product that
// believes that its operand is packed.
func TestProductsWithOneOperand(t *testing.T) {
	const size = 96
	rng := rand.New(rand.NewPCG(8, 5))
	operands := map[string]func(w, v *Node) *Node{
		"w":           func(w, _ *Node) *Node { return w },
		"transposed":  func(w, _ *Node) *Node { return Transpose(w, 0, 1) },
		"later":       func(w, _ *Node) *Node { return Transpose(Slice(w, AxisRange(8, size-8)), 0, 1) },
		"last":        func(w, _ *Node) *Node { return Transpose(Slice(w, AxisRange(16)), 0, 1) },
		"another one": func(_, v *Node) *Node { return Transpose(v, 0, 1) },
	}
	names := slices.Repeat(slices.Sorted(maps.Keys(operands)), 3)
	rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for _, threads := range []int{1, 2, 3} {
		backend := newBackend(t, fmt.Sprintf("cpu:threads=%d,share=64", threads))
		tensor := func(rows int) any {
			return tensors.FromFlatDataAndDimensions(drawValues(rng, []int{rows, size}), rows, size)
		}
		w, v := tensor(size), tensor(size)
		x := make([]any, len(names))
		for i := range x {
			x[i] = tensor([]int{3, 12, 200}[i%3])
		}
		got := MustExecOnceN(backend, func(in []*Node) []*Node {
			products := make([]*Node, len(names))
			for i, name := range names {
				products[i] = Dot(in[i], operands[name](in[len(x)], in[len(x)+1])).Product()
			}
			return products
		}, slices.Concat(x, []any{w, v})...)
		for i, name := range names {
			alone := MustExecOnce(backend, func(x, w, v *Node) *Node { return Dot(x, operands[name](w, v)).Product() }, x[i], w, v)
			if !slices.Equal(numbers(got[i]), numbers(alone)) {
				t.Errorf("%d threads: product %d, of %s, differs from the same alone", threads, i, name)
			}
		}
	}
}

// A backend whose products are in int8 gives gradients without an error; InferenceOnly says that they are useless.
// Caught when planted: a backend that does not say so.
func TestInferenceOnly(t *testing.T) {
	for options, want := range map[string]string{"": "", ":scalar,products=bf16": "", ":scalar,products=int8": "products=int8"} {
		backend := newBackend(t, "cpu"+options)
		if got := backend.(interface{ InferenceOnly() string }).InferenceOnly(); got != want {
			t.Errorf("%q: InferenceOnly is %q, want %q", options, got, want)
		}
		gradient := MustExecOnce(backend, func(x, w *Node) *Node { return Gradient(ReduceAllSum(Dot(x, w).Product()), w)[0] },
			tensors.FromFlatDataAndDimensions(make([]float32, 64*64), 64, 64), tensors.FromFlatDataAndDimensions(make([]float32, 64*64), 64, 64))
		if !slices.Equal(gradient.Shape().Dimensions, []int{64, 64}) {
			t.Errorf("%q: the gradient has shape %s", options, gradient.Shape())
		}
	}
}
