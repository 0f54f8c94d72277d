package capacity

import (
	"fmt"
	"iter"
	"slices"

	"universal-transformer/internal/batch"
	"universal-transformer/universal"
)

// A Planner plans capacities separately for every shape of batch, from batches of similar lengths, because the fraction of active
// positions depends on the length. Checkpoints store it, so that a resumed run makes the same plans.
type Planner struct {
	// StepsOnly plans only the number of steps, with full capacity in each, for models that cannot skip positions.
	StepsOnly bool         `json:"steps_only,omitempty"`
	Shapes    []*ShapePlan `json:"shapes"`

	// CompileCost is the cost of compiling one step of a graph, in the unit of ShapePlan.Wasted.
	CompileCost float64 `json:"compile_cost,omitempty"`
}

// compileCost is a multiple of the time of compiling a step of a graph on the cpu backend, expressed as the updates of positions
// times parameters computed in that time. It is a multiple because graphs are compiled for validation too, and a plan may be replaced
// soon.
const compileCost = 9e8

// worthwhile is the largest fraction of the old plan's work that a smaller plan may have.
const worthwhile = 0.95

// similar is the ratio of lengths up to which the demand of a batch counts for the plan of another shape.
const similar = 1.25

// NewPlanner returns a planner for an adaptive model, and nil for other models, whose work is known.
func NewPlanner(m universal.Model) *Planner {
	deep, ok := m.(universal.Deep)
	if !ok || !deep.Adaptive() {
		return nil
	}
	return &Planner{StepsOnly: !deep.SelectsPositions(), CompileCost: compileCost}
}

// A ShapePlan is the plan of both stacks for batches of one shape.
type ShapePlan struct {
	Shape
	Encoder StackPlan `json:"encoder"`
	Decoder StackPlan `json:"decoder"`
	// Wasted is the work that a tighter plan would have saved since this one was made, in updates of positions times parameters.
	Wasted float64 `json:"wasted,omitempty"`
}

// lookup returns the plan for a shape, or nil if there has been no batch of it.
func (p *Planner) lookup(s Shape) *ShapePlan {
	if i := slices.IndexFunc(p.Shapes, func(plan *ShapePlan) bool { return plan.Shape == s }); i >= 0 {
		return p.Shapes[i]
	}
	return nil
}

// clone returns an independent copy.
func (s *ShapePlan) clone() *ShapePlan {
	c := *s
	for _, stack := range []*StackPlan{&c.Encoder, &c.Decoder} {
		stack.Peaks, stack.Units = slices.Clone(stack.Peaks), slices.Clone(stack.Units)
	}
	return &c
}

// For returns the plan for the next batch of a shape. A new shape starts with the demand of the nearest shape.
func (p *Planner) For(s Shape) *ShapePlan {
	plan := &ShapePlan{}
	for i, known := range p.Shapes {
		if known.Shape == s {
			known.Encoder.raise(s.Rows, s.Source, p.StepsOnly)
			known.Decoder.raise(s.Rows, s.Target, p.StepsOnly)
			return known
		}
		if i == 0 || s.distance(known.Shape) < s.distance(plan.Shape) {
			*plan = *known
		}
	}
	plan.Shape, plan.Wasted = s, 0
	for _, s := range []*StackPlan{&plan.Encoder, &plan.Decoder} {
		s.Peaks = slices.Clone(s.Peaks)
		if s.Units = nil; s.Batches >= firstPlan { // it has no graph yet, and a small one compiles faster
			s.Units = s.larger(0, p.StepsOnly)
		}
	}
	p.Shapes = append(p.Shapes, plan)
	return plan
}

// Validate returns an error if the planner, read from a file, has impossible plans. A nil planner is valid.
func (p *Planner) Validate() error {
	if p == nil {
		return nil
	}
	for i, shape := range p.Shapes {
		if shape == nil {
			return fmt.Errorf("shape %d is null", i+1)
		}
		for stack, plan := range map[string]StackPlan{"encoder": shape.Encoder, "decoder": shape.Decoder} {
			if err := plan.validate(); err != nil {
				return fmt.Errorf("%s of shape %d: %w", stack, i+1, err)
			}
		}
	}
	return nil
}

