package pipeline

import (
	"fmt"

	"universal-transformer/decoding"
	"universal-transformer/universal"
)

// ReplaceGraph gives the model another graph over the same weights.
func (m *Model) ReplaceGraph(graph universal.Model) { m.graph = graph }

// FailFrom lets decoding fail for batches with a source of at least so many positions.
func (m *Model) FailFrom(positions int) {
	m.graph = failing{m.graph.(decoding.Model), positions, false}
}

// PanicAt lets decoding panic for batches with a source of at least so many positions.
func (m *Model) PanicAt(positions int) {
	m.graph = failing{m.graph.(decoding.Model), positions, true}
}

type failing struct {
	decoding.Model
	from   int
	panics bool
}

func (f failing) CheckSource(positions int) error {
	if positions >= f.from && f.panics {
		panic("too many positions")
	}
	if positions >= f.from {
		return fmt.Errorf("%d positions are too many", positions)
	}
	return f.Model.CheckSource(positions)
}
