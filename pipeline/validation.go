package pipeline

import (
	"context"
	"fmt"

	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/experiment"
	"universal-transformer/internal/batch"
	"universal-transformer/internal/score"
	"universal-transformer/task"
	"universal-transformer/training"
)

// addValidation gives a trainer the examples to validate with, and those whose answers are decoded.
func (t *openRun) addValidation(trainer *training.Trainer) error {
	validation, err := t.validation(t.run.Training.Validation)
	if err != nil {
		return err
	}
	if len(validation) == 0 {
		return fmt.Errorf("%s: there are no validation examples: add data", t.run.Task.Value)
	}
	trainer.Validation = batch.Chunk(validation, t.run.Plan(t.data))
	if p := newPictures(t, trainer, validation); p != nil {
		trainer.Pictures = p.draw
	}
	n := t.run.Training.Decoded
	if n == 0 {
		return nil
	}
	examples, err := t.validation(n)
	if err != nil {
		return err
	}
	definition, v := t.run.Task.Value, t.data.Vocabularies()
	_, longest := t.data.MaxLengths()
	trainer.Decoded = func(ctx context.Context, store *model.Store) ([]score.Metric, error) {
		e := evaluator(t.backend, store, trainer.Model, definition, answerLimit(t.run, longest), v)
		found, err := e.Measure(ctx, definition.Measure(v), examples)
		return found.Metrics, err
	}
	return nil
}

// validation returns validation examples; 0: as many as is the task's default.
func (t *openRun) validation(count int) ([]task.Example, error) {
	examples, err := t.data.HeldOut(t.run.Seed, t.run.Training.Held(count))
	if err == nil {
		if err = t.data.Vocabularies().CheckAll(t.run.Task.Value.Kind(), examples); err != nil {
			return nil, fmt.Errorf("validation %w", err)
		}
		return examples, nil
	}
	if t.run.Training.ChoosesValidation() {
		err = experiment.HeldError(err)
	}
	return nil, err
}
