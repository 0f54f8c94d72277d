package training

// PlanFreely lets a trainer plan capacities as if compiling cost nothing: models as small as those of tests would have none.
func (t *Trainer) PlanFreely() { t.plansFree = true }

// Affordable says what to lower.
var Affordable = affordable
