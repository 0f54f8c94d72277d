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
	"github.com/gomlx/gomlx/ml/layers/attention"
	"universal-transformer/cpu"
)

// attentionCase has the inputs of attention: B sequences, H heads, M queries, N keys, D channels of a head.
type attentionCase struct {
	b, h, m, n, d int
	mask          string // none, keys, causal, added (numbers for each query and key), last, few, or hidden: no key for some queries
	dropout       bool
	factor        float64   // of weights that are kept
	q, k, v, dOut []float64 // [B, M or N, H, D]
}

func newAttentionCase(b, h, m, n, d int, mask string) attentionCase {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(d)))
	c := attentionCase{b: b, h: h, m: m, n: n, d: d, mask: mask, factor: 1.25}
	normal := func(rows int) []float64 {
		x := make([]float64, b*rows*h*d)
		for i := range x {
			x[i] = float64(float32(rng.NormFloat64()))
		}
		return x
	}
	c.q, c.k, c.v, c.dOut = normal(m), normal(n), normal(n), normal(m)
	for i := range c.k { // later keys are larger, so that the maximum of a row rises from block to block
		c.k[i] *= 0.3 + 2*float64(i)/float64(len(c.k))
	}
	return c
}

// keys returns the number of real keys of a sequence.
func (c attentionCase) keys(b int) int { return c.n - b*(c.n/2+3) }

// last returns the last visible key of a query.
func (c attentionCase) last(b, i int) int {
	if c.mask == "few" {
		return []int{119, 2, 2, 69}[i/48] // by block
	}
	return (i*i + 7*b) % c.n
}

// add returns the summand of a score.
func (c attentionCase) add(b, i, j int) float64 {
	visible := true
	switch c.mask {
	case "keys":
		visible = j < c.keys(b)
	case "causal":
		visible = j <= i
	case "last", "few":
		visible = j <= c.last(b, i)
	case "hidden":
		visible = (i+b)%3 > 0 && (j < c.n/4 || (i+j)%5 > 0)
	case "added":
		return math.Sin(float64(3*i + 5*j + b))
	}
	if visible {
		return 0
	}
	return math.Inf(-1)
}

const dropoutPrime, dropoutLargest = 2887, 400

// rowKey and columnKey are keys of the weights of dropout.
func (c attentionCase) rowKey(b, i, which int) int {
	return (b*7919 + i*613 + which*1777 + i*i*31) % dropoutPrime
}

func (c attentionCase) columnKey(which, h, j int) int {
	return (which*1009 + h*577 + j*389 + j*j*17) % dropoutPrime
}

// weight returns the weight of dropout of a probability.
func (c attentionCase) weight(b, h, i, j int) float64 {
	if !c.dropout {
		return 1
	}
	hash := (c.rowKey(b, i, 0)*c.columnKey(0, h, j) + c.rowKey(b, i, 1)*c.columnKey(1, h, j) + c.columnKey(2, h, j)) % dropoutPrime
	if min(hash, dropoutPrime-hash) <= dropoutLargest {
		return 0
	}
	return c.factor
}

// plain returns the result and the gradients of queries, keys and values in loops.
func (c attentionCase) plain() (out [4][]float64) {
	for i, x := range [][]float64{c.q, c.q, c.k, c.v} {
		out[i] = make([]float64, len(x))
	}
	scale := 1 / math.Sqrt(float64(c.d))
	p, dp := make([]float64, c.n), make([]float64, c.n)
	for b := range c.b {
		for h := range c.h {
			key := func(j int) int { return ((b*c.n+j)*c.h + h) * c.d }
			for i := range c.m {
				at := ((b*c.m+i)*c.h + h) * c.d
				q, dOut := c.q[at:at+c.d], c.dOut[at:at+c.d]
				largest, sum, dot := math.Inf(-1), 0.0, 0.0
				for j := range p {
					p[j] = c.add(b, i, j)
					if math.IsInf(p[j], -1) {
						continue
					}
					s := 0.0
					for x, y := range c.k[key(j):][:c.d] {
						s += y * q[x]
					}
					p[j] += scale * s
					largest = max(largest, p[j])
				}
				if math.IsInf(largest, -1) {
					continue
				}
				for j := range p {
					p[j] = math.Exp(p[j] - largest)
					sum += p[j]
				}
				for j := range p {
					p[j] /= sum
					if p[j] == 0 {
						continue
					}
					dp[j] = 0
					w := c.weight(b, h, i, j)
					for x := range c.d {
						out[0][at+x] += w * p[j] * c.v[key(j)+x]
						dp[j] += w * dOut[x] * c.v[key(j)+x]
						out[3][key(j)+x] += w * p[j] * dOut[x]
					}
					dot += p[j] * dp[j]
				}
				for j := range p {
					if p[j] == 0 {
						continue
					}
					ds := scale * p[j] * (dp[j] - dot)
					for x := range c.d {
						out[1][at+x] += ds * c.k[key(j)+x]
						out[2][key(j)+x] += ds * q[x]
					}
				}
			}
		}
	}
	return out
}

