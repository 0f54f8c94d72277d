package batch

import "universal-transformer/task"

// Chunk cuts examples into batches for evaluation, shorter ones first, always in the same order; Index says which
// example a row holds. The plan's longest lengths give way to longer examples, and targets may be empty (there are
// none when decoding), so every example is in exactly one batch. It panics on a plan that Validate refuses.
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
		b, err := Pad(members, plan.rows(g.shape), g.shape.source, g.shape.target)
		if err != nil {
			panic(err) // groups never makes a group that does not fit
		}
		b.TokensPerPosition, b.Index = plan.TokensPerPosition, g.members
		batches = append(batches, b)
	}
	return batches
}
