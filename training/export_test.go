package training

import (
	"context"
	"encoding/json"
)

// PlanFreely lets a trainer plan capacities as if compiling cost nothing: models as small as those of tests would have none.
func (t *Trainer) PlanFreely() { t.plansFree = true }

// Affordable says what to lower.
var Affordable = withMemoryHint

// Planned is what the trainer plans the next update with: its place in the stream, and capacities.
func (t *Trainer) Planned() any { return []any{t.state.Data, t.state.CapacityPlan} }

// Orthogonal is what Muon makes of a matrix.
var Orthogonal = orthogonal

// OrthogonalStacks is what Muon makes of several matrices where calls are slow.
var OrthogonalStacks = orthogonalStacks

// RunWith is Run with a callback after every update and what is due after it.
func (t *Trainer) RunWith(ctx context.Context, after func(step int64)) error {
	return t.runWith(ctx, func() {}, after)
}

// RunInOneGraph is Run with updates in one graph, as where calls are slow.
func (t *Trainer) RunInOneGraph(ctx context.Context) error {
	return t.runWith(ctx, func() { t.gradients, t.apply = t.graphs.Runner(t.updateGraph, t.state.CapacityPlan), nil }, func(int64) {})
}

func (t *Trainer) runWith(ctx context.Context, prepared func(), after func(step int64)) error {
	if err := t.prepare(); err != nil {
		return err
	}
	defer t.graphs.Close()
	prepared()
	for t.state.Stopped == "" && t.step < t.Config.Steps {
		if err := t.advance(ctx); err != nil {
			return err
		}
		if err := t.validateAndSave(ctx); err != nil {
			return err
		}
		after(t.step)
	}
	return nil
}

// State is what a checkpoint of this moment would hold besides variables.
func (t *Trainer) State() ([]byte, error) { return json.Marshal(t.state) }
