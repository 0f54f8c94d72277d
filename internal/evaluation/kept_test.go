package evaluation_test

import (
	"math"
	"testing"

	"universal-transformer/halting"
	"universal-transformer/internal/batch"
	"universal-transformer/internal/evaluation"
	"universal-transformer/task"
	"universal-transformer/universal"
)

// Requests with kept graphs have the results that they have with graphs of their own, whatever came before; a shape that is known compiles
// nothing, also for another number of examples that is computed with as many rows.
// Caught when planted: a graph that is compiled again; graphs of two kinds with one name; results of the rows of another request.
func TestKeptGraphs(t *testing.T) {
	tr, _, examples := halfTrained(t)
	fresh := evaluation.Evaluator{Backend: tr.Backend, Store: tr.Store, Model: tr.Model, Plan: batch.Plan{Tokens: 4096}}
	keeping := fresh
	keeping.Kept = evaluation.NewKept(tr.Backend, tr.Store)
	defer keeping.Kept.Close()
	score := func(e evaluation.Evaluator, some []task.Example) []task.Scored {
		t.Helper()
		found, err := e.Score(t.Context(), some)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	for i, c := range []struct{ from, to, compiled int }{{0, 1, 1}, {3, 4, 1}, {0, 3, 2}, {40, 44, 2}, {0, 100, 3}, {7, 8, 3}, {1, 98, 3}} {
		want, got := score(fresh, examples[c.from:c.to]), score(keeping, examples[c.from:c.to])
		for k := range want {
			for j, p := range want[k].LogProbs {
				if math.Abs(p-got[k].LogProbs[j]) > 1e-5 || want[k].Best[j] != got[k].Best[j] {
					t.Fatalf("request %d, example %d: %v, want %v", i, k, got[k], want[k])
				}
			}
		}
		if n := keeping.Kept.Stats().Compiled; n != c.compiled {
			t.Errorf("after request %d, %d graphs have been compiled, want %d", i, n, c.compiled)
		}
	}
	keeping.Kept.Close()
	if score(keeping, examples[:1]); keeping.Kept.Stats().Compiled != 4 {
		t.Error("a closed graph was used")
	}
}

// A graph that was kept without the steps of a fixed depth is not taken for a request that counts them. Caught when planted: graphs known by
// their names only.
func TestKeptGraphsCountSteps(t *testing.T) {
	tr, _, examples := halfTrained(t)
	fixed := tr.Model.(universal.EncoderDecoder)
	fixed.Halting = halting.Fixed{Steps: 3}
	e := evaluation.Evaluator{Backend: tr.Backend, Store: tr.Store, Model: fixed, Plan: batch.Plan{Tokens: 4096}, Kept: evaluation.NewKept(tr.Backend, tr.Store)}
	defer e.Kept.Close()
	var counted *evaluation.Steps
	e.Steps = func(encoder, _ *evaluation.Steps) { counted = encoder }
	for _, e.CountSteps = range []bool{false, true, false} {
		if _, err := e.Score(t.Context(), examples[:1]); err != nil {
			t.Fatal(err)
		}
		if e.CountSteps != (counted != nil) || counted != nil && counted.Mean != 3 {
			t.Errorf("count steps %v: %v", e.CountSteps, counted)
		}
	}
}
