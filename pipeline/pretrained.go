package pipeline

import (
	"fmt"

	"github.com/gomlx/compute"
	"universal-transformer/experiment"
	"universal-transformer/runlog"
	"universal-transformer/task"
	"universal-transformer/training"
)

// pretrained returns the checkpoint whose weights training starts from: the one that [Load] reads from training.pretrained. It is an error
// if its parameters are not those of r's model, or if its ids mean something else. The task and the number
// of steps may differ; adaptive halting has parameters of its own.
func pretrained(backend compute.Backend, r experiment.Run, v task.Vocabularies) (*runlog.Checkpoint, error) {
	dir := r.Training.Pretrained
	m, err := Load(dir, backend)
	if err != nil {
		return nil, fmt.Errorf("training.pretrained: %w", err)
	}
	defer m.Close()
	if !m.Vocabularies.Equal(v) {
		return nil, fmt.Errorf("training.pretrained: %s has another vocabulary than %s: choose a run on the same symbols, or train both with the same tokenizer file", dir, r.Task.Value)
	}
	if err := sameParameters(backend, r, v, m.checkpoint); err != nil {
		return nil, fmt.Errorf("training.pretrained: %s: %w; change model to that run's, or choose another run", dir, err)
	}
	return m.checkpoint, nil
}

// start returns the checkpoint of step 0 with the pretrained weights, from which the trainer begins; nil if weights are random. The
// optimizer, the batches and the schedule begin anew.
func start(backend compute.Backend, r experiment.Run, v task.Vocabularies, callbacks Callbacks) (*runlog.Checkpoint, error) {
	if r.Training.Pretrained == "" {
		return nil, nil
	}
	from, err := pretrained(backend, r, v)
	if err != nil {
		return nil, err
	}
	callbacks.log(fmt.Sprintf("starting from the weights of %s, step %d", r.Training.Pretrained, from.Step))
	return training.Begin(training.Parameters(from.Tensors), seals(backend, r, v))
}

// saveStart saves what start returned.
func saveStart(log *runlog.Run, r experiment.Run, c *runlog.Checkpoint) error {
	if c == nil {
		return nil
	}
	return log.SaveCheckpoint(0, c, r.Training.Keep)
}
