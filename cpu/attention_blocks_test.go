package cpu_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/layers/attention"
)

// attentionCase has the inputs of attention: B sequences, H heads, M queries, N keys, D channels of a head.
type attentionCase struct {
	b, h, m, n, d int
	mask          string // none, keys, causal, added (numbers for each query and key), last, or hidden: no key for some queries
	dropout       bool
	q, k, v, dOut []float64 // [B, M or N, H, D]
}

func newAttentionCase(b, h, m, n, d int, mask string) attentionCase {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(d)))
	c := attentionCase{b: b, h: h, m: m, n: n, d: d, mask: mask}
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
func (c attentionCase) last(b, i int) int { return (i*i + 7*b) % c.n }

// add returns the summand of a score.
func (c attentionCase) add(b, i, j int) float64 {
	visible := true
	switch c.mask {
	case "keys":
		visible = j < c.keys(b)
	case "causal":
		visible = j <= i
	case "last":
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

const dropoutPrime, dropoutLargest, dropoutFactor = 2887, 400, 1.25

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
	return dropoutFactor
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

// attentionCases are lengths around whole blocks and vectors, below and above the length from which on there are blocks.
var attentionCases = []attentionCase{
	newAttentionCase(2, 2, 257, 257, 8, "keys"), newAttentionCase(2, 2, 600, 600, 8, "keys"), newAttentionCase(1, 2, 1025, 1025, 16, "causal"),
	newAttentionCase(2, 1, 600, 515, 64, "none"), newAttentionCase(2, 3, 100, 1025, 8, "hidden"), newAttentionCase(1, 1, 97, 512, 20, "added"),
	newAttentionCase(1, 2, 513, 513, 64, "causal"), newAttentionCase(2, 2, 130, 768, 16, "last"),
}

func (c attentionCase) String() string {
	return fmt.Sprintf("%d x %d heads, %d queries, %d keys, %d channels, mask %s, dropout %v", c.b, c.h, c.m, c.n, c.d, c.mask, c.dropout)
}

// Attention in blocks and its gradient have the results of plain loops at every level, in both types. Threads change no bit, and neither
// does asking for fewer results.
func TestAttentionInBlocks(t *testing.T) {
	for _, c := range attentionCases {
		want := c.plain()
		eachBackend(func(config string, threads int, backend compute.Backend) {
			for dtype, limit := range map[dtypes.DType]float64{dtypes.Float32: 2e-5, dtypes.Float64: 1e-12} {
				got := c.run(t, backend, dtype, true)
				checkAttention(t, fmt.Sprintf("%s, %v, %v", config, dtype, c), got, want, limit)
			}
		})
	}
}

// eachBackend calls f with backends of all levels that this processor has, with one and three threads.
func eachBackend(f func(level string, threads int, backend compute.Backend)) {
	for _, level := range []string{"scalar", "avx2", "avx512", "neon"} {
		for _, threads := range []int{1, 3} {
			if backend, err := compute.NewWithConfig(fmt.Sprintf("cpu:%s,threads=%d", level, threads)); err == nil {
				f(level, threads, backend)
				backend.Finalize()
			}
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
