package ut

import (
	"github.com/gomlx/compute"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/pipeline"
	"universal-transformer/task"
)

// SaveTrained writes a run directory of a model that a training loop of the caller has trained; docs/embedding.md has such a loop.
//
// store holds the variables that r.Model.Value.Build(v, r.Seed) has created in graphs, of the shapes that its Forward declares; those of
// GoMLX's optimizers are left out. v are the vocabularies of the opened task. step is the number of updates, from 1 to r.Training.Steps.
//
// The directory holds what answering needs. [Load] reads it, and r.Training.Pretrained of another run may name it, but [Resume] cannot
// continue it. The error is [ErrExists] if the directory holds a run. An invalid run, a step out of range, and a parameter that is missing,
// unknown, of another shape or not finite are errors that name what is wrong.
func SaveTrained(dir string, r Run, v task.Vocabularies, store *model.Store, step int64) error {
	_, err := withBackend("", func(backend compute.Backend) (struct{}, error) {
		return struct{}{}, pipeline.SaveTrained(dir, backend, r, v, store, step)
	})
	return err
}
