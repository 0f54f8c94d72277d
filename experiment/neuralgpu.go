package experiment

import (
	"fmt"

	"universal-transformer/baseline/neuralgpu"
	"universal-transformer/task"
	"universal-transformer/universal"
)

// NeuralGPU is the Neural GPU of the paper's table 4, in the form that section 4 derives from a Universal Transformer.
type NeuralGPU struct{ neuralgpu.Model }

// neuralGPU holds the defaults.
func neuralGPU() NeuralGPU { return NeuralGPU{neuralgpu.Model{Width: 96}} }

// Kind returns task.Transduction.
func (NeuralGPU) Kind() task.Kind { return task.Transduction }

// Validate validates all fields.
func (m NeuralGPU) Validate() error { return m.Build(smallest, 1).Validate() }

// Build returns the model.
func (m NeuralGPU) Build(v task.Vocabularies, seed uint64) universal.Model {
	model := m.Model
	model.Seed, model.TargetVocabulary = seed, v.Target.Size()
	if v.Source != nil {
		model.SourceVocabulary = v.Source.Size()
	}
	return model
}

// Channels returns the width D.
func (m NeuralGPU) Channels() int { return m.Width }

// TrainingPositions returns none: a convolution has no position signals.
func (NeuralGPU) TrainingPositions(task.Vocabularies) universal.Draws { return universal.Draws{} }

// ReadoutTied returns false.
func (NeuralGPU) ReadoutTied() bool { return false }

// Conventions describes how the layers are computed.
func (NeuralGPU) Conventions() map[string]string { return neuralgpu.Conventions() }

// Describe returns the model's name and size.
func (m NeuralGPU) Describe() string {
	return fmt.Sprintf("Neural GPU, as many steps as source tokens, width %d", m.Width)
}
