package pipeline

import (
	"fmt"

	"github.com/gomlx/compute"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/experiment"
	"universal-transformer/internal/safetensors"
	"universal-transformer/runlog"
	"universal-transformer/task"
	"universal-transformer/training"
)

// SaveTrained writes a run directory like that of [Model.ExportRun], of the model of r that a loop of the caller has trained for step
// updates, from 1 to r.Training.Steps. The store holds the variables that the model of r, built for v, has created; those of GoMLX's
// optimizers are left out. An invalid run, a step out of range, and parameters that are not exactly those of the model, or not finite, are
// errors that name what is wrong. backend only builds the graph of the model once, to know its parameters.
func SaveTrained(dir string, backend compute.Backend, r experiment.Run, v task.Vocabularies, store *model.Store, step int64) error {
	if err := r.Validate(); err != nil {
		return err
	}
	if step < 1 || step > r.Training.Steps {
		return fmt.Errorf("the model was trained for %d updates, and training.steps is %d: give 1 to %d", step, r.Training.Steps, r.Training.Steps)
	}
	parameters, err := training.Exported(store)
	if err != nil {
		return err
	}
	for _, p := range parameters {
		if !training.Finite(p) {
			return fmt.Errorf("parameter %s contains NaN or infinity and is not saved", p.Name)
		}
	}
	return WriteWeights(dir, backend, r, v, parameters, step)
}

// WriteWeights writes a run directory like that of [Model.ExportRun], of parameters that were trained elsewhere for step updates.
// Parameters that are not exactly those of the run's model are an error.
func WriteWeights(dir string, backend compute.Backend, r experiment.Run, v task.Vocabularies, parameters []safetensors.Tensor, step int64) error {
	weights := &runlog.Checkpoint{Step: step, Tensors: parameters, Meta: map[string]string{
		training.FingerprintKey: r.Fingerprint(), training.VocabularyKey: vocabularyDigest(v), training.ConfigurationKey: r.Digest(),
	}}
	want, err := declared(backend, r.Model.Value.Build(v, r.Seed), v.Positions())
	if err != nil {
		return err
	}
	if err := compareParameters(parameters, want, "they describe"); err != nil {
		return err
	}
	return writeWeights(dir, r, changes{}, v, step, weights)
}
