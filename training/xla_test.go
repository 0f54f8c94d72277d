//go:build xla

package training_test

import (
	"math"
	"testing"

	"github.com/gomlx/compute"
	"universal-transformer/engine"
	"universal-transformer/halting"
	"universal-transformer/internal/batch"
	"universal-transformer/training"
	"universal-transformer/universal"
)

// xlaBackend opens XLA's plugin for processors. Without it the test is skipped.
func xlaBackend(t *testing.T) compute.Backend {
	t.Helper()
	if len(engine.Plugins()) == 0 {
		t.Skip("there is no plugin of XLA: docs/accelerators.md")
	}
	backend, err := engine.New("xla:cpu")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(backend.Finalize)
	return backend
}

// An update on XLA is one call of one graph, and n + 1 calls if it adds up n batches. Metrics and weights are those of cpu, up to rounding.
// Muon's matrices, which XLA multiplies together, have three shapes.
func TestUpdateIsOneCallOnXLA(t *testing.T) {
	const updates, rows = 4, 8
	xla := xlaBackend(t)
	for accumulate, want := range map[int]int{0: updates, 2: 3 * updates} {
		c := config(updates)
		c.LogEvery, c.Accumulate, c.Muon, c.WeightDecay, c.Epsilon = 1, accumulate, 0.9, 0.1, 1e-2
		m := universal.EncoderDecoder{Config: tiny()}
		m.Dropout, m.Positions, m.Halting = universal.Dropout{}, nil, halting.Fixed{Steps: 2}
		on := func(backend compute.Backend) *training.Trainer {
			tr := trainerOf(t, c, m, evenly, batch.Plan{Rows: rows / c.Batches(), MaxSource: 3, MaxTarget: 4, Window: rows})
			tr.Validation = nil // would be further calls
			if backend != nil {
				tr.Backend = backend
			}
			return tr
		}
		tr, cpu, calls := on(xla), on(nil), 0
		tr.OnProgress = func(p training.Progress) { calls = p.Calls }
		run(t, tr)
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
