package capacity

import (
	"slices"

	"universal-transformer/batch"
	"universal-transformer/universal"
)

// Planner plans capacities, for every shape of batch by itself: long sequences may need other shares of their positions than short
// ones. It outlives a runner: checkpoints keep it, so that a resumed run plans what it would have planned.
type Planner struct {
	// StepsOnly plans how many steps are run, and full capacity in each: for models that cannot leave positions out.
	StepsOnly bool         `json:"steps_only,omitempty"`
	Shapes    []*ShapePlan `json:"shapes"`
}

// NewPlanner makes a planner for an adaptive model, nil for others: how many positions they update is known.
func NewPlanner(m universal.Model) *Planner {
	if !m.Adaptive() {
		return nil
	}
	return &Planner{StepsOnly: !m.SelectsPositions()}
}

// ShapePlan is the plan of both stacks for batches of one shape.
type ShapePlan struct {
	Shape
	Encoder StackPlan `json:"encoder"`
	Decoder StackPlan `json:"decoder"`
}

// For gives the plan for a shape. That of a new shape starts as a copy of the nearest shape's.
func (p *Planner) For(s Shape) *ShapePlan {
	plan := &ShapePlan{}
	for i, known := range p.Shapes {
		if known.Shape == s {
			return known
		}
		if i == 0 || s.distance(known.Shape) < s.distance(plan.Shape) {
			*plan = *known
		}
	}
	plan.Shape = s
	plan.Encoder.Peaks, plan.Decoder.Peaks = slices.Clone(plan.Encoder.Peaks), slices.Clone(plan.Decoder.Peaks)
	p.Shapes = append(p.Shapes, plan)
	return plan
}

// observeEncoder records what the encoder needed for a batch of the plan's shape, [steps+1] positions, rows, and longest row.
func (p *Planner) observeEncoder(plan *ShapePlan, demand [][3]int32) {
	plan.Encoder.observe(demand, plan.Rows, plan.Source, p.StepsOnly)
}

// observeDecoder is observeEncoder of the decoder.
func (p *Planner) observeDecoder(plan *ShapePlan, demand [][3]int32) {
	plan.Decoder.observe(demand, plan.Rows, plan.Target, p.StepsOnly)
}

// capacities is what the graph for a plan is built with.
func (s *ShapePlan) capacities() Capacities {
	return Capacities{s.Encoder.Capacities(s.Rows, s.Source), s.Decoder.Capacities(s.Rows, s.Target)}
}

// Shape is a batch's: B, M, N, counted in positions.
type Shape struct {
	Rows   int `json:"rows"`
	Source int `json:"source_length"`
	Target int `json:"target_length"`
}

// distance is how much two shapes differ.
func (s Shape) distance(t Shape) int {
	return max(s.Rows-t.Rows, t.Rows-s.Rows) + max(s.Source-t.Source, t.Source-s.Source) + max(s.Target-t.Target, t.Target-s.Target)
}

// ShapeOf is the shape of b.
func ShapeOf(b batch.Batch) Shape {
	return Shape{Rows: b.Rows, Source: b.SourcePositions(), Target: b.TargetLength}
}
