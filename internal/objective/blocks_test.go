package objective_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine/enginetest"
	"universal-transformer/internal/objective"
	"universal-transformer/universal"
)

// A vocabularyCase is a loss over a large vocabulary: states [B, N, D] times weights, [V, D] if tied, otherwise [D, V].
type vocabularyCase struct {
	states    [][][]float64
	weights   [][]float64 // [V, D]
	target    [][]int32
	tied      bool
	smoothing float64
	unknown   int32
	scale     float64 // factor of the loss
}

// losses are the results of a case: a measure as in objective.CrossEntropy without the mean, and the gradients.
type losses struct {
	sums     [6]float64
	states   []float64 // [B, N, D]
	weights  []float64 // [V, D] or [D, V]
	withhold float64   // the sums of a graph without gradients, which computes no others: nats
}

// newVocabularyCase draws a case with several blocks of rows and columns whose last ones are not whole: every row ends in padding, one is
// nothing else. Words are unlikely but for the target of some positions.
func newVocabularyCase(rows, length, width, words int) vocabularyCase {
	rng := rand.New(rand.NewPCG(3, uint64(words)))
	c := vocabularyCase{scale: 1}
	for range words {
		row := make([]float64, width)
		for i := range row {
			row[i] = rng.NormFloat64()
		}
		c.weights = append(c.weights, row)
	}
	for b := range rows {
		var states [][]float64
		target := make([]int32, length)
		for i := range target {
			state := make([]float64, width)
			if i < length-b && b != 1 {
				target[i] = int32(1 + rng.IntN(words-1))
			}
			for d := range state {
				state[d] = rng.NormFloat64()
				if i%3 == 0 {
					state[d] += 2 * c.weights[target[i]][d]
				}
			}
			states = append(states, state)
		}
		c.states, c.target = append(c.states, states), append(c.target, target)
	}
	return c
}

// matrix returns the weights as the graph takes them.
func (c vocabularyCase) matrix() [][]float64 {
	if c.tied {
		return c.weights
	}
	turned := make([][]float64, len(c.weights[0]))
	for d := range turned {
		for _, row := range c.weights {
			turned[d] = append(turned[d], row[d])
		}
	}
	return turned
}

// plain computes the case in loops.
func (c vocabularyCase) plain() (l losses) {
	var logits [][][]float64
	for _, states := range c.states {
		var of [][]float64
		for _, h := range states {
			row := make([]float64, len(c.weights))
			for v, w := range c.weights {
				for d := range w {
					row[v] += h[d] * w[d]
				}
			}
			of = append(of, row)
		}
		logits = append(logits, of)
	}
	m := plain(logits, c.target, c.smoothing)
	copy(l.sums[:], m[:6])
	l.withhold = m[0]
	width, words := len(c.weights[0]), len(c.weights)
	l.weights = make([]float64, width*words)
	for b, rows := range logits {
		for i, z := range rows {
			state := make([]float64, width)
			if c.target[b][i] != 0 {
				c.addGradient(z, c.states[b][i], int(c.target[b][i]), m[2], state, l.weights)
			}
			l.states = append(l.states, state...)
		}
	}
	return l
}

// addGradient adds the gradients of one position: dz = (p - q) / tokens.
func (c vocabularyCase) addGradient(z, h []float64, target int, tokens float64, state, weights []float64) {
	sum := 0.0
	for _, x := range z {
		sum += math.Exp(x)
	}
	width, words := len(h), len(z)
	for v, x := range z {
		q := c.smoothing / float64(words-1)
		if v == target {
			q = 1 - c.smoothing
		}
		dz := c.scale * (math.Exp(x)/sum - q) / tokens
		for d := range h {
			state[d] += dz * c.weights[v][d]
			at := v*width + d
			if !c.tied {
				at = d*words + v
			}
			weights[at] += dz * h[d]
		}
	}
}

