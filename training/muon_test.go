package training_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"universal-transformer/engine/enginetest"
	"universal-transformer/training"
	"universal-transformer/training/schedule"
)

// A matrix U S V' becomes U p(S) V', p five times 3.4445 s - 4.7750 s^3 + 2.0315 s^5 from s over the norm of S: computed here from the
// singular values, there from products. For tall, wide and square matrices, of a scale that must not matter.
// Caught when planted: four iterations; division by another norm.
func TestOrthogonal(t *testing.T) {
	for _, c := range []struct {
		rows, columns int
		scale         float64
	}{{3, 3, 1}, {5, 3, 1e-3}, {4, 9, 50}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(5, uint64(c.rows)))
			u, v := orthonormal(rng, c.rows, 3), orthonormal(rng, c.columns, 3)
			s := []float64{2, 0.9, 0.3}
			m, want := make([][]float64, c.rows), make([][]float64, c.rows)
			for i := range c.rows {
				m[i], want[i] = make([]float64, c.columns), make([]float64, c.columns)
				for j := range c.columns {
					for k, sk := range s {
						x := sk / math.Sqrt(2*2+0.9*0.9+0.3*0.3)
						for range 5 {
							x = x * (3.4445 + x*x*(-4.7750+x*x*2.0315))
						}
						m[i][j] += c.scale * sk * u[k][i] * v[k][j]
						want[i][j] += x * u[k][i] * v[k][j]
					}
				}
			}
			got := graph.MustExecOnce(enginetest.Backend(t), training.Orthogonal, m).Value().([][]float64)
			for i := range want {
				for j := range want[i] {
					if d := math.Abs(got[i][j] - want[i][j]); !(d < 1e-5/c.scale) || !(d < 1e-3) {
						t.Fatalf("entry %d, %d: %v, want %v", i, j, got[i][j], want[i][j])
					}
				}
			}
		})
	}
}

// orthonormal gives n vectors of unit length, orthogonal to each other.
func orthonormal(rng *rand.Rand, length, n int) [][]float64 {
	vectors := make([][]float64, n)
	for k := range vectors {
		v := make([]float64, length)
		for i := range v {
			v[i] = rng.NormFloat64()
		}
		for _, w := range vectors[:k] {
			dot := 0.0
			for i := range v {
				dot += v[i] * w[i]
			}
			for i := range v {
				v[i] -= dot * w[i]
			}
		}
		norm := 0.0
		for _, x := range v {
			norm += x * x
		}
		for i := range v {
			v[i] /= math.Sqrt(norm)
		}
		vectors[k] = v
	}
	return vectors
}

