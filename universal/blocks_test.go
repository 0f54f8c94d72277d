package universal

import (
	"math"
	"strings"
	"testing"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine"
	"universal-transformer/engine/enginetest"
	"universal-transformer/halting"
)

// wave returns numbers that look arbitrary, of standard deviation about 0.7.
func wave(dims ...int) *tensors.Tensor {
	n := 1
	for _, d := range dims {
		n *= d
	}
	x := make([]float64, n)
	for i := range x {
		x[i] = math.Sin(float64(i)*float64(i%1013) + float64(n))
	}
	return tensors.FromFlatDataAndDimensions(x, dims...)
}

// The functions of attention in blocks compute what their bodies say, which run under another name: every form, result and gradients.
// Caught when planted in the body: the weights of dropout left out of the gradient, a last key that is not visible.
func TestBodiesOfAttentionInBlocks(t *testing.T) {
	backend := enginetest.Backend(t)
	prefix := engine.AttentionFunction(backend)
	if prefix == "" {
		t.Skip("the backend has no attention in blocks")
	}
	const b, heads, m, n, d = 2, 2, 131, 700, 6
	for _, form := range []string{",causal", ",keys", ",last", ",causal,dropout", ",keys,dropout", ",last,dropout"} {
		queries := m
		if form == ",causal" || form == ",causal,dropout" {
			queries = n
		}
		var results [2][]*tensors.Tensor
		for i, name := range []string{prefix, "other/"} {
			exec, err := NewExec(backend, func(q, k, v, dOut, random *Node) []*Node {
				a := &blockAttention{prefix: name, form: form, operands: []*Node{q, k, v}}
				g := q.Graph()
				switch form[1:5] {
				case "keys":
					positions := make([]bool, b*n)
					for i := range positions {
						positions[i] = i%n < n-i/n*250
					}
					a.operands = append(a.operands, Const(g, tensors.FromFlatDataAndDimensions(positions, b, n)))
				case "last":
					last := make([]int32, b*queries)
					for i := range last {
						last[i] = int32(i * i % n)
					}
					a.operands = append(a.operands, Const(g, tensors.FromFlatDataAndDimensions(last, b, queries)))
				}
				if strings.HasSuffix(form, "dropout") {
					masks := &masks{state: Const(g, []uint64{1, 2, 3})}
					rows := Floor(MulScalar(random, prime))
					a.operands = append(a.operands, masks.hashed(rows, heads, n, 0.3)...)
				}
				y := a.apply()
				return append([]*Node{y}, Gradient(ReduceAllSum(Mul(y, dOut)), q, k, v)...)
			})
			if err != nil {
				t.Fatal(err)
			}
			keys := make([]float64, b*queries*2)
			for i := range keys {
				keys[i] = math.Mod(float64(i)*0.618, 1)
			}
			results[i], err = exec.Call(wave(b, queries, heads, d), wave(b, n, heads, d), wave(b, n, heads, d), wave(b, queries, heads, d), tensors.FromFlatDataAndDimensions(keys, b, queries, 2))
			if err != nil {
				t.Fatal(err)
			}
			exec.Finalize()
		}
		for i, x := range results[0] {
			if off := farthest(x, results[1][i]); !(off < 1e-12) {
				t.Errorf("%s: result %d is off by %g", form, i, off)
			}
		}
	}
}

// farthest returns the largest difference of elements.
func farthest(x, y *tensors.Tensor) float64 {
	maximum, other := 0.0, tensors.MustCopyFlatData[float64](y)
	for i, v := range tensors.MustCopyFlatData[float64](x) {
		if maximum = max(maximum, math.Abs(v-other[i])); math.IsNaN(v) {
			return v
		}
	}
	return maximum
}

// With many keys a model computes attention with dropout in blocks, and drops the same weights as with whole scores, which are asked for
// by returning them: the logits and the gradients of all parameters agree.
// Caught when planted: keys of dropout that are drawn in another order; the rate of another place.
func TestDropoutInBlocks(t *testing.T) {
	const length = 530
	source, target := make([]int32, 2*length), make([]int32, 2*length)
	for i := range source {
		source[i], target[i] = int32(1+i*i%4), int32(1+i%3*i%4)
		if i >= length+300 {
			source[i], target[i] = 0, 0
		}
	}
	c := Config{SourceVocabulary: 5, TargetVocabulary: 5, Width: 8, Heads: 2, Dropout: Dropout{Attention: 0.3, Residual: 0.1}, Seed: 3,
		Transition: FeedForward{Filter: 8}, Halting: halting.Fixed{Steps: 2}, Precision: dtypes.Float64}
	var results [2][]*tensors.Tensor
	for i, returned := range []bool{false, true} {
		store := model.NewStore()
		if err := store.SetRNGStateFromSeed(7); err != nil {
			t.Fatal(err)
		}
		exec, err := model.NewExec(enginetest.Backend(t), store, func(scope *model.Scope, source, target *Node) []*Node {
			scope.Store().SetTraining(source.Graph(), true)
			logits := EncoderDecoder{c}.Forward(scope, Inputs{Source: source, Target: target}, Options{ReturnAttention: returned}).Logits
			var variables []*Node
			for v := range store.IterVariables() {
				if v.Trainable {
					variables = append(variables, v.NodeValue(logits))
				}
			}
			weights := Sin(Iota(logits.Graph(), logits.Shape(), 1))
			return append([]*Node{logits}, Gradient(ReduceAllSum(Mul(logits, weights)), variables...)...)
		})
		if err != nil {
			t.Fatal(err)
		}
		if results[i], err = exec.Call(tensors.FromFlatDataAndDimensions(source, 2, length), tensors.FromFlatDataAndDimensions(target, 2, length)); err != nil {
			t.Fatal(err)
		}
		exec.Finalize()
	}
	if len(results[0]) < 10 || len(results[0]) != len(results[1]) {
		t.Fatalf("%d and %d results", len(results[0]), len(results[1]))
	}
	for i, x := range results[0] {
		if off := farthest(x, results[1][i]); !(off < 1e-9) {
			t.Errorf("result %d is off by %g", i, off)
		}
	}
}
