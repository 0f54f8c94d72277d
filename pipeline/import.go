package pipeline

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/gomlx/compute"
	"universal-transformer/experiment"
	"universal-transformer/internal/npz"
	"universal-transformer/internal/safetensors"
	"universal-transformer/internal/t2t"
	"universal-transformer/task"
	"universal-transformer/universal"
)

// Import writes a run directory, like that of [Model.ExportRun], with variables of tensor2tensor's Universal Transformer. data are a
// safetensors file or an npz archive. Task and training are those of r; the model is that of the variables, for the vocabularies v. It
// returns the complete run, and notes that say what was left out or assumed.
func Import(dir string, backend compute.Backend, r experiment.Run, v task.Vocabularies, data []byte, o t2t.Options) (experiment.Run, []string, error) {
	variables, err := readVariables(data)
	if err != nil {
		return r, nil, err
	}
	m, err := t2t.Convert(variables, o)
	if err != nil {
		return r, nil, err
	}
	r.Model.Value = importedKind(m)
	if err := r.Validate(); err != nil {
		return r, nil, err
	}
	if err := fitsVocabularies(m.Config, v); err != nil {
		return r, nil, err
	}
	if err := WriteWeights(dir, backend, r, v, m.Parameters, 1); err != nil {
		return r, nil, fmt.Errorf("the variables do not make a model: %w", err)
	}
	return r, m.Notes, nil
}

// readVariables reads a safetensors file or an npz archive.
func readVariables(data []byte) ([]safetensors.Tensor, error) {
	decode := safetensors.Decode
	if bytes.HasPrefix(data, []byte("PK")) {
		decode = func(data []byte) (*safetensors.File, error) { return npz.Read(bytes.NewReader(data), int64(len(data))) }
	}
	file, err := decode(data)
	if err != nil {
		return nil, fmt.Errorf("%w: save or copy the variables again, as safetensors or npz", err)
	}
	if len(file.Tensors) == 0 {
		return nil, errors.New("there are no variables in it: save them again, as safetensors or npz")
	}
	return file.Tensors, nil
}

// importedKind returns the kind of model with the configuration of converted variables.
func importedKind(m *t2t.Model) experiment.ModelKind {
	config := m.Config
	config.SourceVocabulary, config.TargetVocabulary = 0, 0               // those of the task
	config.Transition, config.Halting, config.Coordinates = nil, nil, nil // recorded by the run
	u := experiment.Universal{
		Config: config, Transition: experiment.Transition{Value: m.Config.Transition}, Halting: experiment.Halting{Value: m.Config.Halting},
		Coordinates: experiment.Coordinates{Value: m.Config.Coordinates}, Positions: experiment.Positions{Value: universal.FromOne{}},
	}
	if m.LanguageModel {
		return experiment.LanguageModel{Universal: u}
	}
	return experiment.EncoderDecoder{Universal: u}
}

// fitsVocabularies returns an error unless tables have a row for each id.
func fitsVocabularies(c universal.Config, v task.Vocabularies) error {
	for _, side := range []struct {
		name string
		rows int
		have int
	}{{"source", c.SourceVocabulary, v.SourceSize()}, {"target", c.TargetVocabulary, v.Target.Size()}} {
		if side.rows != side.have {
			return fmt.Errorf("the variables have %d ids of the %s, but the vocabulary has %d: give the vocabulary that the model was trained with", side.rows, side.name, side.have)
		}
	}
	return nil
}
