package pipeline

import (
	"fmt"
	"reflect"

	"universal-transformer/halting"
	"universal-transformer/universal"
)

// SetExit changes when the model stops computing a position, compared with training; an earlier exit no longer applies. It applies to all
// later computations, including those of waiting requests.
func (m *Model) SetExit(e halting.Exit) error {
	_, err := m.swapExit(e)
	return err
}

// swapExit is SetExit; it returns the exit that applied before.
func (m *Model) swapExit(e halting.Exit) (before halting.Exit, err error) {
	err = m.queue.Exclusively(func() error {
		if before = m.exit; reflect.DeepEqual(e, before) {
			return nil
		}
		changed, err := m.withExit(e)
		if err != nil {
			return err
		}
		m.graph, m.exit = changed, e
		m.freeGraphs()
		return nil
	})
	return before, err
}

// withExit returns the trained model with an exit.
func (m *Model) withExit(e halting.Exit) (universal.Model, error) {
	deep, ok := m.trained.(universal.Deep)
	if !ok {
		return nil, fmt.Errorf("an exit omits steps, but a model of this kind %s: use it without an exit (%s)", m.fixedReading(), m.Describe())
	}
	changed, err := deep.WithExit(e)
	if err == nil && e.Rule != nil { // a graph shows whether the rule can be applied
		_, err = declared(m.backend, changed, m.Vocabularies.Positions())
	}
	return changed, err
}
