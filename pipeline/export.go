package pipeline

import (
	"fmt"
	"slices"

	"universal-transformer/experiment"
	"universal-transformer/internal/safetensors"
	"universal-transformer/task"
	"universal-transformer/training"
)

// Export writes the model's parameters and configuration to the run directory's export/, for other programs, and returns its path. The
// metadata describe what parameters and configuration do not, such as the scaling of attention scores and the decoder's first input. Row
// 0 of an embedding, padding, is exported as zero, as the models read it, unless the table is also used for the logits.
func (m *Model) Export() (string, error) {
	tensors := training.Parameters(m.checkpoint.Tensors)
	for i, t := range tensors {
		if (t.Name == "embedding.source" || t.Name == "embedding.target") && !m.Run.Model.Value.ReadoutTied() {
			tensors[i].Data = slices.Clone(t.Data)
			clear(tensors[i].Data[:len(t.Data)/t.Shape[0]])
		}
	}
	file := &safetensors.File{Tensors: tensors, Metadata: m.Run.Model.Value.Conventions()}
	file.Metadata["step"], file.Metadata["format"] = fmt.Sprint(m.Step), "universal-transformer"
	file.Metadata["ids"] = "0 padding, 1 end, tokens of the vocabularies from 2"
	return m.log.WriteExport(file, struct {
		experiment.Run
		Vocabulary task.Vocabularies `json:"vocabulary"`
	}{m.Run, m.Vocabularies})
}