// run computes the case with a backend in one precision, from the factors of the logits or from the logits.
func (c vocabularyCase) run(t *testing.T, backend compute.Backend, dtype dtypes.DType, factors bool) (l losses) {
	t.Helper()
	graph := func(withGradient bool) func(_ *model.Scope, states, weights, target *Node) []*Node {
		return func(_ *model.Scope, states, weights, target *Node) []*Node {
			states, weights = ConvertDType(states, dtype), ConvertDType(weights, dtype)
			f := &universal.Factors{States: states, Weights: weights, Tied: c.tied}
			result := universal.Result{Logits: f.Logits()}
			if factors {
				result.Factors = f
			}
			g := states.Graph()
			zero := ScalarZero(g, dtype)
			loss, tally := objective.Objective{LabelSmoothing: c.smoothing, Unknown: c.unknown}.OfPart(result, target, zero, objective.Share{Targets: AddScalar(zero, c.scale)})
			if !withGradient {
				return []*Node{ConvertDType(tally, dtypes.Float64)}
			}
			d := Gradient(loss, states, weights)
			return []*Node{ConvertDType(tally, dtypes.Float64), ConvertDType(d[0], dtypes.Float64), ConvertDType(d[1], dtypes.Float64)}
		}
	}
	call := func(withGradient bool) []*tensors.Tensor {
		exec, err := model.NewExec(backend, model.NewStore(), graph(withGradient))
		if err != nil {
			t.Fatal(err)
		}
		defer exec.Finalize()
		out, err := exec.Call(c.states, c.matrix(), c.target)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	out := call(true)
	tally := tensors.MustCopyFlatData[float64](out[0])
	l.sums = [6]float64{tally[1], tally[10], tally[2], tally[3], tally[4], tally[5]}
	l.states, l.weights = tensors.MustCopyFlatData[float64](out[1]), tensors.MustCopyFlatData[float64](out[2])
	l.withhold = tensors.MustCopyFlatData[float64](call(false)[0])[1]
	return l
}

// off returns the largest differences of sums, relative to the largest, and of gradients, relative to the largest entry.
func (l losses) off(want losses) (sums, states, weights float64) {
	for i, x := range want.sums {
		sums = max(sums, math.Abs(l.sums[i]-x)/max(1, math.Abs(x)))
	}
	sums = max(sums, math.Abs(l.withhold-want.withhold)/max(1, math.Abs(want.withhold)))
	relative := func(a, b []float64) (off float64) {
		largest := 0.0
		for i := range b {
			off, largest = max(off, math.Abs(a[i]-b[i])), max(largest, math.Abs(b[i]))
		}
		return off / largest
	}
	return sums, relative(l.states, want.states), relative(l.weights, want.weights)
}

// A large vocabulary whose loss is computed from the factors of the logits has the sums and gradients of plain loops. 2,600 words are
// five blocks of columns and a part, 400 positions more than one block of rows.
// Caught when planted: the softmax of a block of columns for that of the row; a factor of the row before; a last block as wide as the
// others; dw of the last block of rows only; padding that counts; a target of another row; no sum of b in the gradient.
func TestLargeVocabularyAgreesWithPlainLoops(t *testing.T) {
	backend := enginetest.Backend(t)
	for _, tied := range []bool{false, true} {
		for _, smoothing := range []float64{0, 0.1} {
			c := newVocabularyCase(4, 150, 9, 2600)
			c.tied, c.smoothing, c.scale = tied, smoothing, 1.5
			want := c.plain()
			if want.sums[3] < 10 || want.sums[3] > want.sums[2]-10 {
				t.Fatalf("%v tokens are right of %v: the case shows nothing", want.sums[3], want.sums[2])
			}
			for dtype, limit := range map[dtypes.DType]float64{dtypes.Float64: 1e-11, dtypes.Float32: 3e-5} {
				sums, states, weights := c.run(t, backend, dtype, true).off(want)
				if sums > limit || states > limit || weights > limit {
					t.Errorf("tied %v, smoothing %v, %v: sums off by %g, gradient of states by %g, of weights by %g", tied, smoothing, dtype, sums, states, weights)
				}
			}
		}
	}
}

// With products=bf16 the factors give the same as the logits but for rounding: the gradients of the logits are rounded in another scale.
func TestLargeVocabularyInBFloat16(t *testing.T) {
	backend, err := compute.NewWithConfig("cpu:products=bf16")
	if err != nil {
		t.Skip(err)
	}
	defer backend.Finalize()
	for _, tied := range []bool{false, true} {
		c := newVocabularyCase(3, 160, 40, 2100)
		c.tied, c.smoothing = tied, 0.1
		sums, states, weights := c.run(t, backend, dtypes.Float32, true).off(c.run(t, backend, dtypes.Float32, false))
		if sums > 1e-4 || states > 0.01 || weights > 0.01 {
			t.Errorf("tied %v: sums off by %g, gradient of states by %g, of weights by %g", tied, sums, states, weights)
		}
	}
}

// The most probable of equal words is the one with the smallest id, in other blocks of columns too; out-of-vocabulary targets do not
// count; logits of 10,000 overflow nowhere; nothing but padding costs nothing and has no gradient.
func TestLargeVocabularyByHand(t *testing.T) {
	const words = 2100
	c := vocabularyCase{tied: true, scale: 1, states: [][][]float64{{{1, 0}, {1, 0}, {1, 0}, {0, 1}}}, target: [][]int32{{700, 701, 1900, 5}}}
	for v := range words {
		w := []float64{0, 0}
		if v == 700 || v == 701 || v == 1900 {
			w[0] = 1e4
		}
		if v == 5 {
			w[1] = 1e4
		}
		c.weights = append(c.weights, w)
	}
	got := c.run(t, enginetest.Backend(t), dtypes.Float32, true)
	if want := 3 * math.Log(3); math.Abs(got.sums[0]-want) > 1e-5 || got.sums[3] != 2 {
		t.Errorf("%v nats, %v right; want %v nats, 2 right: 700 and 5", got.sums[0], got.sums[3], want)
	}
	c.unknown = 5
	if got := c.run(t, enginetest.Backend(t), dtypes.Float32, true); got.sums[3] != 1 || got.sums[2] != 4 {
		t.Errorf("%v of %v right, want 1 of 4", got.sums[3], got.sums[2])
	}
	c.target = [][]int32{{0, 0, 0, 0}}
	got = c.run(t, enginetest.Backend(t), dtypes.Float32, true)
	for _, x := range append(append(got.sums[:], got.states...), got.weights...) {
		if x != 0 {
			t.Fatalf("nothing but padding: %v", fmt.Sprint(got.sums))
		}
	}
}