// maskOf returns the mask of the case, in the form in which models have it.
func (c attentionCase) maskOf(g *Graph, dtype dtypes.DType) *Node {
	switch c.mask {
	case "keys":
		mask := make([]bool, c.b*c.n)
		for i := range mask {
			mask[i] = c.add(i/c.n, 0, i%c.n) == 0
		}
		return Const(g, tensors.FromFlatDataAndDimensions(mask, c.b, 1, 1, c.n))
	case "hidden", "last":
		mask := make([]bool, c.b*c.m*c.n)
		for i := range mask {
			mask[i] = c.add(i/c.n/c.m, i/c.n%c.m, i%c.n) == 0
		}
		return Const(g, tensors.FromFlatDataAndDimensions(mask, c.b, c.m, 1, c.n))
	case "added":
		mask := make([]float64, c.b*c.m*c.n)
		for i := range mask {
			mask[i] = c.add(i/c.n/c.m, i/c.n%c.m, i%c.n)
		}
		return ConvertDType(Const(g, tensors.FromFlatDataAndDimensions(mask, c.b, c.m, 1, c.n)), dtype)
	}
	return nil
}

// run computes the result and the gradients, or fewer, with operations of GoMLX.
func (c attentionCase) run(t *testing.T, backend compute.Backend, dtype dtypes.DType, gradients bool) (out [][]float64) {
	t.Helper()
	exec, err := NewExec(backend, func(q, k, v, dOut *Node) []*Node {
		for _, x := range []**Node{&q, &k, &v, &dOut} {
			*x = ConvertDType(*x, dtype)
		}
		y, _ := attention.Core(q, k, v, attention.LayoutBSHD, attention.CoreOptions{UseCausalMask: c.mask == "causal", AttentionMask: c.maskOf(q.Graph(), dtype)})
		list := []*Node{y}
		if gradients {
			list = append(list, Gradient(ReduceAllSum(Mul(y, dOut)), q, k, v)...)
		}
		for i := range list {
			list[i] = ConvertDType(list[i], dtypes.Float64)
		}
		return list
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	return c.call(t, exec)
}

// call executes a graph of queries, keys, values and the gradient of the result.
func (c attentionCase) call(t *testing.T, exec *Exec) (out [][]float64) {
	t.Helper()
	var inputs []any
	for i, x := range [][]float64{c.q, c.k, c.v, c.dOut} {
		rows := []int{c.m, c.n, c.n, c.m}[i]
		inputs = append(inputs, tensors.FromFlatDataAndDimensions(x, c.b, rows, c.h, c.d))
	}
	results, err := exec.Call(inputs...)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range results {
		out = append(out, tensors.MustCopyFlatData[float64](x))
	}
	return out
}

// function computes the same with functions whose bodies compute nothing, so that one that runs as written is noticed. The name ends as
// given.
func (c attentionCase) function(t *testing.T, backend compute.Backend, dtype dtypes.DType, suffix string, half bool) (out [][]float64) {
	t.Helper()
	exec, err := NewExec(backend, func(q, k, v, dOut *Node) []*Node {
		for _, x := range []**Node{&q, &k, &v, &dOut} {
			*x = ConvertDType(*x, dtype)
		}
		g := q.Graph()
		state := func(g *Graph) *Node { return BroadcastToDims(Const(g, shapes.CastAsDType(7, dtype)), c.b, c.h, c.m) }
		call := func(name string, operands []*Node, results func(g *Graph, p []*Node) []*Node) []*Node {
			return NewFunction(g, name, func(g *Graph) []*Node {
				var p []*Node
				for i, x := range operands {
					p = append(p, Parameter(g, fmt.Sprint("x", i), x.Shape()))
				}
				return results(g, p)
			}).Call(operands...)
		}
		form, operands := c.form(g, dtype)
		operands = append([]*Node{q, k, v}, operands...)
		forward := call(cpu.AttentionFunction+"forward"+form+suffix, operands, func(g *Graph, p []*Node) []*Node {
			return []*Node{Neg(p[0]), state(g), Neg(state(g))}
		})
		list := append(forward[:1:1], call(cpu.AttentionFunction+"backward"+form+suffix, append(append(operands, forward...), dOut), func(_ *Graph, p []*Node) []*Node {
			return []*Node{Neg(p[0]), Neg(p[1]), Neg(p[2])}
		})...)
		for i := range list {
			list[i] = ConvertDType(list[i], dtypes.Float64)
		}
		if half {
			list = append(list, ConvertDType(Const(g, float16.FromFloat32(1)), dtypes.Float64))
		}
		return list
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	return c.call(t, exec)[:4]
}

// form returns the form that a function has in its name, and its operands after the values.
func (c attentionCase) form(g *Graph, dtype dtypes.DType) (form string, operands []*Node) {
	switch c.mask {
	case "causal", "none":
		form = map[string]string{"causal": ",causal"}[c.mask]
	case "keys":
		form, operands = ",keys", []*Node{Reshape(c.maskOf(g, dtype), c.b, c.n)}
	case "last", "few":
		last := make([]int32, c.b*c.m)
		for i := range last {
			last[i] = int32(c.last(i/c.m, i%c.m))
		}
		form, operands = ",last", []*Node{Const(g, tensors.FromFlatDataAndDimensions(last, c.b, c.m))}
	}
	if !c.dropout {
		return form, operands
	}
	var rows, columns []float64
	for i := range c.b * c.m * 2 {
		rows = append(rows, float64(c.rowKey(i/2/c.m, i/2%c.m, i%2)))
	}
	for i := range 3 * c.h * c.n {
		columns = append(columns, float64(c.columnKey(i/c.n/c.h, i/c.n%c.h, i%c.n)))
	}
	for _, x := range []*tensors.Tensor{
		tensors.FromFlatDataAndDimensions(rows, c.b, c.m, 2), tensors.FromFlatDataAndDimensions(columns, 3, c.h, c.n),
		tensors.FromFlatDataAndDimensions([]float64{-dropoutPrime, 1.0 / dropoutPrime, dropoutLargest, c.factor}, 4),
	} {
		operands = append(operands, ConvertDType(Const(g, x), dtype))
	}
	return form + ",dropout", operands
}

// The lengths are around whole blocks and vectors, below and above those from which on there are blocks.
var attentionCases = []attentionCase{
	newAttentionCase(2, 2, 257, 257, 8, "keys"), newAttentionCase(2, 1, 600, 600, 8, "keys"), newAttentionCase(1, 1, 1025, 1025, 16, "causal"),
	newAttentionCase(2, 1, 600, 515, 64, "none"), newAttentionCase(2, 3, 100, 1025, 8, "hidden"), newAttentionCase(1, 1, 97, 513, 20, "added"),
	newAttentionCase(1, 2, 530, 530, 64, "causal"),
}

// functionCases are forms that only functions have. They have no least length.
func functionCases() (list []attentionCase) {
	for _, c := range []attentionCase{
		newAttentionCase(2, 2, 130, 768, 16, "last"), newAttentionCase(1, 2, 600, 600, 8, "causal"), newAttentionCase(2, 1, 49, 1025, 64, "keys"),
		newAttentionCase(2, 2, 5, 7, 3, "last"), newAttentionCase(1, 1, 60, 257, 16, "none"),
	} {
		list = append(list, c)
		c.dropout = true
		list = append(list, c)
	}
	// What earlier blocks left behind the keys would be infinite in the last block.
	c := newAttentionCase(1, 1, 192, 120, 8, "few")
	c.dropout, c.factor = true, 1e30
	return append(list, c)
}

func (c attentionCase) String() string {
	return fmt.Sprintf("%d x %d heads, %d queries, %d keys, %d channels, mask %s, dropout %v", c.b, c.h, c.m, c.n, c.d, c.mask, c.dropout)
}

// Attention in blocks and its gradient have the results of plain loops at every level, in both types. Threads change no bit, and neither
// does asking for the result without gradients.
// Caught when planted: a factor of the running maximum that is left out; a block that is trimmed by one key too many; the product of dO and
// the result of another query; zeros behind the keys that are not cleared; a gradient of values without the weights of dropout.
func TestAttentionInBlocks(t *testing.T) {
	for _, c := range attentionCases {
		want := c.plain()
		eachLevel(t, func(level string, dtype dtypes.DType, limit float64, one, three compute.Backend) {
			what := fmt.Sprintf("%s, %v, %v", level, dtype, c)
			got := c.run(t, one, dtype, true)
			checkAttention(t, what, got, want, limit)
			checkSame(t, what+", three threads", c.run(t, three, dtype, true), got)
			checkSame(t, what+", without gradients", c.run(t, three, dtype, false), got[:1])
		})
	}
}

// The same of functions.
func TestAttentionFunctions(t *testing.T) {
	for _, c := range functionCases() {
		want := c.plain()
		eachLevel(t, func(level string, dtype dtypes.DType, limit float64, one, three compute.Backend) {
			what := fmt.Sprintf("%s, %v, function of %v", level, dtype, c)
			got := c.function(t, one, dtype, "", false)
			checkAttention(t, what, got, want, limit)
			checkSame(t, what+", three threads", c.function(t, three, dtype, "#7,keys", false), got)
		})
	}
}

// A function of another form or other types runs as written, and so does one in a graph that runs on the portable backend.
func TestOtherAttentionFunctionsRunAsWritten(t *testing.T) {
	backend := newBackend(t, "cpu")
	for _, suffix := range []string{",half", ",keys", ",last", ",causal"} {
		c := newAttentionCase(2, 2, 5, 7, 4, "none")
		for i, x := range c.function(t, backend, dtypes.Float64, suffix, suffix == ",half") {
			for j, v := range [][]float64{c.q, c.q, c.k, c.v}[i] {
				if x[j] != -v {
					t.Fatalf("%s: result %d was not computed as written", suffix, i)
				}
			}
		}
	}
}

// eachLevel calls f with backends of each level that this processor has, with one and three threads. Plain loops only run in float64.
func eachLevel(t *testing.T, f func(level string, dtype dtypes.DType, limit float64, one, three compute.Backend)) {
	for _, level := range []string{"scalar", "avx2", "avx512", "neon"} {
		one, err := compute.NewWithConfig("cpu:threads=1," + level)
		if err != nil {
			continue
		}
		three := newBackend(t, "cpu:threads=3,"+level)
		if level != "scalar" {
			f(level, dtypes.Float32, 2e-5, one, three)
		}
		f(level, dtypes.Float64, 1e-12, one, three)
		one.Finalize()
	}
}

func checkSame(t *testing.T, what string, got, want [][]float64) {
	t.Helper()
	for i := range want {
		if !slices.Equal(got[i], want[i]) {
			t.Errorf("%s: result %d has other bits", what, i)
		}
	}
}

// checkAttention compares results with those of plain loops, relative to the largest element of each.
func checkAttention(t *testing.T, what string, got [][]float64, want [4][]float64, limit float64) {
	t.Helper()
	for i := range got {
		off, largest := 0.0, 0.0
		for j, x := range want[i] {
			if off, largest = max(off, math.Abs(got[i][j]-x)), max(largest, math.Abs(x)); math.IsNaN(got[i][j]) {
				off = math.Inf(1)
			}
		}
		if off > limit*largest {
			t.Errorf("%s: result %d is off by %g of %g", what, i, off, largest)
		}
	}
}
