package experiment

import (
	"fmt"

	"universal-transformer/baseline/neuralgpu"
	"universal-transformer/task"
	"universal-transformer/universal"
)

// NeuralGPU is the Neural GPU that the paper's table 4 quotes, as its section 4 reduces it to a Universal Transformer.
type NeuralGPU struct{ neuralgpu.Model }

// neuralGPU is the defaults.
func neuralGPU() NeuralGPU { return NeuralGPU{neuralgpu.Model{Width: 96}} }

// Kind is task.Transduction.
func (NeuralGPU) Kind() task.Kind { return task.Transduction }

// Validate checks all fields.
func (m NeuralGPU) Validate() error { return m.Build(smallest, 1).Validate() }

// Build makes the model.
func (m NeuralGPU) Build(v task.Vocabularies, seed uint64) universal.Model {
	model := m.Model
	model.Seed, model.TargetVocabulary = seed, v.Target.Size()
	if v.Source != nil {
		model.SourceVocabulary = v.Source.Size()
	}
	return model
}

// Channels is the width.
func (m NeuralGPU) Channels() int { return m.Width }

// TrainingPositions draws none: a convolution is not told where it stands.
func (NeuralGPU) TrainingPositions(task.Vocabularies) universal.Draws { return universal.Draws{} }

// ReadoutTied is false.
func (NeuralGPU) ReadoutTied() bool { return false }

// Conventions tells how the layers are computed.
func (NeuralGPU) Conventions() map[string]string { return neuralgpu.Conventions() }

// Describe says what the model is and how large.
func (m NeuralGPU) Describe() string {
	return fmt.Sprintf("Neural GPU, as many steps as source tokens, width %d", m.Width)
}
