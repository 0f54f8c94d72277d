package pipeline

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"universal-transformer/runlog"
	"universal-transformer/training"
)

// ExportRun writes a run directory that holds only what answering needs: the configuration, the vocabularies and the parameters of the loaded
// checkpoint. It is loaded like any run, without the data, but training cannot be resumed from it.
func (m *Model) ExportRun(dir string) (err error) {
	var config json.RawMessage
	if err := m.log.Config(&config); err != nil {
		return err
	}
	log, err := runlog.Create(dir, config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	if err := writeVocabularies(log, m.Vocabularies); err != nil {
		return err
	}
	weights := &runlog.Checkpoint{Meta: maps.Clone(m.checkpoint.Meta), Tensors: training.Parameters(m.checkpoint.Tensors)}
	maps.DeleteFunc(weights.Meta, func(key, _ string) bool {
		return slices.Contains([]string{"step", "version", "sha256", training.StateKey}, key)
	}) // those of runlog, and the state of training
	if err := log.SaveCheckpoint(m.Step, weights, 0); err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	return log.MarkBest(m.Step)
}