// observe records what both stacks needed for a batch of the plan's shape, for this shape and those of similar lengths. A plan is
// made smaller once it has wasted as much as compiling the graph of the smaller one costs.
func (p *Planner) observe(plan *ShapePlan, parameters int, n needed) {
	for _, other := range p.Shapes {
		if other != plan && other.similar(plan.Shape) {
			for s := range other.stacks(n, plan.Shape) {
				s.note(s.demand, plan.Rows, s.length, p.StepsOnly)
			}
		}
	}
	var before, after, steps float64
	planned := true
	tight := map[*StackPlan][][3]int{}
	for s := range plan.stacks(n, plan.Shape) {
		s.observe(s.demand, plan.Rows, s.length, p.StepsOnly)
		positions := float64(plan.Rows * s.length)
		tight[s.StackPlan] = s.tight()
		before, after = before+positions*s.total(), after+positions*total(tight[s.StackPlan])
		steps += float64(len(tight[s.StackPlan]))
		planned = planned && s.Batches >= firstPlan
	}
	plan.Wasted = max(0, plan.Wasted+(before-after)/units*float64(parameters))
	if !planned || after > worthwhile*before || plan.Wasted < p.CompileCost*steps {
		return
	}
	plan.Wasted = 0
	for s, units := range tight {
		s.Units = units
	}
}

// grow enlarges a plan that was too small if full capacity would soon cost more than compiling another graph. It reports whether it
// has enlarged the plan.
func (p *Planner) grow(plan *ShapePlan, parameters int, n needed) bool {
	var saved, steps float64
	grown := map[*StackPlan][][3]int{}
	for s := range plan.stacks(n, plan.Shape) {
		larger := s.Units
		if s.Units != nil {
			larger = s.grown(s.demand, plan.Rows, s.length, p.StepsOnly)
			saved += (s.full() - total(larger)) / units * float64(plan.Rows*s.length*parameters)
		}
		grown[s.StackPlan] = larger
		steps += float64(len(larger))
	}
	if saved*paybackBatches < p.CompileCost*steps {
		return false
	}
	plan.Wasted = 0
	for s, units := range grown {
		s.Units = units
	}
	return true
}

// paybackBatches is the number of batches of a shape within which the graph of a larger plan must pay off.
const paybackBatches = 8

// A stack is the plan of one stack, with the demand of a batch and the length of its rows.
type stack struct {
	*StackPlan
	demand [][3]int32
	length int
}

// stacks iterates over the adaptive stacks of a batch.
func (s *ShapePlan) stacks(n needed, of Shape) iter.Seq[stack] {
	return func(yield func(stack) bool) {
		for _, s := range []stack{{&s.Encoder, n.encoder, of.Source}, {&s.Decoder, n.decoder, of.Target}} {
			if len(s.demand) > 1 && !yield(s) {
				return
			}
		}
	}
}

// capacities returns the capacities of a plan's graph.
func (s *ShapePlan) capacities() Capacities {
	return Capacities{s.Encoder.Capacities(s.Rows, s.Source), s.Decoder.Capacities(s.Rows, s.Target)}
}

// A Shape is the shape of a batch, B, M, N, in positions.
type Shape struct {
	Rows   int `json:"rows"`
	Source int `json:"source_length"`
	Target int `json:"target_length"`
}

// distance measures how much two shapes differ.
func (s Shape) distance(t Shape) int {
	return max(s.Rows-t.Rows, t.Rows-s.Rows) + max(s.Source-t.Source, t.Source-s.Source) + max(s.Target-t.Target, t.Target-s.Target)
}

// similar reports whether lengths differ little.
func (s Shape) similar(t Shape) bool {
	near := func(a, b int) bool { return float64(max(a, b)) <= similar*float64(min(a, b)) }
	return near(s.Source, t.Source) && near(s.Target, t.Target)
}

// ShapeOf returns the shape of b.
func ShapeOf(b batch.Batch) Shape {
	return Shape{Rows: b.Rows, Source: b.SourcePositions(), Target: b.TargetLength}
}
