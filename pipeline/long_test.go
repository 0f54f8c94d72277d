package pipeline

import (
	"testing"

	"universal-transformer/experiment"
	"universal-transformer/runlog"
	"universal-transformer/task"
	"universal-transformer/task/algorithmic"
	"universal-transformer/training"
	"universal-transformer/universal"
)

// The length that a model was trained for is that of the longest training source, unless training drew larger positions or validated on longer
// sources.
// Caught when planted: the longest target; positions or lengths left out, or taken if they are smaller.
func TestTrainedLength(t *testing.T) {
	plain := runOn(algorithmic.Copy{Digits: algorithmic.Digits{Base: 10, MaxLength: 4}})
	longer, random := plain, plain
	longer.Training.ValidationLengths = experiment.Lengths{From: 60, To: 100}
	model := plain.Model.Value.(experiment.EncoderDecoder)
	model.Positions.Value = universal.RandomOffset{Max: 50}
	random.Model.Value = model
	for _, c := range []struct {
		run    experiment.Run
		source string
		want   int
	}{{plain, "", 0}, {plain, "12", 12}, {longer, "12", 100}, {longer, "200", 200}, {random, "12", 50}, {random, "70", 70}, {random, "", 0}} {
		meta := map[string]string{training.LongestTargetKey: "7"}
		if c.source != "" {
			meta[training.LongestSourceKey] = c.source
		}
		m := &Model{Run: c.run, Vocabularies: task.Vocabularies{}, checkpoint: &runlog.Checkpoint{Meta: meta}}
		if got := m.TrainedLength(); got != c.want {
			t.Errorf("longest source %q: %d, want %d", c.source, got, c.want)
		}
	}
}
