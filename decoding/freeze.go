package decoding

import (
	"github.com/gomlx/compute"
	"github.com/gomlx/gomlx/ml/model"
)

// Freeze promises that the variables of a model do not change any more. The backend may then keep what executions make of them: cpu packs
// matrices for products once. Call it before decoding with a model that is not trained further.
func Freeze(backend compute.Backend, store *model.Store) error {
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
