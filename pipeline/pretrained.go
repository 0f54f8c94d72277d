package pipeline

import (
	"fmt"

	"github.com/gomlx/compute"
	"universal-transformer/experiment"
	"universal-transformer/runlog"
	"universal-transformer/task"
	"universal-transformer/training"
)

// initialize creates the checkpoint of step 0 of a run that starts from pretrained weights. Optimizer, batches and schedule start anew. A run
// with random weights has no such checkpoint.
func (t *openRun) initialize() error {
	if t.run.Training.Pretrained == "" {
		return nil
	}
	v := t.data.Vocabularies()
	source, notes, err := pretrained(t.backend, t.reading, v, t.callbacks.Extensions)
	if err != nil {
		return err
	}
	t.callbacks.log(fmt.Sprintf("starting from the weights of %s, step %d", t.reading.Training.Pretrained, source.Step))
	t.callbacks.log(notes...)
	t.from, err = training.Begin(source.Tensors, seals(t.backend, t.run, t.data))
	return err
}

// saveInitial saves the checkpoint of initialize.
func (t *openRun) saveInitial() error {
	if t.from == nil {
		return nil
	}
	return t.log.SaveCheckpoint(0, t.from, t.run.Training.Keep)
}

// pretrained returns the parameters of the checkpoint that [Load] reads from training.pretrained, with the rows of embeddings and the columns of
// readouts in the order of r's vocabularies; notes say which tokens are new. It returns an error if the parameters are not those of r's
// model, or if the vocabularies have nothing in common. The task and the number of steps may differ; adaptive halting has parameters of its own.
// A language model also starts models that read sources and answer with classes; see adopted.
func pretrained(backend compute.Backend, r experiment.Run, v task.Vocabularies, x experiment.Extensions) (c *runlog.Checkpoint, notes []string, err error) {
	dir := r.Training.Pretrained
	m, err := LoadOptions{Extensions: x}.Load(dir, backend)
	if err != nil {
		return nil, nil, fmt.Errorf("training.pretrained: %w", err)
	}
	defer m.Close()
	parameters, err := m.parameters()
	if err != nil {
		return nil, nil, err
	}
	c = &runlog.Checkpoint{Step: m.checkpoint.Step, Tensors: parameters}
	switch {
	case m.Run.Task.Value.Kind() == task.LanguageModeling && readsTexts(r.Task.Value.Kind()):
		if c.Tensors, notes, err = adopted(backend, r, m.Vocabularies, v, c.Tensors); err != nil {
			return nil, nil, fmt.Errorf("training.pretrained: %s: %w", dir, err)
		}
	case !m.Vocabularies.Equal(v):
		if c.Tensors, notes, err = translated(backend, r, m.Vocabularies, v, c.Tensors); err != nil {
			return nil, nil, fmt.Errorf("training.pretrained: %s: %w", dir, err)
		}
	}
	if err := checkParameters(backend, r, v, c); err != nil {
		return nil, nil, fmt.Errorf("training.pretrained: %s: %w; change model to that run's, or choose another run", dir, err)
	}
	return c, notes, nil
}
