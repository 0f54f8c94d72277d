package training_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"universal-transformer/engine/enginetest"
	"universal-transformer/halting"
	"universal-transformer/internal/batch"
	"universal-transformer/training"
	"universal-transformer/universal"
)

// An update in one graph is the update in two, on any backend.
// Caught when planted: the index of another batch; a norm that is part of the tally; rates in the place of inputs.
func TestUpdateInOneGraph(t *testing.T) {
	for _, average := range []float64{0, 0.9} {
		updatesInOneGraph(t, tiny().Dropout, average, func(tr *training.Trainer) {
			if tr.Config.Accumulate > 0 {
				run(t, tr)
			} else if err := tr.RunInOneGraph(t.Context()); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// Matrices of a shape that are made orthogonal together come out as each does alone, in their order: tall, wide and square ones.
// Caught when planted: a matrix in the place of another of its shape; the norm of all matrices for that of each.
func TestOrthogonalStacks(t *testing.T) {
	var matrices []any
	rng := rand.New(rand.NewPCG(3, 9))
	for k, shape := range [][2]int{{3, 4}, {5, 2}, {3, 4}, {2, 5}, {3, 3}, {5, 2}, {3, 4}} {
		m := make([][]float64, shape[0])
		for i := range m {
			for range shape[1] {
				m[i] = append(m[i], float64(k+1)*rng.NormFloat64())
			}
		}
		matrices = append(matrices, m)
	}
	exec, err := graph.NewExec(enginetest.Backend(t), func(nodes []*graph.Node) (all []*graph.Node) {
		all = training.OrthogonalStacks(nodes)
		for _, m := range nodes {
			all = append(all, training.Orthogonal(m))
		}
		return all
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	out, err := exec.Call(matrices...)
	if err != nil {
		t.Fatal(err)
	}
	for i := range matrices {
		got, want := out[i].Value().([][]float64), out[len(matrices)+i].Value().([][]float64)
		for r := range want {
			for c := range want[r] {
				if d := math.Abs(got[r][c] - want[r][c]); len(got) != len(want) || len(got[r]) != len(want[r]) || !(d < 1e-9) {
					t.Fatalf("matrix %d: %v, alone %v", i, got, want)
				}
			}
		}
	}
}

// updatesInOneGraph trains with runSlow, as where calls are slow: an update is one call of one graph, or n + 1 calls if it adds up n
// batches. Metrics and weights are those of cpu, up to rounding. Muon's matrices, which are multiplied together, have three shapes.
func updatesInOneGraph(t *testing.T, dropout universal.Dropout, average float64, runSlow func(*training.Trainer)) {
	t.Helper()
	const updates, rows = 4, 8
	for accumulate, want := range map[int]int{0: updates, 2: 3 * updates} {
		c := config(updates)
		c.LogEvery, c.Accumulate, c.Muon, c.WeightDecay, c.Epsilon = 1, accumulate, 0.9, 0.1, 1e-2
		c.Average = average
		m := universal.EncoderDecoder{Config: tiny()}
		m.Dropout, m.Positions, m.Halting = dropout, nil, halting.Fixed{Steps: 2}
		on := func() *training.Trainer {
			tr := trainerOf(t, c, m, evenly, batch.Plan{Rows: rows / c.Batches(), MaxSource: 3, MaxTarget: 4, Window: rows})
			tr.Validation = nil // would be further calls
			return tr
		}
		tr, cpu, calls := on(), on(), 0
		tr.OnProgress = func(p training.Progress) { calls = p.Calls }
		runSlow(tr)
		run(t, cpu)
		if calls != want {
			t.Errorf("accumulate %d: %d calls of graphs in %d updates, want %d", accumulate, calls, updates, want)
		}
		lines := metrics(t, tr)
		for i, line := range metrics(t, cpu) {
			for _, key := range []string{"loss", "gradient_norm", "tokens"} {
				got, _ := lines[i].Number(key)
				from, _ := line.Number(key)
				if !(math.Abs(got-from) <= 1e-5*math.Abs(from)) {
					t.Errorf("accumulate %d, line %d: %s is %v, on cpu %v", accumulate, i, key, got, from)
				}
			}
		}
		got := weights(tr)
		for name, w := range weights(cpu) {
			for i := range w {
				if d := math.Abs(float64(got[name][i] - w[i])); !(d < 1e-4) {
					t.Errorf("accumulate %d: %s[%d] is %v, on cpu %v", accumulate, name, i, got[name][i], w[i])
					break
				}
			}
		}
	}
}