// Muon's two updates of each matrix within the model, in plain loops: from the gradients of the first update, which are told by Adam's
// first moments of a run without Muon, and from the momenta of the second. Weight decay takes rate * decay * weight. Everything else
// is trained as without Muon, to the last bit in the first update, and Adam keeps nothing of the matrices.
// Caught when planted: momentum without its gradient (no Nesterov), a factor by the shorter side, momenta that are not kept, matrices
// that Adam updates too, embeddings among the matrices, matrices that DecayVectors leaves undecayed or that get no gradients any more.
func TestMuon(t *testing.T) {
	const rate, mu, decay = 0.02, 0.8, 0.5
	for _, vectors := range []bool{false, true} {
		after := func(steps int64, rate, mu float64) *training.Trainer {
			c := config(steps)
			c.Schedule, c.WeightDecay, c.DecayVectors, c.Accumulate = schedule.Constant{LearningRate: rate}, decay, vectors, 0
			c.ClipNorm, c.Average, c.Muon = 0, 0, mu
			x := plainTrainer(t, c, 8)
			run(t, x)
			return x
		}
		zero, adam, first, second := after(1, 1e-30, 0), after(1, rate, 0), after(1, rate, mu), after(2, rate, mu)
		matrices := 0
		for name, start := range weights(zero) {
			path := "/" + strings.ReplaceAll(name, ".", "/")
			v := zero.Store.GetVariable(path)
			momentum := func(x *training.Trainer) []float32 { return values(t, x, "/muon"+path) }
			if v.Shape().Rank() != 2 || strings.HasPrefix(name, "embedding") || strings.HasPrefix(name, "readout") {
				if got, want := weights(first)[name], weights(adam)[name]; fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("%s: %v, but %v without Muon", name, got, want)
				}
				continue
			}
			matrices++
			if !second.Store.GetVariable(path).Trainable {
				t.Errorf("%s: the next graph has no gradients of it", name)
			}
			if first.Store.GetVariable("/AdamOptimizer"+path+"_1st_moment") != nil {
				t.Errorf("%s: Adam has moments of it", name)
			}
			rows, columns := v.Shape().Dim(0), v.Shape().Dim(1)
			gradient := values(t, adam, "/AdamOptimizer"+path+"_1st_moment") // (1 - beta1) G
			m1, m2 := momentum(first), momentum(second)
			near(t, name+", first momentum", m1, func(i int) float64 { return float64(gradient[i]) / 0.1 })
			for n, c := range []struct {
				before, after []float32
				direction     func(i int) float64
			}{
				{start, weights(first)[name], func(i int) float64 { return (1 + mu) * float64(m1[i]) }},
				{weights(first)[name], weights(second)[name], func(i int) float64 {
					return float64(m2[i]) - mu*float64(m1[i]) + mu*float64(m2[i])
				}},
			} {
				o := productOfIterations(c.direction, rows, columns)
				factor := rate * 0.2 * math.Sqrt(float64(max(rows, columns)))
				near(t, fmt.Sprintf("%s, update %d", name, n+1), c.after, func(i int) float64 {
					return float64(c.before[i])*(1-rate*decay) - factor*o[i/columns][i%columns]
				})
			}
		}
		if matrices < 10 {
			t.Errorf("only %d matrices", matrices)
		}
	}
}

// near compares float32 values with those that were computed.
func near(t *testing.T, what string, got []float32, want func(i int) float64) {
	t.Helper()
	for i := range got {
		if d := math.Abs(float64(got[i]) - want(i)); !(d <= 1e-6+2e-4*math.Abs(want(i))) {
			t.Errorf("%s: entry %d is %v, want %v", what, i, got[i], want(i))
			return
		}
	}
}

// values is a variable's flat data.
func values(t *testing.T, x *training.Trainer, path string) []float32 {
	t.Helper()
	v := x.Store.GetVariable(path)
	if v == nil {
		t.Fatalf("there is no variable %s", path)
	}
	return tensors.MustCopyFlatData[float32](v.MustValue())
}

// productOfIterations is X <- a X + (b X X' + c (X X')^2) X, five times, of a matrix by its flat entries, as TestOrthogonal checks it.
func productOfIterations(entry func(i int) float64, rows, columns int) [][]float64 {
	x, norm := make([][]float64, rows), 0.0
	for i := range x {
		x[i] = make([]float64, columns)
		for j := range x[i] {
			x[i][j] = entry(i*columns + j)
			norm += x[i][j] * x[i][j]
		}
	}
	for i := range x {
		for j := range x[i] {
			x[i][j] /= math.Sqrt(norm)
		}
	}
	for range 5 {
		square := product(x, transposed(x))
		fourth := product(square, square)
		third, fifth := product(square, x), product(fourth, x)
		for i := range x {
			for j := range x[i] {
				x[i][j] = 3.4445*x[i][j] - 4.7750*third[i][j] + 2.0315*fifth[i][j]
			}
		}
	}
	return x
}

func product(a, b [][]float64) [][]float64 {
	c := make([][]float64, len(a))
	for i := range a {
		c[i] = make([]float64, len(b[0]))
		for k := range b {
			for j := range b[k] {
				c[i][j] += a[i][k] * b[k][j]
			}
		}
	}
	return c
}

func transposed(a [][]float64) [][]float64 {
	b := make([][]float64, len(a[0]))
	for j := range b {
		for i := range a {
			b[j] = append(b[j], a[i][j])
		}
	}
	return b
}
