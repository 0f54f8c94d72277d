package batch

import "universal-transformer/task"

// Chunk splits examples into batches for evaluation, shorter ones first, always in the same order. Index holds the example of each
// row. Examples may be longer than the plan's maximum lengths, and targets may be empty (as in decoding), so every example is in
// exactly one batch. Chunk panics if the plan is invalid.
func Chunk(examples []task.Example, plan Plan) []Batch {
	if err := plan.Validate(); err != nil {
		panic("batch: Chunk: " + err.Error())
	}
	lengths := make([]shape, len(examples))
	for i, e := range examples {
		lengths[i] = shape{len(e.Source), len(e.Target)}
		plan.MaxSource = max(plan.MaxSource, len(e.Source))
		plan.MaxTarget = max(plan.MaxTarget, len(e.Target))
	}
	var batches []Batch
	for _, g := range plan.groups(lengths) {
		members := make([]task.Example, len(g.members))
		for i, m := range g.members {
			members[i] = examples[m]
		}
		b, err := Pad(members, plan.rowsFor(g), g.shape.source, g.shape.target)
		if err != nil {
			panic(err) // cannot happen: groups fit
		}
		b.TokensPerPosition, b.Index = plan.TokensPerPosition, g.members
		batches = append(batches, b)
	}
	return batches
}
