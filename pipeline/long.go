package pipeline

import (
	"strconv"

	"universal-transformer/training"
)

// TrainedLength returns the number of tokens of the longest sources that the model was trained or selected for: those of the training data or
// training.validation_lengths, or as many as the positions that training drew at random. It is 0 if that is not known, as for checkpoints of
// earlier versions and for language models.
func (m *Model) TrainedLength() int {
	longest, _ := strconv.Atoi(m.checkpoint.Meta[training.LongestSourceKey])
	if longest == 0 {
		return 0
	}
	if draws := m.Run.Model.Value.TrainingPositions(m.Vocabularies); draws.Random() {
		longest = max(longest, draws.Positions.Limit()*m.Vocabularies.Positions())
	}
	return max(longest, m.Run.Training.ValidationLengths.To)
}
