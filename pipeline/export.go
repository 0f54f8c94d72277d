package pipeline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/experiment"
	"universal-transformer/internal/onnxfile"
	"universal-transformer/internal/safetensors"
	"universal-transformer/runlog"
	"universal-transformer/task"
	"universal-transformer/training"
)

// Export writes the model's parameters and configuration to the run directory's export/, for other programs, and returns its path. The
// metadata describe the model completely: "model" is the JSON of an [experiment.Portable], and docs/weights.md gives the formulas. Row 0 of
// an embedding, padding, is exported as zero, as the models read it, unless the table is also used for the logits. A model with a type of
// another module is an error.
func (m *Model) Export() (string, error) {
	dir := m.log.ExportDir()
	return dir, m.exportTo(dir)
}

// ExportTo is like Export for any folder, which is created if necessary. A run directory and its folders are an error, except
// the run's own export/, and so is a folder with files of the same names that no export has written.
func (m *Model) ExportTo(dir string) error {
	if err := m.log.CheckExport(dir); err != nil {
		return err
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return fmt.Errorf("%s is a file: name a folder", dir)
	}
	if err := m.checkForeign(dir); err != nil {
		return err
	}
	return m.exportTo(dir)
}

// vocabularyKey is the key of config.json that only an export has.
const vocabularyKey = "vocabulary"

// checkForeign returns an error if the folder has a file that an export would overwrite and that is not one of an earlier export. An export
// that was interrupted may have left only some of its files.
func (m *Model) checkForeign(dir string) error {
	foreign := func(name string) error {
		return fmt.Errorf("%s was not written by an export, which would overwrite it: name another folder", filepath.Join(dir, name))
	}
	config, missing := runlog.ReadExportFile(dir, configFile)
	earlier := missing == nil && isExported(config)
	if !errors.Is(missing, fs.ErrNotExist) && !earlier {
		return foreign(configFile)
	}
	const weights = "model.safetensors"
	if _, err := os.Stat(filepath.Join(dir, weights)); err == nil {
		if file, err := runlog.ReadExport(dir, nil); err != nil || file.Metadata["format"] != exportFormat {
			return foreign(weights)
		}
	}
	subwords := m.Vocabularies.Subwords
	if subwords == nil || earlier {
		return nil
	}
	switch file, err := runlog.ReadExportFile(dir, tokenizerFile); {
	case errors.Is(err, fs.ErrNotExist), err == nil && bytes.Equal(file, subwords.File()):
		return nil
	}
	return foreign(tokenizerFile)
}

// isExported reports whether the content of a config.json is that of an export.
func isExported(config []byte) bool {
	var keys map[string]json.RawMessage
	if json.Unmarshal(config, &keys) != nil {
		return false
	}
	for _, key := range []string{"task", "model", "training", "version", vocabularyKey} {
		if _, ok := keys[key]; !ok {
			return false
		}
	}
	return true
}

// exportFormat is the format that the metadata of an export name.
const exportFormat = "universal-transformer"

func (m *Model) exportTo(dir string) error {
	file, err := m.portable()
	if err != nil {
		return fmt.Errorf("%s: %w", m.Dir(), err)
	}
	if subwords := m.Vocabularies.Subwords; subwords != nil {
		if err := runlog.WriteExportFile(dir, tokenizerFile, subwords.File()); err != nil {
			return err
		}
	}
	return runlog.WriteExport(dir, file, struct {
		experiment.Run
		Vocabulary task.Vocabularies `json:"vocabulary"`
	}{m.Run, m.Vocabularies})
}

// ExportONNX writes the model as ONNX graphs to the run directory's export/, and returns their paths; see package onnxfile. A build without
// the tag onnx returns an error that says how to build.
func (m *Model) ExportONNX(s onnxfile.Sizes) ([]string, error) {
	s.Words = m.Vocabularies.TokensPerPosition
	store := model.NewStore()
	parameters, err := m.parameters()
	if err != nil {
		return nil, err
	}
	if err := training.Load(store, parameters); err != nil {
		return nil, err
	}
	paths, err := onnxfile.Write(m.log.ExportDir(), store, m.trained, s)
	if err != nil {
		return paths, fmt.Errorf("%s: %w", m.Dir(), err)
	}
	return paths, nil
}

// portable returns the parameters with metadata.
func (m *Model) portable() (*safetensors.File, error) {
	description, err := m.Run.Portable(m.Vocabularies)
	if err != nil {
		return nil, err
	}
	encoded, err := json.Marshal(description)
	if err != nil {
		return nil, err
	}
	parameters, err := m.parameters()
	if err != nil {
		return nil, err
	}
	file := &safetensors.File{Tensors: parameters, Metadata: m.Run.Model.Value.Conventions()}
	for _, t := range parameters {
		if (t.Name == "embedding.source" || t.Name == "embedding.target") && !description.TiedReadout {
			clear(t.Data[:len(t.Data)/t.Shape[0]])
		}
	}
	maps.Copy(file.Metadata, map[string]string{
		"model": string(encoded), "formulas": "docs/weights.md", "format": exportFormat, "step": fmt.Sprint(m.Step),
		"ids": "0 padding, 1 end, tokens of the vocabularies from 2, then the unknown token if there is one",
	})
	return file, nil
}

// ExportRun writes a run directory that holds only what answering needs: the configuration, the vocabularies and the parameters of the
// loaded checkpoint. It is loaded like any run, without the data, but training cannot be resumed from it.
func (m *Model) ExportRun(dir string) error {
	var config json.RawMessage
	if err := m.log.Config(&config); err != nil {
		return err
	}
	parameters, err := m.parameters()
	if err != nil {
		return err
	}
	weights := &runlog.Checkpoint{Meta: maps.Clone(m.checkpoint.Meta), Tensors: parameters}
	maps.DeleteFunc(weights.Meta, func(key, _ string) bool {
		return slices.Contains([]string{"step", "version", "sha256", training.StateKey}, key)
	}) // those of runlog, and the state of training
	recorded, err := readChanges(m.log) // that lead from the checkpoint's configuration to the present one
	if err != nil {
		return err
	}
	return writeWeights(dir, config, recorded, m.Vocabularies, m.Step, weights)
}

// writeWeights creates a run directory with one checkpoint.
func writeWeights(dir string, config any, recorded changes, v task.Vocabularies, step int64, weights *runlog.Checkpoint) (err error) {
	log, err := runlog.Create(dir, config)
	if err != nil {
		return err
	}
	err = writeVocabularies(log, v)
	if err == nil && len(recorded.Changes) > 0 {
		err = log.WriteJSON(changesFile, recorded)
	}
	if err == nil {
		err = log.SaveBest(step, weights, 0)
	}
	if err != nil { // a part of a run would stand in the way of the next export
		return errors.Join(fmt.Errorf("%s: %w", dir, err), log.Discard())
	}
	return log.Close()
}
