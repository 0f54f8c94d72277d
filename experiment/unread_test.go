package experiment_test

import (
	"strings"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"universal-transformer/baseline/lstm"
	"universal-transformer/experiment"
	"universal-transformer/halting"
	"universal-transformer/internal/objective"
	"universal-transformer/training/schedule"
	"universal-transformer/universal"
)

// A field of an embedded configuration that a run hides behind one of the same name, or does not record, is an error if it is set in Go. The
// error names it, and the field to set. Before, it was ignored.
// Caught when planted: no check in Set, no check of models, fields of structs that are embedded twice left out.
func TestUnreadFields(t *testing.T) {
	classifier := experiment.Classifier{Universal: experiment.Defaults().Model.Value.(experiment.EncoderDecoder).Universal, Pool: experiment.MeanPool}
	step := func(change func(*universal.Config)) func(*experiment.Run) {
		return func(r *experiment.Run) {
			m := classifier
			change(&m.Config)
			r.Model.Value = m
		}
	}
	for _, c := range []struct {
		change func(*experiment.Run)
		want   string
	}{
		{func(r *experiment.Run) { r.Training.Config.Schedule = schedule.Constant{LearningRate: 1} }, "Run.Training.Config.Schedule is set, but a run does not read it: set Run.Training.Schedule"},
		{func(r *experiment.Run) { r.Training.Objective.Supervision = objective.Uniform{} }, "Run.Training.Config.Objective.Supervision is set, but a run does not read it: set Run.Training.Supervision"},
		{func(r *experiment.Run) { r.Training.Objective.PonderCost = objective.Graves{} }, "Run.Training.Config.Objective.PonderCost is set, but a run does not read it: set Run.Training.PonderCost"},
		{func(r *experiment.Run) { r.Training.Config.Seed = 3 }, "Run.Training.Config.Seed is set, but a run does not record it: leave it out"},
		{func(r *experiment.Run) { r.Training.Width = 3 }, "Run.Training.Config.Width is set, but a run does not record it: leave it out"},
		{step(func(c *universal.Config) { c.Halting = halting.Fixed{Steps: 2} }), "Classifier.Universal.Config.Halting is set, but a run does not read it: set Classifier.Halting"},
		{step(func(c *universal.Config) { c.Transition = universal.FeedForward{Filter: 8} }), "Classifier.Universal.Config.Transition is set, but a run does not read it: set Classifier.Transition"},
		{step(func(c *universal.Config) { c.Precision = dtypes.Float64 }), "Classifier.Universal.Config.Precision is set, but a run does not record it: leave it out"},
		{func(r *experiment.Run) {
			r.Model.Value = experiment.LSTMTagger{Recurrent: experiment.Recurrent{Config: lstm.Config{Width: 8, Layers: 1, Seed: 2}}}
		}, "LSTMTagger.Recurrent.Config.Seed is set, but a run does not record it: leave it out"},
	} {
		run := foreign()
		c.change(&run)
		_, set := run.Set("training.steps=7")
		_, fields := run.FieldsWith("training.steps=7")
		for _, err := range []error{run.Validate(), set, fields} {
			if err == nil || err.Error() != c.want {
				t.Errorf("%v, want %q", err, c.want)
			}
		}
	}
	run := foreign()
	run.Model.Value = classifier
	if err := run.Validate(); err == nil || strings.Contains(err.Error(), "is set") { // the task has no classes
		t.Errorf("with nothing set: %v", err)
	}
}
