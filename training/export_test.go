package training

// PlanFreely lets a trainer plan capacities as if compiling cost nothing: models as small as those of tests would have none.
func (t *Trainer) PlanFreely() { t.plansFree = true }

// Affordable says what to lower.
var Affordable = withMemoryHint

// Planned is what the trainer plans the next update with: its place in the stream, and capacities.
func (t *Trainer) Planned() any { return []any{t.state.Data, t.state.CapacityPlan} }

// Orthogonal is what Muon makes of a matrix.
var Orthogonal = orthogonal
