package capacity_test

import (
	"testing"

	"universal-transformer/engine/enginetest"
	"universal-transformer/halting"
	"universal-transformer/internal/capacity"
	"universal-transformer/universal"
)

// BenchmarkCompile builds and compiles the graph of one update with the plan of a batch whose positions halt after one to six steps.
func BenchmarkCompile(b *testing.B) {
	policy, transition := halting.Frozen{ACT: halting.ACT{MaxSteps: 6, Epsilon: 0.01, Bias: -1.5}}, universal.FeedForward{Filter: 8}
	planner := capacity.NewPlanner(universal.Encoder{Config: universal.Config{Halting: policy, Transition: transition}})
	planner.CompileCost = 0
	l := newLearner(b, policy, transition, planner)
	for range 5 {
		l.learn(1)
	}
	compiled := 0
	for b.Loop() {
		l.runner = capacity.NewRunner(enginetest.Backend(b), l.store, l.graph, planner)
		l.learn(1)
		compiled += l.runner.Stats().Compiled
		l.runner.Close()
	}
	if compiled != b.N {
		b.Fatalf("%d graphs were compiled in %d iterations", compiled, b.N)
	}
	b.Logf("%v", planner.Shapes[0].Encoder.Units)
}
