package engine

import (
	"github.com/gomlx/compute"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/cpu"
)

// Freeze promises that the variables of a model do not change any more. The backend may then keep what executions make of them: cpu packs
// matrices for products once.
func Freeze(backend compute.Backend, store *model.Store) error {
	if backend.Name() != cpu.BackendName {
		return nil
	}
	for v := range store.IterVariables() {
		value, err := v.Value()
		if err != nil {
			return err
		}
		buffer, err := value.Buffer(backend, 0)
		if err != nil {
			return err
		}
		if b, ok := buffer.(interface{ Freeze() }); ok {
			b.Freeze()
		}
	}
	return nil
}
